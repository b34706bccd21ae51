//! A tool as it is offered to the model, with the code that runs it.

use std::sync::Arc;

use windlass_core::tool::ToolDefinition;

use crate::host::RunTool;

/// A tool definition with the code that runs it.
pub(super) struct OfferedTool {
    pub(super) definition: ToolDefinition,
    pub(super) runner: Arc<dyn RunTool>,
}
