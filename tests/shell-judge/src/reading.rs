//! What is judged: a way to let lines pass and to run them.

use crate::{
    permissions::Permissions,
    run::{Outcome, Shell},
    stage::Stage,
};

/// Lets lines pass, and says how those that passed run.
pub trait Reading: Sync {
    /// Every form in which a line runs that passes; none when somebody would be asked about it.
    fn passes(&self, line: &str, permissions: &Permissions, stage: &Stage) -> Option<Vec<Form>>;

    /// Whether each form must come to what bash makes of the text.
    fn promises_same_result(&self) -> bool;
}

/// A form in which a line runs.
pub struct Form {
    /// What findings call it.
    pub label: String,
    /// Whether its messages are those of bash.
    pub speaks_bash: bool,
    pub(crate) work: Work,
}

/// Runs a line in a stage, by other means than a shell.
pub type Native = Box<dyn Fn(&Stage) -> std::io::Result<Outcome>>;

pub(crate) enum Work {
    Shell(Shell, String),
    Native(Native),
    /// It records itself what ran, and changes no file of the stage.
    InMemory(Native),
}

impl std::fmt::Debug for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.label)
    }
}

impl Form {
    /// Whether it is a text that was printed anew.
    pub(crate) fn is_printed(&self) -> bool {
        matches!(self.work, Work::Shell(..))
    }

    /// A text that a shell runs.
    #[must_use]
    pub fn in_shell(shell: Shell, text: String) -> Self {
        Self {
            label: format!("{} runs {text:?}", shell.name()),
            speaks_bash: shell == Shell::Bash,
            work: Work::Shell(shell, text),
        }
    }

    /// A line that something runs which changes nothing of the stage, and says itself what came of it.
    #[must_use]
    pub fn in_memory(label: String, work: Native) -> Self {
        Self {
            label,
            speaks_bash: true,
            work: Work::InMemory(work),
        }
    }

    /// A line that the host runs.
    #[must_use]
    pub fn native(work: Native) -> Self {
        Self {
            label: "the host runs it".to_owned(),
            speaks_bash: true,
            work: Work::Native(work),
        }
    }
}
