//! The tool definition for the model.

use serde_json::json;
use windlass_core::{
    json::RawJson,
    tool::{Annotations, ToolDefinition},
};

use super::{BACKGROUND, Bash, EDGE_MS, OUTSIDE};
use crate::sandbox::Sandbox;

impl Bash {
    /// The tool definition for commands without confinement.
    #[must_use]
    pub fn definition() -> ToolDefinition {
        Self::described("Has no effect: commands are not sandboxed.")
    }

    /// The tool definition for commands confined by a sandbox.
    #[must_use]
    pub fn definition_in(sandbox: &Sandbox) -> ToolDefinition {
        Self::described(match sandbox.confinement().allow_outside {
            true => {
                "Runs the command outside of the sandbox, if it may: somebody may be asked. Only for a command that the \
                 sandbox kept from its work (see sandbox_violations in its result)."
            }
            false => "Must not be set: every command runs in the sandbox.",
        })
    }

    fn described(outside: &str) -> ToolDefinition {
        let schema = json!({
            "type": "object",
            "properties": {
                "command": { "type": "string", "description": "The command, as bash reads it." },
                "timeout": {
                    "type": "number",
                    "description": "Milliseconds after which the command is stopped; 120000 if not given, 600000 at most."
                },
                "description": { "type": "string", "description": "What the command does, in five to ten words." },
                "run_in_background": {
                    "type": "boolean",
                    "description": "Goes on without waiting for the command, which then has no time limit. TaskOutput reads what it puts out, TaskStop stops it; it ends with the session."
                },
                "dangerouslyDisableSandbox": { "type": "boolean", "description": outside }
            },
            "required": ["command"],
            "additionalProperties": false
        });
        ToolDefinition {
            annotations: Annotations {
                destructive: true,
                open_world: true,
                ..Annotations::default()
            },
            command_param: Some("command".to_owned()),
            background_param: Some(BACKGROUND.to_owned()),
            outside_param: Some(OUTSIDE.to_owned()),
            timeout_ms: Some(EDGE_MS),
            ..ToolDefinition::new(
                "Bash",
                "Runs a command in bash. The first begins in the working directory, each later one where the last ended, if \
                 that is in the workspace; variables last as well. Standard input is empty. Processes left in the background end with the \
                 command: what is to go on has run_in_background. Of long output the beginning and the end are shown. For reading, searching and editing \
                 files use the tools made for it.",
                RawJson::parse(schema.to_string()).unwrap_or_else(|_| RawJson::empty_object()),
            )
        }
    }
}
