//! Tools that are closures of the embedding program.

use std::{fmt, future::Future, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures_util::{
    FutureExt,
    future::{BoxFuture, Either, select},
    stream::{self, BoxStream, PollNext, StreamExt},
};
use schemars::JsonSchema;
use serde::{Deserialize, de::DeserializeOwned};
use tokio::sync::mpsc;
use windlass_core::{
    EffectId, RawJson,
    effect::Answer,
    host::{CancelSignal, Cancelled},
    tool::{Access, Annotations, PathParam, RetryClass, ToolCall, ToolDefinition, ToolResult},
};

use super::{IntoToolResult, schema};
use crate::host::{RunTool, panic_text};

/// Reports of progress that may wait to be told. More than that say nothing new.
const PROGRESS_AHEAD: usize = 16;

/// A tool that is a closure: typed input, schema derived from the type.
///
/// The closure is called once a call, by default one call after another, in the order the model made them
/// ([`read_only`](Tool::read_only) tools run beside each other). An error it returns, or a panic, is told to the
/// model, and the loop goes on.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use windlass::Tool;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Lookup {
///     /// The word to look up.
///     word: String,
/// }
///
/// let tool = Tool::new("lookup", "Explains a word", |input: Lookup| async move {
///     match input.word.as_str() {
///         "windlass" => Ok("a machine that turns and lifts"),
///         other => Err(format!("no entry for {other}")),
///     }
/// })
/// .read_only();
/// ```
#[derive(Clone)]
pub struct Tool {
    pub(super) definition: ToolDefinition,
    /// What is wrong with the definition; told when the agent is built.
    pub(super) fault: Option<String>,
    pub(super) handler: Arc<dyn RunTool>,
}

impl Tool {
    /// A tool from an async closure. When the call is cancelled or takes too long, its future is dropped.
    pub fn new<I, F, Fut, R>(
        name: impl Into<String>,
        description: impl Into<String>,
        handler: F,
    ) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = R> + Send + 'static,
        R: IntoToolResult,
    {
        let work = typed(move |input: I, _| {
            let work = handler(input);
            async move { work.await.into_tool_result() }.boxed()
        });
        Self::typed::<I>(name, description, Stop::Drop, work)
    }

    /// A tool from an ordinary closure that may block: it runs on tokio's pool of blocking threads. A thread
    /// cannot be stopped: after a cancellation or a timeout nobody waits for it any more, but it goes on.
    pub fn blocking<I, F, R>(
        name: impl Into<String>,
        description: impl Into<String>,
        handler: F,
    ) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(I) -> R + Send + Sync + 'static,
        R: IntoToolResult + Send + 'static,
    {
        let handler = Arc::new(handler);
        let work = typed(move |input: I, _| {
            let handler = Arc::clone(&handler);
            async move {
                let done = tokio::task::spawn_blocking(move || handler(input));
                match done.await {
                    Ok(result) => result.into_tool_result(),
                    Err(error) if error.is_panic() => panicked(&*error.into_panic()),
                    Err(error) => ToolResult::error(format!("the call was not run: {error}")),
                }
            }
            .boxed()
        });
        Self::typed::<I>(name, description, Stop::Drop, work)
    }

    /// A tool from an async closure that also takes a [`ToolContext`]: it can report progress, and it is told
    /// of a cancellation and has a few seconds to end by itself before its future is dropped.
    pub fn with_context<I, F, Fut, R>(
        name: impl Into<String>,
        description: impl Into<String>,
        handler: F,
    ) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(I, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = R> + Send + 'static,
        R: IntoToolResult,
    {
        let work = typed(move |input: I, context| {
            let work = handler(input, context);
            async move { work.await.into_tool_result() }.boxed()
        });
        Self::typed::<I>(name, description, Stop::Signal, work)
    }

    /// A tool whose definition is made at run time: the input comes as it is, checked against the schema only.
    pub fn raw<F, Fut, R>(definition: ToolDefinition, handler: F) -> Self
    where
        F: Fn(RawJson, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = R> + Send + 'static,
        R: IntoToolResult,
    {
        let fault = definition
            .input_schema
            .decode()
            .map_err(|error| error.to_string())
            .and_then(|schema| schema::check(&schema))
            .err();
        let work = move |input: RawJson, context| {
            let work = handler(input, context);
            async move { work.await.into_tool_result() }.boxed()
        };
        Self {
            definition,
            fault,
            handler: Arc::new(Closure {
                work: Box::new(work),
                stop: Stop::Signal,
            }),
        }
    }

    fn typed<I: JsonSchema>(
        name: impl Into<String>,
        description: impl Into<String>,
        stop: Stop,
        work: Box<Work>,
    ) -> Self {
        let (schema, fault) = match schema::input_schema::<I>() {
            Ok(schema) => (schema, None),
            Err(fault) => (RawJson::empty_object(), Some(fault)),
        };
        Self {
            definition: ToolDefinition::new(name, description, schema),
            fault,
            handler: Arc::new(Closure { work, stop }),
        }
    }

    /// Says that calls change nothing: they may run beside other read-only calls, and plan mode lets them run.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.definition = self.definition.read_only();
        self
    }

    /// All behaviour hints at once.
    #[must_use]
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.definition.annotations = annotations;
        self
    }

    /// Says that an input field is a file path. It is made real before the call is judged, so that file rules
    /// (`Read(…)`, `Edit(…)`) and the limits of the workspace hold for it. The closure gets the input as the
    /// model wrote it.
    #[must_use]
    pub fn path(mut self, field: impl Into<String>, access: Access) -> Self {
        self.definition.paths.push(PathParam {
            field: field.into(),
            access,
            default_cwd: false,
        });
        self
    }

    /// What may be done about a call whose outcome was lost in a crash.
    #[must_use]
    pub fn retry_class(mut self, class: RetryClass) -> Self {
        self.definition.retry = class;
        self
    }

    /// How long a call may take, in place of the agent's [`tool_timeout`](super::AgentBuilder::tool_timeout).
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        let millis = u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX);
        self.definition.timeout_ms = Some(millis);
        self
    }

    /// The tool as the model and the loop see it.
    #[must_use]
    pub fn definition(&self) -> &ToolDefinition {
        &self.definition
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool")
            .field("name", &self.definition.name)
            .finish_non_exhaustive()
    }
}

/// The input of a tool that takes none.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct NoInput {}

/// What a closure can know of its call, and say while it runs.
#[derive(Debug)]
pub struct ToolContext {
    call: ToolCall,
    id: EffectId,
    cancel: CancelSignal,
    progress: mpsc::Sender<String>,
}

impl ToolContext {
    /// The call: the model's id of it, the files it was granted, what earlier calls saw of them.
    #[must_use]
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// The name of this call and attempt: equal when the same call is made again after a crash, so it serves
    /// as idempotency key.
    #[must_use]
    pub fn effect_id(&self) -> EffectId {
        self.id
    }

    /// Whether the call was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Ends when the call is cancelled. One waiter at a time.
    #[must_use]
    pub fn cancelled(&self) -> Cancelled {
        self.cancel.cancelled()
    }

    /// Says what is being done: the application gets a `tool_progress` message.
    pub fn progress(&self, text: impl Into<String>) {
        // A full channel has enough to tell already; a closed one has nobody who listens.
        let _ = self.progress.try_send(text.into());
    }
}

/// What a closure does with its input.
type Work = dyn Fn(RawJson, ToolContext) -> BoxFuture<'static, ToolResult> + Send + Sync;

/// Reads the input before the closure sees it.
fn typed<I, F>(handler: F) -> Box<Work>
where
    I: DeserializeOwned,
    F: Fn(I, ToolContext) -> BoxFuture<'static, ToolResult> + Send + Sync + 'static,
{
    Box::new(move |input, context| match input.decode::<I>() {
        Ok(input) => handler(input, context),
        // The schema let it through, but the type is stricter.
        Err(error) => {
            let text = format!("The input of {} does not fit: {error}", context.call.name);
            std::future::ready(ToolResult::error(text)).boxed()
        }
    })
}

/// How a call is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// Its future is dropped at once.
    Drop,
    /// It is told, and ends by itself.
    Signal,
}

struct Closure {
    work: Box<Work>,
    stop: Stop,
}

impl RunTool for Closure {
    fn run(
        &self,
        id: EffectId,
        call: ToolCall,
        cancel: CancelSignal,
    ) -> BoxStream<'static, Answer> {
        let (sender, mut reports) = mpsc::channel(PROGRESS_AHEAD);
        let name = call.name.clone();
        let timeout = call.timeout_ms.map(u64::from).map(Duration::from_millis);
        let context = ToolContext {
            call: call.clone(),
            id,
            cancel: cancel.clone(),
            progress: sender,
        };
        // The closure may panic before it gives a future, so it is called where panics are caught.
        let work =
            match std::panic::catch_unwind(AssertUnwindSafe(|| (self.work)(call.input, context))) {
                Ok(work) => AssertUnwindSafe(work)
                    .catch_unwind()
                    .map(|done| done.unwrap_or_else(|panic| panicked(&*panic)))
                    .boxed(),
                Err(panic) => std::future::ready(panicked(&*panic)).boxed(),
            };
        let stopped = match self.stop {
            Stop::Drop => cancel.cancelled().boxed(),
            Stop::Signal => std::future::pending().boxed(),
        };
        let done = stream::once(async move {
            let in_time = async move {
                match timeout {
                    Some(limit) => tokio::time::timeout(limit, work)
                        .await
                        .unwrap_or_else(|_| timed_out(&name, limit)),
                    None => work.await,
                }
            };
            match select(stopped, Box::pin(in_time)).await {
                Either::Left(_) => Answer::Cancelled,
                Either::Right((result, _)) => Answer::Tool(result),
            }
        });
        let reports = stream::poll_fn(move |cx| reports.poll_recv(cx)).map(Answer::Progress);
        stream::select_with_strategy(reports, done, |(): &mut ()| PollNext::Left).boxed()
    }
}

fn timed_out(name: &str, limit: Duration) -> ToolResult {
    ToolResult::error(format!(
        "{name} was stopped: it took longer than {} seconds.",
        limit.as_secs_f64()
    ))
}

fn panicked(payload: &(dyn std::any::Any + Send)) -> ToolResult {
    ToolResult::error(format!("The tool panicked: {}", panic_text(payload)))
}
