//! A copy of the session that is saved and restored after every step, and runs beside the original.

use alloc::{collections::BTreeSet, format, string::String, sync::Arc, vec::Vec};

use windlass_core::{
    Session,
    effect::{Effect, EffectId, HttpRequest, Input, Output, Stage},
    id::Now,
    spec::Spec,
};

use crate::oracle::{Check, Violation};

/// Counts how often the session was saved and restored in a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Restores {
    /// Steps after which the session was saved, restored and saved again with identical bytes. If a step does not change the
    /// bytes, the previous check counts, because a restore depends on nothing else.
    pub fixed_points: u64,
    /// Steps before which the session was saved and restored: both sessions produced the same outputs, and their bytes are
    /// identical after the step.
    pub same_step: u64,
    /// Steps after which a response was being received. The state of its decoder is not saved, so the restored session sends
    /// the same request again, and does nothing else.
    pub asked_again: u64,
    /// Idle sessions that were reconfigured with their own spec: they were unchanged, and continued like the original.
    pub configured: u64,
}

impl Restores {
    /// Adds the counts of another run.
    pub fn add(&mut self, other: Self) {
        self.fixed_points += other.fixed_points;
        self.same_step += other.same_step;
        self.asked_again += other.asked_again;
        self.configured += other.configured;
    }
}

/// Sessions restored from the snapshots of a run.
#[derive(Default)]
pub(super) struct Twin {
    /// The last snapshot that was a fixed point.
    fixed: Vec<u8>,
    /// The restored session, as long as it can follow the original.
    session: Option<Session>,
    /// Responses that would now be requested differently, or not at all: with another model, effort or thinking.
    outdated: BTreeSet<EffectId>,
    pub(super) restores: Restores,
}

/// The circumstances of a restore.
pub(super) struct Scene<'a> {
    pub(super) spec: &'a Arc<Spec>,
    pub(super) now: Now,
    /// Effects without their last answer, with their requests.
    pub(super) running: Vec<(EffectId, &'a Effect)>,
    /// Whether one of the responses being received has been cancelled. The restored session need not wait for its end, so it
    /// proceeds.
    pub(super) stopping: bool,
    /// Whether the restored session is to follow the original.
    pub(super) to_follow: bool,
    /// Whether to save the session even if no restored session follows.
    pub(super) every_step: bool,
}

impl Twin {
    /// Drops the restored session after the original itself was restored, because it does not know what was lost.
    pub(super) fn forget(&mut self) {
        self.session = None;
    }

    /// Passes the same input to the restored session, compares both, and restores another one from the original's current
    /// state.
    ///
    /// # Errors
    /// [`Violation::Restored`] if the restored session behaves differently or has another state, if the snapshot is not a
    /// fixed point, or if the restore produces unexpected outputs.
    pub(super) fn after_step(
        &mut self,
        session: &Session,
        input: &Input,
        outputs: &[Output],
        scene: &Scene<'_>,
    ) -> Check {
        if self.session.is_none() && !scene.to_follow && !scene.every_step {
            self.note_changes(input, scene);
            return Ok(());
        }
        let after = || format!("{input:?}");
        let followed = match &mut self.session {
            Some(twin) => Some(follow(twin, scene.now, input, outputs)?),
            None => None,
        };
        let snapshot = put_away(session)?;
        if let Some(found) = followed {
            if found != snapshot {
                return Err(other_bytes(after(), &snapshot, &found));
            }
            self.restores.same_step += 1;
        }
        self.restores.fixed_points += 1;
        self.note_changes(input, scene);
        let responding = |(id, _): &&(EffectId, &Effect)| is_exchange(*id);
        let responds = scene.running.iter().any(|it| responding(&it));
        if snapshot == self.fixed {
            // These bytes have been restored before, and the restored session has followed.
            let known = self.session.is_some() || !scene.to_follow;
            if responds || known {
                self.session.take_if(|_| responds);
                return Ok(());
            }
        }
        let mut twin = Session::restore(scene.spec.clone(), &snapshot)
            .map_err(|e| differs(after(), "a snapshot".into(), format!("{e}")))?;
        if snapshot != self.fixed {
            let again = put_away(&twin)?;
            if again != snapshot {
                return Err(other_bytes("the snapshot itself".into(), &snapshot, &again));
            }
            self.fixed = snapshot;
        }
        self.session = None;
        if scene.to_follow {
            let live: Vec<EffectId> = scene.running.iter().map(|(id, _)| *id).collect();
            twin.handle(scene.now, Input::Resumed { live })
                .map_err(|e| differs(after(), "to be taken up".into(), format!("{e}")))?;
            let said: Vec<Output> = core::iter::from_fn(|| twin.poll()).collect();
            if responds && !scene.stopping && self.outdated.is_empty() {
                self.asks_again(&said, scene, after)?;
                self.restores.asked_again += 1;
            } else if !responds {
                goes_on(&said, &twin, session, after)?;
                self.configure(&mut twin, scene, after)?;
                self.session = Some(twin);
            }
        }
        Ok(())
    }

    /// Reconfigures an idle session with its own spec, which must change nothing.
    fn configure(
        &mut self,
        twin: &mut Session,
        scene: &Scene<'_>,
        after: impl Fn() -> String,
    ) -> Check {
        if !twin.is_idle() {
            return Ok(());
        }
        let before = put_away(twin)?;
        twin.configure(scene.spec.clone())
            .map_err(|e| differs(after(), "to be configured".into(), format!("{e}")))?;
        let found = put_away(twin)?;
        if found != before {
            return Err(other_bytes("its own spec".into(), &before, &found));
        }
        self.restores.configured += 1;
        Ok(())
    }

    fn note_changes(&mut self, input: &Input, scene: &Scene<'_>) {
        let running = || scene.running.iter().map(|(id, _)| *id);
        self.outdated
            .retain(|id| running().any(|running| running == *id));
        let changes = matches!(
            input,
            Input::SetModel(_) | Input::SetEffort(_) | Input::SetThinking(_)
        );
        if changes {
            self.outdated
                .extend(running().filter(|id| is_exchange(*id)));
        }
    }

    /// Checks that responses being received are abandoned and requested again with identical bytes, and that nothing else is
    /// output.
    fn asks_again(&self, said: &[Output], scene: &Scene<'_>, after: impl Fn() -> String) -> Check {
        let place = |id: &EffectId| (id.agent, id.turn, id.stage);
        let is_known = |id: &EffectId, again: &HttpRequest| {
            let mut running = scene.running.iter();
            running.any(|(asked, effect)| match effect {
                Effect::Http(request) if place(asked) == place(id) => {
                    Said::request(*id, request) == Said::request(*id, again)
                }
                _ => false,
            })
        };
        let mut given_up = 0;
        for output in said {
            let expected = match output {
                Output::Abandon(id) => {
                    given_up += 1;
                    is_exchange(*id) && scene.running.iter().any(|(running, _)| running == id)
                }
                Output::Effect(id, Effect::Http(again)) => is_known(id, again),
                _ => false,
            };
            if !expected {
                let again = "the same request again, and nothing else".into();
                return Err(differs(after(), again, shown(Some(output))));
            }
        }
        let arriving = (scene.running.iter())
            .filter(|(id, _)| is_exchange(*id))
            .count();
        if given_up != arriving {
            let expected = format!("{arriving} responses that are given up");
            return Err(differs(after(), expected, format!("{given_up}")));
        }
        Ok(())
    }
}

/// Passes an input to a restored session; returns its state afterwards.
fn follow(
    twin: &mut Session,
    now: Now,
    input: &Input,
    outputs: &[Output],
) -> Result<Vec<u8>, Violation> {
    let refused = twin.handle(now, input.clone()).err();
    let found: Vec<Output> = core::iter::from_fn(|| twin.poll()).collect();
    if refused.is_some() || !found.iter().map(Said::of).eq(outputs.iter().map(Said::of)) {
        let first = (found.iter().zip(outputs))
            .position(|(found, expected)| Said::of(found) != Said::of(expected));
        let from = first.unwrap_or(found.len().min(outputs.len()));
        return Err(differs(
            format!("{input:?}"),
            shown(outputs.get(from)),
            format!("{} {refused:?}", shown(found.get(from))),
        ));
    }
    put_away(twin)
}

/// Checks that a restored session has no outputs and the same deadline.
fn goes_on(
    said: &[Output],
    twin: &Session,
    session: &Session,
    after: impl Fn() -> String,
) -> Check {
    if let Some(output) = said.first() {
        return Err(differs(after(), "nothing".into(), format!("{output:?}")));
    }
    if twin.deadline() != session.deadline() {
        return Err(differs(
            after(),
            format!("{:?}", session.deadline()),
            format!("{:?}", twin.deadline()),
        ));
    }
    Ok(())
}

pub(super) fn is_exchange(id: EffectId) -> bool {
    matches!(id.stage, Stage::Model | Stage::Summary | Stage::Suggestion)
}

fn put_away(session: &Session) -> Result<Vec<u8>, Violation> {
    let fault = |e| differs("a step".into(), "a snapshot".into(), format!("{e}"));
    session.snapshot().map_err(fault)
}

fn shown(output: Option<&Output>) -> String {
    output.map_or_else(|| "nothing".into(), |output| Said::of(output).shown())
}

fn differs(after: String, expected: String, found: String) -> Violation {
    Violation::Restored {
        after,
        expected,
        found,
    }
}

fn other_bytes(after: String, expected: &[u8], found: &[u8]) -> Violation {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    differs(after, text(expected), text(found))
}

/// An output for comparison: bodies are equal however their bytes are stored.
#[derive(PartialEq)]
enum Said<'a> {
    Request(EffectId, &'a str, &'a [(String, String)], Vec<u8>),
    Other(&'a Output),
}

impl<'a> Said<'a> {
    fn of(output: &'a Output) -> Self {
        match output {
            Output::Effect(id, Effect::Http(request)) => Self::request(*id, request),
            other => Self::Other(other),
        }
    }

    fn request(id: EffectId, request: &'a HttpRequest) -> Self {
        Self::Request(id, &request.path, &request.headers, request.body_bytes())
    }

    fn shown(&self) -> String {
        match self {
            Self::Request(id, path, headers, body) => {
                format!(
                    "{id} to {path} {headers:?} {}",
                    String::from_utf8_lossy(body)
                )
            }
            Self::Other(output) => format!("{output:?}"),
        }
    }
}
