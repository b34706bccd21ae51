//! A session that was put away and taken up again, turned beside the one that stayed.

use alloc::{format, string::String, sync::Arc, vec::Vec};

use crate::{
    effect::{Effect, Input, Output},
    id::{EffectId, Now, Stage},
    session::Session,
    spec::Spec,
    testkit::oracle::Violation,
};

/// For how many inputs the two are compared.
const INPUTS: u32 = 12;

/// The other session.
pub(super) struct Twin {
    session: Session,
    left: u32,
}

impl Twin {
    /// Puts the session away and takes another one up from it. None while a response arrives: half of it
    /// goes with its decoder, and it is asked for again, so the two are not alike from there.
    ///
    /// # Errors
    /// [`Violation::Restored`] when the snapshot is not a fixed point, or taking up does something.
    pub(super) fn of(
        session: &Session,
        spec: &Arc<Spec>,
        now: Now,
        running: &[EffectId],
    ) -> Result<Option<Self>, Violation> {
        let differs = |expected: String, found: String| Violation::Restored {
            after: "the snapshot itself".into(),
            expected,
            found,
        };
        let fault = |what: String| differs("a snapshot".into(), what);
        let snapshot = session.snapshot().map_err(|e| fault(format!("{e}")))?;
        let mut twin =
            Session::restore(spec.clone(), &snapshot).map_err(|e| fault(format!("{e}")))?;
        let again = twin.snapshot().map_err(|e| fault(format!("{e}")))?;
        if again != snapshot {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            return Err(differs(text(&snapshot), text(&again)));
        }
        if running
            .iter()
            .any(|id| matches!(id.stage, Stage::Model | Stage::Summary))
        {
            return Ok(None);
        }
        let live = running.to_vec();
        twin.handle(now, Input::Resumed { live })
            .map_err(|e| fault(format!("{e}")))?;
        if let Some(output) = twin.poll() {
            return Err(differs("nothing".into(), format!("{output:?}")));
        }
        if twin.deadline() != session.deadline() {
            return Err(differs(
                format!("{:?}", session.deadline()),
                format!("{:?}", twin.deadline()),
            ));
        }
        Ok(Some(Self {
            session: twin,
            left: INPUTS,
        }))
    }

    /// Gives the other one the same input; whether it is still needed.
    ///
    /// # Errors
    /// [`Violation::Restored`] when it does something else.
    pub(super) fn follow(
        &mut self,
        now: Now,
        input: &Input,
        outputs: &[Output],
    ) -> Result<bool, Violation> {
        let refused = self.session.handle(now, input.clone()).err();
        let found: Vec<Output> = core::iter::from_fn(|| self.session.poll()).collect();
        if refused.is_some() || !found.iter().map(Said::of).eq(outputs.iter().map(Said::of)) {
            let first = (found.iter().zip(outputs))
                .position(|(found, expected)| Said::of(found) != Said::of(expected));
            let from = first.unwrap_or(found.len().min(outputs.len()));
            return Err(Violation::Restored {
                after: format!("{input:?}"),
                expected: format!("{:?}", outputs.get(from)),
                found: format!("{:?} {refused:?}", found.get(from)),
            });
        }
        self.left -= 1;
        Ok(self.left > 0)
    }
}

/// An output as the world sees it: a body is the same however its bytes are kept.
#[derive(PartialEq)]
enum Said<'a> {
    Request(EffectId, &'a str, &'a [(String, String)], Vec<u8>),
    Other(&'a Output),
}

impl<'a> Said<'a> {
    fn of(output: &'a Output) -> Self {
        match output {
            Output::Effect(id, Effect::Http(request)) => {
                Self::Request(*id, &request.path, &request.headers, request.body_bytes())
            }
            other => Self::Other(other),
        }
    }
}
