//! Commands of a project and skills that a prompt begins with (`/review src`): what the session is told in its place.

use std::sync::Arc;

use windlass_core::{
    Input, Prompt,
    agent::AgentModel,
    content::Block,
    permission::{PermissionUpdate, Rule},
    spec::Spec,
};
use windlass_engine::project::ProjectFiles;

/// What prompts of a session may begin with.
pub(super) struct Commands {
    project: ProjectFiles,
    spec: Arc<Spec>,
}

/// A prompt, and what the session is told before it.
pub(super) struct Expanded {
    pub(super) prompt: Prompt,
    /// What the command allows.
    pub(super) allows: Option<Input>,
    /// The model that answers, where the command names one.
    pub(super) model: Option<String>,
}

impl Commands {
    pub(super) fn new(project: ProjectFiles, spec: Arc<Spec>) -> Self {
        Self { project, spec }
    }

    /// What becomes of a prompt: the text of the command that it begins with, or itself.
    pub(super) fn expand(&self, mut prompt: Prompt) -> Expanded {
        let text = only_text(&prompt);
        let invocation = text.as_deref().and_then(|text| self.project.expand(text));
        let (Some(text), Some(invocation)) = (text, invocation) else {
            return Expanded {
                prompt,
                allows: None,
                model: None,
            };
        };
        prompt.content = Prompt::text(&invocation.text).content;
        prompt.expanded_from = self.project.expansion(&text);
        let rules: Vec<_> = invocation.allowed_tools.iter().map(Rule::value).collect();
        let allows = (!rules.is_empty())
            .then(|| Input::UpdatePermissions(vec![PermissionUpdate::allow_in_session(rules)]));
        let model = invocation.model.map(|model| {
            let spec = &self.spec;
            let model = AgentModel::from(model);
            model.resolve(&spec.model, &spec.model_aliases).to_owned()
        });
        Expanded {
            prompt,
            allows,
            model,
        }
    }
}

/// The text of a prompt that is nothing but one.
fn only_text(prompt: &Prompt) -> Option<String> {
    let [block] = prompt.content.as_slice() else {
        return None;
    };
    match Block::from_raw(block.clone()) {
        Block::Text { text, .. } => Some(text),
        _ => None,
    }
}
