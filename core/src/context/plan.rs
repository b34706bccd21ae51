//! The reminder for the model in plan mode.

use alloc::{format, string::String};

use serde::{Deserialize, Serialize};

/// The reminder that goes with each prompt in plan mode, so that the model plans from the start and does not learn of the mode
/// from denied calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlanReminder {
    /// How to arrive at a plan, replacing the usual instructions (Agent SDK reference, `planModeInstructions`). The text around
    /// it says what is not allowed and how to present a plan.
    pub instructions: Option<String>,
}

const USUAL: &str = "\
First find out: read the code that the request concerns, look for what is there already and can be used. Where two ways are \
open and the choice is the user's, ask. Then write the plan: what will change and where, in which order, and how it will be \
checked. Leave out what goes without saying.";

impl PlanReminder {
    /// The text of the reminder. `can_present`: whether there is a tool to present the plan (ExitPlanMode).
    #[must_use]
    pub fn text(&self, can_present: bool) -> String {
        let own = self.instructions.as_deref().map(str::trim);
        let way = own.filter(|text| !text.is_empty()).unwrap_or(USUAL);
        let end = if can_present {
            "When the plan is ready, present it with ExitPlanMode and wait: the user decides whether it is carried out."
        } else {
            "When the plan is ready, present it as your answer."
        };
        format!(
            "<system-reminder>\nPlan mode is on: the user wants a plan, not the work itself. Until they have agreed, change nothing: \
             no edits, no commands that leave anything behind, no commits. Reading and searching are free.\n\n{way}\n\n{end}\n</system-reminder>"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_instructions_stand_between_what_is_forbidden_and_how_to_present() {
        let usual = PlanReminder::default().text(true);
        assert!(usual.contains("First find out") && usual.contains("ExitPlanMode"));
        let own = PlanReminder {
            instructions: Some(" Ask three questions. ".into()),
        };
        let text = own.text(false);
        assert!(text.starts_with("<system-reminder>") && text.contains("change nothing"));
        assert!(text.contains("\n\nAsk three questions.\n\n"));
        assert!(!text.contains("First find out") && !text.contains("ExitPlanMode"));
    }
}
