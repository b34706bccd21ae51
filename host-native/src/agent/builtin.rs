//! The tools that come with windlass.

#[cfg(unix)]
use std::sync::Arc;

use super::{
    BuildError, components::Components, offered_tool::OfferedTool, read_settings::Variables,
};
#[cfg(unix)]
use crate::bash::Bash;
use crate::sandbox::Sandbox;

/// The selection of built-in tools of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Selection {
    None,
    All,
    Named(Vec<String>),
}

impl Selection {
    /// The selected tools. Only reads their declarations: wasmtime does not start before the first call.
    pub(super) fn take(
        self,
        components: &mut Components,
        sandbox: Option<&Sandbox>,
        variables: &Variables,
    ) -> Result<Vec<OfferedTool>, BuildError> {
        let names = match self {
            Self::None => return Ok(Vec::new()),
            Self::Named(names) if names.is_empty() => return Ok(Vec::new()),
            Self::All => return all(components, sandbox, variables),
            Self::Named(names) => names,
        };
        let all = all(components, sandbox, variables)?;
        let is_known = |name: &&String| all.iter().any(|tool| tool.definition.name == **name);
        if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
            let known: Vec<&str> = all.iter().map(|t| t.definition.name.as_str()).collect();
            return Err(BuildError::UnknownTool {
                name: unknown.clone(),
                known: known.join(", "),
            });
        }
        Ok(all
            .into_iter()
            .filter(|tool| names.contains(&tool.definition.name))
            .collect())
    }
}

/// Every built-in tool, in the order in which they are offered.
fn all(
    components: &mut Components,
    sandbox: Option<&Sandbox>,
    variables: &Variables,
) -> Result<Vec<OfferedTool>, BuildError> {
    #[cfg_attr(not(unix), allow(unused_mut))]
    let mut tools = components.built_in()?;
    #[cfg(unix)]
    {
        let bash = Bash::new().with_variables(variables);
        tools.push(match sandbox {
            None => OfferedTool {
                definition: Bash::definition(),
                runner: Arc::new(bash),
            },
            Some(sandbox) => OfferedTool {
                definition: Bash::definition_in(sandbox),
                runner: Arc::new(bash.confined_by(sandbox.clone())),
            },
        });
    }
    #[cfg(not(unix))]
    let _ = (sandbox, variables);
    Ok(tools)
}
