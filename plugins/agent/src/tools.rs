//! The file tools, in process, inside the grant of each call.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Deserialize;
use windlass_core::{
    RawJson,
    effect::ResolvedPath,
    sorted::SortedMap,
    tool::{Observation, ResultBlock, ToolCall, ToolDefinition, ToolResult},
};
use windlass_plugin::{
    Content, Entry, EntryKind, Root, Workspace, bindings::windlass::host::filesystem, entries,
};

use crate::granted::GrantedTree;

/// The definitions of the tools.
///
/// # Errors
/// Never in a built component: the declaration is checked when the tools are tested.
pub(crate) fn definitions() -> Result<Vec<ToolDefinition>, String> {
    #[derive(Deserialize)]
    struct Declaration {
        tools: Vec<ToolDefinition>,
    }
    let declaration = RawJson::parse(windlass_files::DECLARATION)
        .and_then(|json| json.decode::<Declaration>())
        .map_err(|error| format!("the declaration of the file tools is broken: {error}"))?;
    Ok(declaration.tools)
}

/// The directories of the component, and the tools that use them.
#[derive(Debug)]
pub(crate) struct Tools {
    workspace: Workspace<filesystem::Directory>,
    cwd: String,
    /// Rules refer to real paths, and the component cannot see where a link leads. If there are such rules, a path through a
    /// link is refused.
    refuse_links: bool,
}

impl Tools {
    /// The tools with the directories that the host has granted.
    pub(crate) fn granted(cwd: &str, refuse_links: bool) -> Self {
        let roots = filesystem::roots().into_iter().map(|root| Root {
            path: root.path,
            access: root.access,
            tree: root.directory,
        });
        Self {
            workspace: Workspace::new(roots.collect(), cwd),
            cwd: cwd.to_owned(),
            refuse_links,
        }
    }

    /// The absolute form of a path.
    pub(crate) fn resolve(&self, path: &str) -> Result<ResolvedPath, String> {
        let path = self
            .workspace
            .absolute(path)
            .map_err(|error| error.to_string())?;
        if self.refuse_links && self.leads_through_link(&path) {
            return Err(format!(
                "{path} is or leads through a link, which is not followed while there are permission rules for paths."
            ));
        }
        Ok(ResolvedPath::at(path))
    }

    fn leads_through_link(&self, absolute: &str) -> bool {
        let Ok(place) = self.workspace.resolve(absolute) else {
            return false; // outside of everything, where nothing can be reached
        };
        let mut parent = String::new();
        for name in place.relative.split('/').filter(|name| !name.is_empty()) {
            // What cannot be listed does not exist, and neither does anything below it.
            let Ok(listed) = entries(place.tree, &parent, false) else {
                return false;
            };
            let is_link = |entry: &Entry| entry.name == name && entry.kind == EntryKind::Symlink;
            if listed.iter().any(is_link) {
                return true;
            }
            if !parent.is_empty() {
                parent.push('/');
            }
            parent.push_str(name);
        }
        false
    }

    /// Runs a call.
    pub(crate) fn call(&self, call: &ToolCall) -> ToolResult {
        let roots = self.workspace.roots().iter().map(|root| Root {
            path: root.path.clone(),
            access: root.access,
            tree: GrantedTree {
                tree: &root.tree,
                path: &root.path,
                grant: &call.grant,
            },
        });
        let workspace = Workspace::new(roots.collect(), &self.cwd);
        match windlass_files::call(&to_guest(call), &workspace) {
            Ok(result) => from_guest(result),
            Err(error) => ToolResult::error(error.to_string()),
        }
    }
}

fn to_guest(call: &ToolCall) -> windlass_plugin::ToolCall {
    let observed = call
        .observed
        .iter()
        .map(|seen| windlass_plugin::Observation {
            path: seen.path.clone(),
            digest: seen.digest.clone(),
            whole: seen.whole,
        });
    windlass_plugin::ToolCall {
        name: call.name.clone(),
        input: call.input.get().to_owned(),
        observed: observed.collect(),
    }
}

fn from_guest(result: windlass_plugin::ToolResult) -> ToolResult {
    let block = |content| match content {
        Content::Text(text) => ResultBlock::Text { text },
        Content::Image(image) => {
            ResultBlock::image(&image.media_type, STANDARD.encode(&image.data))
        }
    };
    let observation = |seen: windlass_plugin::Observation| Observation {
        path: seen.path,
        digest: seen.digest,
        whole: seen.whole,
    };
    ToolResult {
        content: result.content.into_iter().map(block).collect(),
        is_error: result.is_error,
        structured: result.structured.and_then(|json| RawJson::parse(json).ok()),
        observed: result.observed.into_iter().map(observation).collect(),
        // The built-in tools run no commands and ask no models.
        shell: None,
        model_usage: SortedMap::new(),
    }
}
