//! A tool as it is offered to the model, with the code that runs it.

use std::sync::Arc;

use windlass_core::{schema::Schema, spec::SpecError, tool::ToolDefinition};

use crate::host::RunTool;

/// A tool definition with the code that runs it.
pub(super) struct OfferedTool {
    pub(super) definition: ToolDefinition,
    pub(super) runner: Arc<dyn RunTool>,
}

impl OfferedTool {
    /// A tool of the embedder. The schemas of all others were checked before: when a component was loaded, or installed.
    ///
    /// # Errors
    /// [`SpecError`]: its input schema is none.
    pub(super) fn own(
        definition: ToolDefinition,
        runner: Arc<dyn RunTool>,
    ) -> Result<Self, SpecError> {
        match Schema::read(definition.input_schema.get()) {
            Ok(_) => Ok(Self { definition, runner }),
            Err(error) => Err(SpecError::InputSchema {
                tool: definition.name,
                error,
            }),
        }
    }
}
