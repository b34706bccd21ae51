//! The native host: performs the effects of a session on tokio.
//!
//! [`NativeHost`] drives the sessions of an [`Agent`](crate::Agent). It can also be used by itself, or be wrapped by
//! a host of your own that performs some effects differently: implement [`windlass_core::Host`], forward the effects
//! you do not want to change, and call [`windlass_core::drive`]. `examples/custom_host.rs` does that.

mod clock;
mod hooks;
mod messages;
mod tools;
mod transport;
mod worktree;

use std::{collections::BTreeMap, fmt, future::Future, path::Path, sync::Arc, time::Duration};

use crate::session_shares::SharesBySession;
use futures_util::{
    FutureExt, Stream,
    future::BoxFuture,
    stream::{self, BoxStream, StreamExt},
};
use windlass_core::{
    EffectId, Host, HostError, Input, Machine, Message, Millis, Now, SessionId,
    effect::{
        Answer, Effect, Entry, HttpRequest, PermissionRequest, PermissionResponse, Probe, Probed,
        ResolvePath, ResolvedPath,
    },
    hook::{HookAnswer, HookCall},
    host::CancelSignal,
    tool::{Access, ToolCall, ToolResult},
    tools::CoreTool,
};

pub(crate) use self::clock::Clock;
pub(crate) use self::tools::panic_text;
pub(crate) use self::worktree::{GitWorktrees, WorktreesToRemove};
pub use self::{hooks::RunHook, messages::MessageSink, tools::RunTool, transport::Transport};
pub use crate::session_shares::SessionShares;

/// The timeout of an embedder's tool that sets none: ten minutes, like the longest timeout of a Bash command.
pub const DEFAULT_TOOL_TIMEOUT: Duration = Duration::from_secs(600);

/// Decides whether a tool call may run.
pub type PermissionCallback =
    dyn Fn(PermissionRequest) -> BoxFuture<'static, PermissionResponse> + Send + Sync;

/// Performs effects with tokio: HTTP through a [`Transport`], tools by name, permission requests through a callback.
///
/// All methods must be called inside a tokio runtime with timers enabled.
pub struct NativeHost {
    clock: Clock,
    transport: Arc<dyn Transport>,
    tools: Arc<BTreeMap<String, Arc<dyn RunTool>>>,
    hooks: Arc<BTreeMap<String, Arc<dyn RunHook>>>,
    shares: SharesBySession,
    permission: Option<Arc<PermissionCallback>>,
    cwd: Arc<str>,
    messages: MessageSink,
    worktrees: GitWorktrees,
}

impl NativeHost {
    /// A host without tools or permission callback that resolves relative paths against `/`.
    #[must_use]
    pub fn new(transport: Arc<dyn Transport>, messages: impl Into<MessageSink>) -> Self {
        Self {
            clock: Clock::new(),
            transport,
            tools: Arc::default(),
            hooks: Arc::default(),
            shares: SharesBySession::default(),
            permission: None,
            cwd: Arc::from("/"),
            messages: messages.into(),
            worktrees: GitWorktrees::default(),
        }
    }

    /// Removes the worktrees of subagents in which nothing was changed. Call it when the session has nothing left to
    /// do; before, the session's `WorktreeRemove` hooks run on this host.
    ///
    /// # Errors
    /// [`HostError`] as [`drive`](windlass_core::drive); nothing is removed then.
    pub async fn session_ended(&self, session: &mut impl Machine) -> Result<(), HostError> {
        let going = self.worktrees.to_remove().await;
        if going.is_empty() {
            return Ok(());
        }
        let told = going.iter().map(|made| Input::Occurred(made.occurrence()));
        windlass_core::drive(session, self, stream::iter(told)).await?;
        worktree::remove(going).await;
        Ok(())
    }

    /// Records the created worktrees in this list, which outlives the host.
    #[must_use]
    pub(crate) fn with_worktrees(mut self, worktrees: GitWorktrees) -> Self {
        self.worktrees = worktrees;
        self
    }

    /// Takes the place of another host in its sessions: what belongs to them is had in common.
    #[must_use]
    #[cfg(feature = "engine")]
    pub(crate) fn sharing(mut self, shares: SharesBySession) -> Self {
        self.shares = shares;
        self
    }

    /// A session is over: what plugins remember of it is dropped, and so are their instances. Without this, they end with the host.
    pub fn end_session(&self, session: SessionId) {
        self.shares.end(session);
    }

    /// The tools, by the name under which the model calls them.
    #[must_use]
    pub fn with_tools(mut self, tools: Arc<BTreeMap<String, Arc<dyn RunTool>>>) -> Self {
        self.tools = tools;
        self
    }

    /// The hooks, by the name they are registered under.
    #[must_use]
    pub fn with_hooks(mut self, hooks: Arc<BTreeMap<String, Arc<dyn RunHook>>>) -> Self {
        self.hooks = hooks;
        self
    }

    /// The callback that decides whether a call may run.
    #[must_use]
    pub fn with_permission(mut self, callback: Option<Arc<PermissionCallback>>) -> Self {
        self.permission = callback;
        self
    }

    /// The directory against which relative paths are resolved: absolute, without symbolic links.
    #[must_use]
    pub fn with_cwd(mut self, cwd: impl Into<Arc<str>>) -> Self {
        self.cwd = cwd.into();
        self
    }
}

impl NativeHost {
    /// Performs an effect of a session like [`Host`], as a stream that does not borrow the host.
    pub(crate) fn perform(
        &self,
        id: EffectId,
        effect: Effect,
        cancel: CancelSignal,
    ) -> BoxStream<'static, Answer> {
        match effect {
            Effect::Http(request) => self.transport.send(id, request),
            Effect::CallTool(call) => self.tool_answers(id, call, cancel),
            Effect::ProbeTool(probe) => stream::once(
                probed(self.tools.get(&probe.call.name).cloned(), probe).map(Answer::Probed),
            )
            .boxed(),
            Effect::RunHook(call) => self.hook_answers(id, call, cancel),
            Effect::AskPermission(request) => {
                stream::once(self.permission_answer(request).map(Answer::Permission)).boxed()
            }
            Effect::Resolve(paths) => {
                let resolved = resolved(Arc::clone(&self.cwd), paths);
                stream::once(resolved.map(Answer::Resolved)).boxed()
            }
            // The code that drives the session answers these itself.
            _ => stream::empty().boxed(),
        }
    }

    fn tool_answers(
        &self,
        id: EffectId,
        call: ToolCall,
        cancel: CancelSignal,
    ) -> BoxStream<'static, Answer> {
        match self.tools.get(&call.name) {
            Some(tool) => {
                let of_session = self.shares.with(id.session, |it| tool.session_runner(it));
                of_session.as_ref().unwrap_or(tool).run(id, call, cancel)
            }
            None if call.name == CoreTool::EnterWorktree.name() => {
                self.worktrees.run(id, call, cancel)
            }
            None => unknown_tool(&call.name),
        }
    }

    fn permission_answer(
        &self,
        request: PermissionRequest,
    ) -> impl Future<Output = PermissionResponse> + Send + use<> {
        let callback = self.permission.clone();
        async move {
            let Some(callback) = callback else {
                return nobody_to_ask(&request);
            };
            let answer = std::panic::AssertUnwindSafe(async move { callback(request).await });
            answer.catch_unwind().await.unwrap_or_else(|panic| {
                let text = panic_text(&*panic);
                PermissionResponse::deny(format!("the permission callback panicked: {text}"))
            })
        }
    }

    fn hook_answers(
        &self,
        id: EffectId,
        call: HookCall,
        cancel: CancelSignal,
    ) -> BoxStream<'static, Answer> {
        match self.hooks.get(&call.hook) {
            Some(hook) => {
                let of_session = self.shares.with(id.session, |it| hook.session_runner(it));
                of_session.as_ref().unwrap_or(hook).run(id, call, cancel)
            }
            None => unknown_hook(&call.hook),
        }
    }
}

impl fmt::Debug for NativeHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NativeHost")
            .field("tools", &self.tools.keys())
            .field("hooks", &self.hooks.keys())
            .field("cwd", &self.cwd)
            .field("asks", &self.permission.is_some())
            .finish_non_exhaustive()
    }
}

impl Host for NativeHost {
    fn now(&self) -> Now {
        self.clock.now()
    }

    fn sleep(&self, until: Millis) -> impl Future<Output = ()> {
        self.clock.sleep(until)
    }

    fn http(&self, id: EffectId, request: HttpRequest) -> impl Stream<Item = Answer> {
        self.transport.send(id, request)
    }

    fn resolve(
        &self,
        _id: EffectId,
        paths: Vec<ResolvePath>,
    ) -> impl Future<Output = Vec<Result<ResolvedPath, String>>> {
        resolved(Arc::clone(&self.cwd), paths)
    }

    fn call_tool(
        &self,
        id: EffectId,
        call: ToolCall,
        cancel: CancelSignal,
    ) -> impl Stream<Item = Answer> {
        self.tool_answers(id, call, cancel)
    }

    async fn probe_tool(&self, _id: EffectId, probe: Probe) -> Probed {
        probed(self.tools.get(&probe.call.name).cloned(), probe).await
    }

    fn run_hook(
        &self,
        id: EffectId,
        call: HookCall,
        cancel: CancelSignal,
    ) -> impl Stream<Item = Answer> {
        self.hook_answers(id, call, cancel)
    }

    fn ask_permission(
        &self,
        _id: EffectId,
        request: PermissionRequest,
    ) -> impl Future<Output = PermissionResponse> {
        self.permission_answer(request)
    }

    async fn persist(&self, _id: EffectId, _entries: Vec<Entry>) -> Result<(), String> {
        Ok(()) // nothing is kept: nothing can be lost that was not lost already
    }

    async fn message(&self, message: Message) {
        self.messages.take(message).await;
    }
}

/// Asks a tool for the outcome of a lost call.
async fn probed(tool: Option<Arc<dyn RunTool>>, probe: Probe) -> Probed {
    let Some(tool) = tool else {
        return Probed::Unknown;
    };
    let asked = std::panic::AssertUnwindSafe(tool.probe(probe)).catch_unwind();
    // A probe that panics has found nothing out.
    asked.await.unwrap_or(Probed::Unknown)
}

/// Resolves symbolic links. This reads the disk, so it does not run on the driver's task.
async fn resolved(cwd: Arc<str>, paths: Vec<ResolvePath>) -> Vec<Result<ResolvedPath, String>> {
    let asked = paths.len();
    tokio::task::spawn_blocking(move || resolve_all(&cwd, &paths))
        .await
        .unwrap_or_else(|lost| vec![Err(format!("the path was not resolved: {lost}")); asked])
}

pub(crate) fn resolve_all(cwd: &str, paths: &[ResolvePath]) -> Vec<Result<ResolvedPath, String>> {
    paths
        .iter()
        .map(|asked| match crate::files::resolve(cwd, &asked.path) {
            Ok(path) => {
                let looked = || crate::files::below(path.as_ref(), &asked.closed);
                let crate::files::Below { brings, holds } =
                    asked.carried.then(looked).unwrap_or_default();
                // Not needed for paths that are only read.
                let exists =
                    asked.access == Access::Write && Path::new(&path).symlink_metadata().is_ok();
                Ok(ResolvedPath {
                    path,
                    brings,
                    holds,
                    exists,
                })
            }
            Err(error) => Err(error.to_string()),
        })
        .collect()
}

/// The core calls only tools of its spec, but a host with another set of tools must still answer.
fn unknown_tool(name: &str) -> BoxStream<'static, Answer> {
    let text = format!("This host has no tool named {name}.");
    stream::iter([Answer::Tool(ToolResult::error(text))]).boxed()
}

/// The same for hooks. The hook's failure policy decides what it means.
fn unknown_hook(name: &str) -> BoxStream<'static, Answer> {
    let reason = format!("this host has no hook named {name}");
    stream::iter([Answer::Hook(HookAnswer::Failed(reason))]).boxed()
}

fn nobody_to_ask(request: &PermissionRequest) -> PermissionResponse {
    let rule = request.suggested_rule();
    let rule = rule.as_deref().unwrap_or(&request.tool_name);
    let way = match request.suggestions.is_empty() {
        true => "No rule allows it: give the agent a permission callback.".to_owned(),
        false => format!("Allow it with the rule {rule}, or give the agent a permission callback."),
    };
    PermissionResponse::deny(format!(
        "{} needs permission ({}), and there is nobody to ask. {way}",
        request.tool_name, request.decision_reason
    ))
}
