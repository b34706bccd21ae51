//! The surroundings of a session.

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
    /// Random numbers for this effect alone: they do not depend on when it is asked.
    pub dice: &'a mut Seeded,
    /// The run is to end: give a short answer, and make no further requests.
    pub plainly: bool,
    /// The run is compared with one in another order ([`Sim::permuted`](super::Sim::permuted)): the answer must not depend on
    /// which other effects have completed.
    pub in_any_order: bool,
}

/// Defines how everything around a session answers. The default implementations give the simplest answer.
pub trait World {
    /// Called first if the run is compared with one in another order ([`Sim::permuted`](super::Sim::permuted)): whether
    /// nothing will run in the background. Then the end of background tasks cannot affect anything, and its effects need not
    /// be left out. If false, which is the default, the world must not give prompts that compact, because the amount of text
    /// to summarise would depend on which tasks have ended.
    fn keeps_to_the_foreground(&mut self) -> bool {
        false
    }

    /// The spec of the session. Called once.
    fn spec(&mut self) -> Spec;

    /// The prompt with this number, counted from 0; `None` if there is none now. A prompt for an idle session is answered at
    /// once, any other waits or steers.
    fn prompt(&mut self, number: usize, idle: bool) -> Option<Prompt>;

    /// The complete exchange with the model, as answers: head, body in any pieces, end. Called again with the same request if
    /// the exchange was lost.
    fn model(&mut self, asked: Asked<'_>, request: &HttpRequest) -> Vec<Answer>;

    /// The answers of a tool: any number of progress reports, then its result.
    fn tool(&mut self, asked: Asked<'_>, call: &ToolCall) -> Vec<Answer>;

    /// The result of probing a lost call. By default nothing is known.
    fn probe(&mut self, _asked: Asked<'_>, _probe: &Probe) -> Probed {
        Probed::Unknown
    }

    /// The answer of a person. The default is to allow.
    fn permission(
        &mut self,
        _asked: Asked<'_>,
        _request: &PermissionRequest,
    ) -> PermissionResponse {
        PermissionResponse::allow()
    }

    /// The answers of a hook: any number of progress reports, then its end. By default it has no output.
    fn hook(&mut self, _asked: Asked<'_>, _call: &HookCall) -> Vec<Answer> {
        vec![Answer::Hook(HookAnswer::Output(RawJson::empty_object()))]
    }

    /// The target of a path. The default is the path itself, below `cwd`.
    fn resolve(
        &mut self,
        _asked: Asked<'_>,
        path: &ResolvePath,
        cwd: &str,
    ) -> Result<ResolvedPath, String> {
        Ok(ResolvedPath::at(normalised(cwd, &path.path)))
    }

    /// The names of the features of the world that were exercised. Called at the end of a run, and counted
    /// ([`SimRun::met`](super::SimRun::met)). Empty by default.
    fn met(&self) -> BTreeSet<&'static str> {
        BTreeSet::new()
    }

    /// The promises to check. The default is all promises of the machine.
    fn oracles(&self) -> Oracles {
        Oracles::new()
    }
}
