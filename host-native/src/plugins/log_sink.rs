//! Who takes the lines that calls log.

use std::{fmt, sync::Arc};

/// The level of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// For the developer of the component.
    Debug,
    /// Informational.
    Info,
    /// A possible problem.
    Warn,
    /// A failure.
    Error,
}

/// A log line of a call.
#[derive(Debug, Clone, Copy)]
pub struct LogLine<'a> {
    /// The component's name.
    pub component: &'a str,
    /// The level.
    pub level: LogLevel,
    /// The text; control characters come from the component and must be escaped for a terminal.
    pub message: &'a str,
    /// Whether the line comes from the host, for example a refusal, rather than from the component.
    pub from_host: bool,
}

/// Receives log lines; called on the thread of the call.
#[derive(Clone)]
pub struct LogSink(Arc<dyn Fn(LogLine<'_>) + Send + Sync>);

impl LogSink {
    /// A sink that calls a function for every line.
    pub fn new(take: impl Fn(LogLine<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(take))
    }

    pub(super) fn write(&self, line: LogLine<'_>) {
        (self.0)(line);
    }
}

impl Default for LogSink {
    /// Drops all lines.
    fn default() -> Self {
        Self::new(|_| {})
    }
}

impl fmt::Debug for LogSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LogSink")
    }
}
