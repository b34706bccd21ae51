//! A session that is put away and taken up again after every step, turned beside the one that stayed.

use alloc::{collections::BTreeSet, format, string::String, sync::Arc, vec::Vec};

use windlass_core::{
    Session,
    effect::{Effect, EffectId, HttpRequest, Input, Output, Stage},
    id::Now,
    spec::Spec,
};

use crate::oracle::{Check, Violation};

/// What came of putting the session away and taking it up again, over a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Restores {
    /// Steps after which the session was put away, taken up, and put away again: the bytes were the same. Where a step
    /// changes nothing of them, those that were read last count: taking up depends on nothing else.
    pub fixed_points: u64,
    /// Steps before which the session was put away and taken up again: both sessions did the same, and are the same
    /// after it, byte for byte.
    pub same_step: u64,
    /// Steps after which a response was arriving. Half of it goes with its decoder, so the session taken up asks for it once
    /// more, with the same request, and does nothing else.
    pub asked_again: u64,
    /// Sessions that were configured, while they were idle, with the spec that they had: they were the same after it, and went
    /// on like the one that was not.
    pub configured: u64,
}

impl Restores {
    /// Adds those of another run.
    pub fn add(&mut self, other: Self) {
        self.fixed_points += other.fixed_points;
        self.same_step += other.same_step;
        self.asked_again += other.asked_again;
        self.configured += other.configured;
    }
}

/// The sessions that were taken up from those that a run put away.
#[derive(Default)]
pub(super) struct Twin {
    /// Bytes that were read and written again as the same.
    fixed: Vec<u8>,
    /// The session taken up from them, while it can go on like the other one.
    session: Option<Session>,
    /// Responses that would be asked for in another way by now, or not at all: with another model, effort or thinking.
    outdated: BTreeSet<EffectId>,
    pub(super) restores: Restores,
}

/// What surrounds a session that is taken up.
pub(super) struct Scene<'a> {
    pub(super) spec: &'a Arc<Spec>,
    pub(super) now: Now,
    /// Effects that were not answered to their end, with what was asked.
    pub(super) running: Vec<(EffectId, &'a Effect)>,
    /// One of the responses that arrive was told to stop. The session taken up need not wait for its end, so it goes on.
    pub(super) stopping: bool,
    /// Whether a session is taken up to be turned beside the other one.
    pub(super) to_follow: bool,
    /// Whether the session is put away even where none is.
    pub(super) every_step: bool,
}

impl Twin {
    /// The session itself was put away and taken up again: the other one knows nothing of what was lost.
    pub(super) fn forget(&mut self) {
        self.session = None;
    }

    /// Gives the other one the same input, holds both against each other, and takes up another one from the session as it
    /// is now.
    ///
    /// # Errors
    /// [`Violation::Restored`] when the other one does something else or has become another one, when the snapshot is not a
    /// fixed point, or taking up does something.
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
            // Taken up from these bytes before; what was, has followed.
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

    /// Configures a session that is idle with the spec that it has, which changes nothing.
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

    /// Responses that were arriving are given up, and asked for with the same bytes; nothing else is said.
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

/// Gives a session that was taken up an input; what it is after that.
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

/// What is taken up has nothing to say, and waits as long.
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

/// An output as the world sees it: a body is the same however its bytes are kept.
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
