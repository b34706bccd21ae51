//! A world for your own agent: a script for the model, closures for the rest.

use alloc::{
    boxed::Box,
    collections::{BTreeMap, VecDeque},
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use windlass_core::{
    effect::{Answer, HttpFailureKind, HttpRequest, PermissionRequest, PermissionResponse, Prompt},
    hook::{HookAnswer, HookCall, HookInput, HookOutput},
    permission::{ResolvePath, ResolvedPath},
    spec::Spec,
    tool::{ToolCall, ToolResult},
};
use windlass_scripted_model::{Piece, RequestView, Script, ScriptedModel};

use super::world::{Asked, World};
use crate::{
    host::normalised,
    oracle::{Oracle, Oracles},
    sim::exchange::failed,
};

/// A tool of a [`Scripted`] world.
type Run = Box<dyn FnMut(&ToolCall) -> ToolResult>;

/// A hook of a [`Scripted`] world.
type RunHook = Box<dyn FnMut(&HookInput) -> HookOutput>;

/// Answers permission questions.
type Decide = Box<dyn FnMut(&PermissionRequest) -> PermissionResponse>;

/// Creates an oracle for a run.
type MakeOracle = Box<dyn Fn() -> Box<dyn Oracle>>;

/// A world whose model follows a [`Script`], whose tools are closures, and in which permission questions are answered by a
/// closure.
///
/// A lost exchange is sent again, without consuming another exchange of the script.
pub struct Scripted {
    spec: Spec,
    model: ScriptedModel,
    /// The last exchange that was sent, with its request.
    sent: Option<(Vec<u8>, Vec<Answer>)>,
    prompts: VecDeque<Prompt>,
    tools: BTreeMap<String, Run>,
    hooks: BTreeMap<String, RunHook>,
    decide: Option<Decide>,
    links: BTreeMap<String, String>,
    oracles: Vec<MakeOracle>,
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scripted")
            .field("model", &self.model)
            .field("prompts", &self.prompts)
            .field("tools", &self.tools.keys())
            .finish_non_exhaustive()
    }
}

impl Scripted {
    /// A world whose model follows the script, without prompts, tools or permission questions.
    #[must_use]
    pub fn new(mut spec: Spec, script: Script) -> Self {
        if spec.environment.cwd.is_empty() {
            spec.environment.cwd = "/work".to_string();
        }
        Self {
            spec,
            model: ScriptedModel::new(script),
            sent: None,
            prompts: VecDeque::new(),
            tools: BTreeMap::new(),
            hooks: BTreeMap::new(),
            decide: None,
            links: BTreeMap::new(),
            oracles: Vec::new(),
        }
    }

    /// Adds a prompt, which is given when the previous ones have been answered.
    #[must_use]
    pub fn prompt(mut self, prompt: impl Into<Prompt>) -> Self {
        self.prompts.push_back(prompt.into());
        self
    }

    /// Sets the result of a tool.
    #[must_use]
    pub fn tool(mut self, name: &str, run: impl FnMut(&ToolCall) -> ToolResult + 'static) -> Self {
        self.tools.insert(name.to_string(), Box::new(run));
        self
    }

    /// Sets the output of a hook. The spec must register it under this name.
    #[must_use]
    pub fn hook(mut self, name: &str, run: impl FnMut(&HookInput) -> HookOutput + 'static) -> Self {
        self.hooks.insert(name.to_string(), Box::new(run));
        self
    }

    /// Sets how permission questions are answered. By default no questions are asked, and calls that need one are denied.
    #[must_use]
    pub fn permission(
        mut self,
        decide: impl FnMut(&PermissionRequest) -> PermissionResponse + 'static,
    ) -> Self {
        self.decide = Some(Box::new(decide));
        self
    }

    /// Allows every permission question.
    #[must_use]
    pub fn allow_all(self) -> Self {
        self.permission(|_| PermissionResponse::allow())
    }

    /// Adds a link from a path to its target.
    #[must_use]
    pub fn link(mut self, path: &str, to: &str) -> Self {
        let cwd = self.spec.environment.cwd.clone();
        self.links
            .insert(normalised(&cwd, path), normalised(&cwd, to));
        self
    }

    /// Adds an oracle for a promise of this agent to those of the machine.
    #[must_use]
    pub fn oracle<O: Oracle + 'static>(mut self, oracle: impl Fn() -> O + 'static) -> Self {
        self.oracles.push(Box::new(move || Box::new(oracle())));
        self
    }
}

impl World for Scripted {
    fn spec(&mut self) -> Spec {
        let mut spec = self.spec.clone();
        spec.policy.permissions.can_ask |= self.decide.is_some();
        spec
    }

    fn prompt(&mut self, _number: usize, idle: bool) -> Option<Prompt> {
        idle.then(|| self.prompts.pop_front()).flatten()
    }

    fn model(&mut self, _asked: Asked<'_>, request: &HttpRequest) -> Vec<Answer> {
        let body = request.body_bytes();
        if let Some((answered, exchange)) = &self.sent
            && *answered == body
        {
            return exchange.clone();
        }
        let pieces = self.model.answer(&RequestView {
            path: &request.path,
            headers: &request.headers,
            body: &body,
        });
        let exchange: Vec<Answer> = pieces.into_iter().filter_map(answer).collect();
        self.sent = Some((body, exchange.clone()));
        exchange
    }

    fn tool(&mut self, _asked: Asked<'_>, call: &ToolCall) -> Vec<Answer> {
        let result = match self.tools.get_mut(&call.name) {
            Some(run) => run(call),
            None => ToolResult::error(format!("the world has no tool {}", call.name)),
        };
        vec![Answer::Tool(result)]
    }

    fn hook(&mut self, _asked: Asked<'_>, call: &HookCall) -> Vec<Answer> {
        let answer = match (self.hooks.get_mut(&call.hook), call.input.decode()) {
            (Some(run), Ok(input)) => HookAnswer::Output(run(&input).to_json()),
            (Some(_), Err(error)) => HookAnswer::Failed(error.reason),
            (None, _) => HookAnswer::Failed(format!("the world has no hook {}", call.hook)),
        };
        vec![Answer::Hook(answer)]
    }

    fn permission(&mut self, _asked: Asked<'_>, request: &PermissionRequest) -> PermissionResponse {
        match &mut self.decide {
            Some(decide) => decide(request),
            None => PermissionResponse::deny("the world was not told what to answer"),
        }
    }

    fn resolve(
        &mut self,
        _asked: Asked<'_>,
        path: &ResolvePath,
        cwd: &str,
    ) -> Result<ResolvedPath, String> {
        let path = normalised(cwd, &path.path);
        let path = self.links.get(&path).cloned().unwrap_or(path);
        Ok(ResolvedPath::at(path))
    }

    fn oracles(&self) -> Oracles {
        let own = self.oracles.iter().map(|make| make());
        own.fold(Oracles::new(), Oracles::with_boxed)
    }
}

/// Converts a piece of a scripted answer; delays are up to the scheduler.
fn answer(piece: Piece) -> Option<Answer> {
    match piece {
        Piece::Head { status, headers } => Some(Answer::HttpHead { status, headers }),
        Piece::Bytes(bytes) => Some(Answer::HttpBody(bytes)),
        Piece::Cut => Some(failed(HttpFailureKind::Interrupted)),
        Piece::End => Some(Answer::HttpEnd),
        Piece::Delay(_) | Piece::Hang => None,
    }
}
