//! Tools that are closures of the embedding program.

use std::{fmt, future::Future, sync::Arc, time::Duration};

use futures_util::FutureExt;
use schemars::JsonSchema;
use serde::{Deserialize, de::DeserializeOwned};
use windlass_core::{
    RawJson,
    effect::{Probe, Probed},
    tool::{Access, Annotations, PathParam, RetryClass, ToolDefinition, ToolResult},
};

use super::{
    IntoToolResult, ToolContext,
    closure::{Closure, Stop, WithProbe, Work, panicked, typed},
    schema,
};
use crate::host::RunTool;

/// A tool that is a closure: typed input, schema derived from the type.
///
/// The closure is called once per tool call. By default calls run one after another, in the order in which the model
/// made them; [`read_only`](Tool::read_only) tools run concurrently. An error or a panic goes to the model as an
/// error result, and the conversation continues.
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
    /// What is wrong with the definition; reported when the agent is built.
    pub(super) fault: Option<String>,
    pub(super) handler: Arc<dyn RunTool>,
}

impl Tool {
    /// A tool from an async closure. When the call is cancelled or times out, its future is dropped.
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

    /// A tool from an ordinary closure that may block: it runs on tokio's pool of blocking threads. A thread cannot
    /// be stopped: after a cancellation or a timeout it continues, and its result is ignored.
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

    /// A tool from an async closure that also takes a [`ToolContext`]: it can report progress, and on cancellation it
    /// is signalled and has a few seconds to end by itself before its future is dropped.
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

    /// A tool whose definition is made at run time: the closure gets the raw input, checked against the schema only.
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
            handler: Arc::new(Closure::new(Box::new(work), Stop::Signal)),
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
            handler: Arc::new(Closure::new(work, stop)),
        }
    }

    /// Declares that calls change nothing: they may run concurrently with other read-only calls, and plan mode allows them.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.definition = self.definition.read_only();
        self
    }

    /// Sets all behaviour hints at once.
    #[must_use]
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.definition.annotations = annotations;
        self
    }

    /// Declares that an input field is a file path. It is resolved to a real path before permissions are checked, so
    /// file rules (`Read(…)`, `Edit(…)`) and the limits of the workspace apply to it. The closure gets the input as
    /// the model wrote it.
    #[must_use]
    pub fn path(mut self, field: impl Into<String>, access: Access) -> Self {
        self.definition.paths.push(PathParam {
            field: field.into(),
            access,
            default_cwd: false,
            read_first: false,
        });
        self
    }

    /// How a call whose outcome was lost in a crash may be handled.
    #[must_use]
    pub fn retry_class(mut self, class: RetryClass) -> Self {
        self.definition.retry = class;
        self
    }

    /// Sets the probe that finds out the outcome of a call that was lost in a crash, and the tool's class to
    /// [`RetryClass::Probe`]. The closure gets the call and the id under which it ran
    /// ([`ToolContext::effect_id`](super::ToolContext::effect_id)), must change nothing, and returns what it found.
    ///
    /// ```
    /// use windlass::{Tool, core::{effect::Probed, tool::ToolResult}};
    ///
    /// # fn receipt_of(_key: &str) -> Option<String> { None }
    /// let pay = Tool::new("pay", "Pays a bill", |bill: String| async move { Ok::<_, String>(format!("paid {bill}")) })
    ///     .probe(|probe| async move {
    ///         match receipt_of(&probe.lost.to_string()) {
    ///             Some(receipt) => Probed::Done(ToolResult::text(receipt)),
    ///             None => Probed::NotDone,
    ///         }
    ///     });
    /// ```
    #[must_use]
    pub fn probe<F, Fut>(mut self, probe: F) -> Self
    where
        F: Fn(Probe) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Probed> + Send + 'static,
    {
        self.definition.retry = RetryClass::Probe;
        self.handler = Arc::new(WithProbe {
            handler: self.handler,
            probe: Box::new(move |asked| probe(asked).boxed()),
        });
        self
    }

    /// The timeout of a call, instead of the agent's [`tool_timeout`](super::AgentBuilder::tool_timeout).
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        let millis = u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX);
        self.definition.timeout_ms = Some(millis);
        self
    }

    /// The tool's definition, as the model and the engine see it.
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
