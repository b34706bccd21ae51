//! What surrounds a session.

use alloc::{collections::BTreeSet, string::String, vec::Vec};

use windlass_core::{
    effect::{
        Answer, EffectId, HttpRequest, PermissionRequest, PermissionResponse, Probe, Probed, Prompt,
    },
    hook::{HookAnswer, HookCall},
    id::Seeded,
    json::RawJson,
    permission::{ResolvePath, ResolvedPath},
    spec::Spec,
    tool::ToolCall,
};

use crate::{host::normalised, oracle::Oracles};

/// An effect that waits for its answers.
#[derive(Debug)]
pub struct Asked<'a> {
    /// Its name.
    pub id: EffectId,
    /// Dice of this effect alone: what they show does not depend on when it is asked.
    pub dice: &'a mut Seeded,
    /// The run shall come to its end: answer shortly, and ask for nothing more.
    pub plainly: bool,
    /// The run is held against one in another order ([`Sim::permuted`](super::Sim::permuted)): answer nothing that depends on
    /// what else has ended by now.
    pub in_any_order: bool,
}

/// How everything around a session answers. What a world is silent about is answered in the plainest way.
pub trait World {
    /// Asked before everything else when the run is held against one in another order ([`Sim::permuted`](super::Sim::permuted)):
    /// whether nothing will be put into the background. Then the ends of what goes on there cannot decide anything, and what
    /// they would decide need not be left out. Where it is not so, as by default, the world gives no prompt that compacts: how
    /// much there is to sum up depends on what has ended by then.
    fn keeps_to_the_foreground(&mut self) -> bool {
        false
    }

    /// What the session is told at its beginning. Asked once.
    fn spec(&mut self) -> Spec;

    /// The prompt of this number, from 0; none when there is none now. Those of an idle session are answered
    /// at once, others wait or steer.
    fn prompt(&mut self, number: usize, idle: bool) -> Option<Prompt>;

    /// The whole exchange with the model, in answers: head, body in any pieces, end. It is asked again when
    /// the exchange was lost on its way, with the same request.
    fn model(&mut self, asked: Asked<'_>, request: &HttpRequest) -> Vec<Answer>;

    /// What a tool answers: progress as often as it likes, then its result.
    fn tool(&mut self, asked: Asked<'_>, call: &ToolCall) -> Vec<Answer>;

    /// What is found out about a call that was lost. By default nothing.
    fn probe(&mut self, _asked: Asked<'_>, _probe: &Probe) -> Probed {
        Probed::Unknown
    }

    /// What people answer. By default they allow it.
    fn permission(
        &mut self,
        _asked: Asked<'_>,
        _request: &PermissionRequest,
    ) -> PermissionResponse {
        PermissionResponse::allow()
    }

    /// What a hook answers: progress as often as it likes, then its end. By default it has nothing to say.
    fn hook(&mut self, _asked: Asked<'_>, _call: &HookCall) -> Vec<Answer> {
        vec![Answer::Hook(HookAnswer::Output(RawJson::empty_object()))]
    }

    /// Where a path leads. By default where it says, below `cwd`.
    fn resolve(
        &mut self,
        _asked: Asked<'_>,
        path: &ResolvePath,
        cwd: &str,
    ) -> Result<ResolvedPath, String> {
        Ok(ResolvedPath::at(normalised(cwd, &path.path)))
    }

    /// What the world has met of what it has beside the loop, each by a name of its own: asked at the end of a run, and counted
    /// ([`SimRun::met`](super::SimRun::met)). By default nothing is told apart.
    fn met(&self) -> BTreeSet<&'static str> {
        BTreeSet::new()
    }

    /// The promises that are checked. By default all of the machine.
    fn oracles(&self) -> Oracles {
        Oracles::new()
    }
}
