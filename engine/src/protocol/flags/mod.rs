//! The command line with which the SDKs start an engine.
//!
//! The Python SDK writes `--flag value`, the TypeScript SDK `--flag=value`; both forms are read for every flag, empty values
//! too, and every name in both spellings, `--allowedTools` and `--allowed-tools`; the letters of the command line (`-c`, `-r ID`)
//! are those flags. What stands behind a flag that takes a
//! value is its value, whatever it looks like; a flag that takes a list takes the words behind it, too, up to the next flag. A
//! flag that this version does not know is reported and passed over, with all that could be meant for it, so that an engine
//! outlives the SDK it was written for. A word that belongs to no flag ends the reading: nothing that was said is dropped.

mod read;
#[cfg(test)]
mod tests;
mod value;

use windlass_core::{
    hook::input::SetupTrigger,
    money::Usd,
    permission::Mode,
    spec::{Effort, Thinking, ThinkingDisplay},
};

pub use self::value::{effort, rules_of};
use crate::settings::SandboxSettings;

/// Whose API a model server speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Provider {
    /// Anthropic's Messages API.
    #[default]
    Anthropic,
    /// OpenAI's chat completions.
    OpenAi,
}

/// What the flags say. Nothing stands for a flag that was not there.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Flags {
    /// `--version`: say which, and end.
    pub version: bool,
    /// `--replay-user-messages`: each prompt is repeated when it is taken in.
    pub replay_user_messages: bool,
    /// `--include-partial-messages`.
    pub include_partial_messages: bool,
    /// `--include-hook-events`.
    pub include_hook_events: bool,
    /// `--provider`: `anthropic`, or `openai` for chat completions.
    pub provider: Provider,
    /// `--base-url`: the model server's address.
    pub base_url: Option<String>,
    /// `--ca-file`: certificates in PEM form that are trusted beside the system's.
    pub ca_file: Option<String>,
    /// `--model`.
    pub model: Option<String>,
    /// `--fallback-model`.
    pub fallback_model: Option<String>,
    /// `--betas`.
    pub betas: Vec<String>,
    /// `--effort`.
    pub effort: Option<Effort>,
    /// `--thinking`, `--max-thinking-tokens`.
    pub thinking: Option<Thinking>,
    /// `--thinking-display`.
    pub thinking_display: Option<ThinkingDisplay>,
    /// `--task-budget`, in tokens.
    pub task_budget: Option<u32>,
    /// `--permission-prompts=none`: nobody is asked, whoever could be.
    pub asks_nobody: bool,
    /// `--system-prompt`; an empty one is none at all.
    pub system_prompt: Option<String>,
    /// `--system-prompt-file`.
    pub system_prompt_file: Option<String>,
    /// `--append-system-prompt`.
    pub append_system_prompt: Vec<String>,
    /// `--append-system-prompt-file`.
    pub append_system_prompt_file: Option<String>,
    /// `--tools`: names; `default` for all, an empty list for none.
    pub tools: Option<Vec<String>>,
    /// `--allowedTools`: rules.
    pub allowed_tools: Vec<String>,
    /// `--disallowedTools`: rules.
    pub disallowed_tools: Vec<String>,
    /// `--max-turns`.
    pub max_turns: Option<u32>,
    /// `--max-budget-usd`.
    pub max_budget: Option<Usd>,
    /// `--permission-mode`.
    pub permission_mode: Option<Mode>,
    /// `--sandbox`: how commands are confined.
    pub sandbox: Option<SandboxSettings>,
    /// `--permission-prompt-tool`: `stdio` for the SDK itself, else the name of an MCP tool.
    pub permission_prompt_tool: Option<String>,
    /// `--allow-dangerously-skip-permissions`: the mode may be changed to bypassPermissions.
    pub allow_bypass: bool,
    /// `--dangerously-skip-permissions`: begin in that mode.
    pub bypass: bool,
    /// `--json-schema`.
    pub json_schema: Option<String>,
    /// `--agent`: the agent as which the main thread runs.
    pub agent: Option<String>,
    /// `--agents`: agents as a JSON object.
    pub agents: Option<String>,
    /// `--continue`: the newest session of the working directory goes on.
    pub continue_session: bool,
    /// `--resume`.
    pub resume: Option<String>,
    /// `--session-id`.
    pub session_id: Option<String>,
    /// `--fork-session`.
    pub fork_session: bool,
    /// `--resume-session-at`.
    pub resume_session_at: Option<String>,
    /// `--resume-drops-turn`.
    pub resume_drops_turn: Option<String>,
    /// `--no-session-persistence`.
    pub no_session_persistence: bool,
    /// `--session-mirror`.
    pub session_mirror: bool,
    /// `--init` or `--maintenance`: `Setup` hooks run before the first prompt.
    pub setup: Option<SetupTrigger>,
    /// `--settings`: JSON, or a file.
    pub settings: Option<String>,
    /// `--managed-settings`: JSON.
    pub managed_settings: Option<String>,
    /// `--setting-sources`: names; an empty list for none.
    pub setting_sources: Option<Vec<String>>,
    /// `--project-config-root`.
    pub project_config_root: Option<String>,
    /// `--add-dir`.
    pub add_dirs: Vec<String>,
    /// `--mcp-config`: JSON or files.
    pub mcp_configs: Vec<String>,
    /// `--strict-mcp-config`: no other MCP servers than those.
    pub strict_mcp_config: bool,
    /// `--bare`: nothing of the files of person and project, whatever else is said ([`sources`](Self::sources),
    /// [`only_given_servers`](Self::only_given_servers)).
    pub bare: bool,
    /// `--name`: the name of the session, also of one that goes on.
    pub name: Option<String>,
    /// Flags that ask for what there is none of here, without their dashes.
    pub ignored: Vec<String>,
    /// `--debug`, `-d`, `--debug-to-stderr`: what happens is told on standard error.
    pub debug: bool,
    /// The topics behind `--debug`: those that are told, and with `!` in front those that are not; none for all.
    pub debug_topics: Vec<String>,
    /// `--debug-file`: what happens is told there.
    pub debug_file: Option<String>,
    /// `--await-initialize`: nothing is set up before `initialize` has come.
    pub await_initialize: bool,
    /// What this version does not know, as it was written.
    pub unknown: Vec<String>,
}

impl Flags {
    /// Whose settings and files are read, by their names; nothing where it was not said.
    #[must_use]
    pub fn sources(&self) -> Option<&[String]> {
        match self.bare {
            true => Some(&[]),
            false => self.setting_sources.as_deref(),
        }
    }

    /// Whether there are no other MCP servers than those that flags name.
    #[must_use]
    pub fn only_given_servers(&self) -> bool {
        self.bare || self.strict_mcp_config
    }
}

/// A command line that cannot be followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", named(flag))]
pub struct FlagError {
    /// The flag; empty for a word that belongs to none.
    pub flag: String,
    /// What is wrong with it, and what would be right.
    pub problem: String,
}

impl FlagError {
    /// A flag that is nearly another one, by which something is forbidden.
    fn unknown(word: &str, meant: &str) -> Self {
        Self {
            flag: String::new(),
            problem: format!("the option {word} is not known: did you mean --{meant}?"),
        }
    }

    fn stray(word: &str) -> Self {
        Self {
            flag: String::new(),
            problem: format!(
                "the word `{word}` belongs to no option: behind `--option=value` further values need the option again"
            ),
        }
    }
}

fn named(flag: &str) -> String {
    match flag {
        "" => String::new(),
        flag => format!("option '--{flag}': "),
    }
}

/// Whether these words, without the program's name, start an engine: input as a stream of JSON.
#[must_use]
pub fn asks_for_engine(words: &[String]) -> bool {
    words
        .iter()
        .enumerate()
        .any(|(at, word)| match word.as_str() {
            "--input-format=stream-json" => true,
            "--input-format" => words
                .get(at + 1)
                .is_some_and(|value| value == "stream-json"),
            _ => false,
        })
}
