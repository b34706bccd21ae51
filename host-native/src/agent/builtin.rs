//! The tools that come with windlass.

#[cfg(unix)]
use std::sync::Arc;

use super::{
    BuildError, components::Components, offered_tool::OfferedTool, read_settings::Variables,
};
#[cfg(unix)]
use crate::bash::{Bash, OutputDirectory};
use crate::sandbox::Sandbox;
use crate::web::WebTools;

/// The selection of built-in tools of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Selection {
    None,
    All,
    Named(Vec<String>),
}

/// What the built-in tools work with.
#[cfg_attr(
    not(unix),
    allow(dead_code, reason = "there is no shell on this system")
)]
pub(super) struct With<'a> {
    pub(super) sandbox: Option<&'a Sandbox>,
    pub(super) variables: &'a Variables,
    pub(super) web: &'a WebTools,
    /// Where commands leave output that is too long to be shown.
    #[cfg(unix)]
    pub(super) outputs: &'a OutputDirectory,
}

impl Selection {
    /// The selected tools. Only reads their declarations: wasmtime does not start before the first call.
    pub(super) fn take(
        self,
        components: &mut Components,
        with: &With<'_>,
    ) -> Result<Vec<OfferedTool>, BuildError> {
        let names = match self {
            Self::None => return Ok(Vec::new()),
            Self::Named(names) if names.is_empty() => return Ok(Vec::new()),
            Self::All => return all(components, with),
            Self::Named(names) => names,
        };
        let all = all(components, with)?;
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
fn all(components: &mut Components, with: &With<'_>) -> Result<Vec<OfferedTool>, BuildError> {
    let mut tools = components.built_in()?;
    #[cfg(unix)]
    {
        let bash = Bash::new()
            .with_variables(with.variables)
            .saving_in(with.outputs.clone());
        let shown = with.variables.get("BASH_MAX_OUTPUT_LENGTH");
        let bash = match shown.and_then(|bytes| bytes.parse().ok()) {
            Some(bytes) => bash.showing(bytes),
            None => bash,
        };
        tools.push(match with.sandbox {
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
    let of_web = with.web.all().into_iter();
    tools.extend(of_web.map(|(definition, runner)| OfferedTool { definition, runner }));
    Ok(tools)
}
