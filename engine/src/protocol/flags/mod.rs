//! The command line with which the SDKs start an engine.
//!
//! The Python SDK writes `--flag value`, the TypeScript SDK `--flag=value`. Both forms are accepted for every flag, including
//! empty values, and every name in both spellings, `--allowedTools` and `--allowed-tools`; short flags (`-c`, `-r ID`) stand
//! for their long forms. The word after a flag that takes a value is always its value, whatever it looks like. A flag that
//! takes a list also takes the following words, up to the next flag. An unknown flag is reported and ignored together with
//! the words that could be its values, so that an engine keeps working with later SDKs. A word that belongs to no flag is an
//! error, so that nothing is dropped silently.

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

use serde::Deserialize;

pub use self::value::{effort, rules_of};
use crate::settings::SandboxSettings;

/// The API of a model server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Provider {
    /// Anthropic's Messages API.
    #[default]
    Anthropic,
    /// OpenAI's chat completions.
    OpenAi,
}

/// The parsed command line. Absent flags have their default values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Flags {
    /// `--version`: print the version and exit.
    pub version: bool,
    /// `--replay-user-messages`: repeat each prompt when it is taken in.
    pub replay_user_messages: bool,
    /// `--include-partial-messages`.
    pub include_partial_messages: bool,
    /// `--include-hook-events`.
    pub include_hook_events: bool,
    /// `--provider`: `anthropic`, or `openai` for chat completions.
    pub provider: Provider,
    /// `--base-url`: the model server's address.
    pub base_url: Option<String>,
    /// `--ca-file`: PEM certificates that are trusted in addition to the system's.
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
    /// `--permission-prompts=none`: never ask for permission.
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
    /// `--allowedTools`: permission rules.
    pub allowed_tools: Vec<String>,
    /// `--disallowedTools`: permission rules.
    pub disallowed_tools: Vec<String>,
    /// `--max-turns`.
    pub max_turns: Option<u32>,
    /// `--max-budget-usd`.
    pub max_budget: Option<Usd>,
    /// `--permission-mode`.
    pub permission_mode: Option<Mode>,
    /// `--sandbox`: sandbox settings for commands.
    pub sandbox: Option<SandboxSettings>,
    /// `--permission-prompt-tool`: `stdio` for the SDK itself, else the name of an MCP tool.
    pub permission_prompt_tool: Option<String>,
    /// `--allow-dangerously-skip-permissions`: the mode may be changed to bypassPermissions.
    pub allow_bypass: bool,
    /// `--dangerously-skip-permissions`: start in that mode.
    pub bypass: bool,
    /// `--json-schema`.
    pub json_schema: Option<String>,
    /// `--agent`: the agent as which the main thread runs.
    pub agent: Option<String>,
    /// `--agents`: agent definitions as a JSON object.
    pub agents: Option<String>,
    /// `--continue`: resume the most recent session of the working directory.
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
    /// `--init` or `--maintenance`: run `Setup` hooks before the first prompt.
    pub setup: Option<SetupTrigger>,
    /// `--settings`: JSON, or the path of a file.
    pub settings: Option<String>,
    /// `--managed-settings`: JSON.
    pub managed_settings: Option<String>,
    /// `--setting-sources`: names; an empty list for none.
    pub setting_sources: Option<Vec<String>>,
    /// `--project-config-root`.
    pub project_config_root: Option<String>,
    /// `--add-dir`.
    pub add_dirs: Vec<String>,
    /// `--plugin-dir`, `--plugin-dir-no-mcp`.
    pub plugin_dirs: Vec<PluginDir>,
    /// `--components-only`: of plugins, load the sandboxed components and the Markdown files, and nothing that runs with the
    /// rights of the user.
    pub components_only: bool,
    /// `--no-plugins`: load no installed plugins, only those that are named ([`wants_installed_plugins`](Self::wants_installed_plugins)).
    pub no_plugins: bool,
    /// `--mcp-config`: JSON, or paths of files.
    pub mcp_configs: Vec<String>,
    /// `--strict-mcp-config`: use no other MCP servers than those of `--mcp-config`.
    pub strict_mcp_config: bool,
    /// `--bare`: read no files of the user or the project, regardless of other flags ([`sources`](Self::sources),
    /// [`only_given_servers`](Self::only_given_servers)).
    pub bare: bool,
    /// `--name`: the name of the session, whether new or resumed.
    pub name: Option<String>,
    /// Flags for features that are not supported, without their dashes.
    pub ignored: Vec<String>,
    /// `--debug`, `-d`, `--debug-to-stderr`: write debug lines to standard error.
    pub debug: bool,
    /// The topics after `--debug`: those to write, or with a leading `!` those to leave out; empty for all.
    pub debug_topics: Vec<String>,
    /// `--debug-file`: write debug lines to this file.
    pub debug_file: Option<String>,
    /// `--await-initialize`: set nothing up before `initialize` arrives.
    pub await_initialize: bool,
    /// Unknown flags, as written.
    pub unknown: Vec<String>,
}

impl Flags {
    /// The names of the setting sources to read; `None` if not specified.
    #[must_use]
    pub fn sources(&self) -> Option<&[String]> {
        match self.bare {
            true => Some(&[]),
            false => self.setting_sources.as_deref(),
        }
    }

    /// Whether the plugins are loaded that the user has installed: they are the user's, as the user's settings are.
    #[must_use]
    pub fn wants_installed_plugins(&self) -> bool {
        let sources = self.sources();
        let has_user = sources.is_none_or(|sources| sources.iter().any(|source| source == "user"));
        has_user && !self.no_plugins
    }

    /// Whether only MCP servers named by flags are used.
    #[must_use]
    pub fn only_given_servers(&self) -> bool {
        self.bare || self.strict_mcp_config
    }
}

/// A plugin that is to be loaded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PluginDir {
    /// Its folder, or a component file.
    pub path: String,
    /// Whether its MCP servers are left out.
    #[serde(default, rename = "skipMcpDiscovery")]
    pub without_servers: bool,
}

/// An invalid command line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", named(flag))]
pub struct FlagError {
    /// The flag; empty for a word that belongs to no flag.
    pub flag: String,
    /// The problem, and how to fix it.
    pub problem: String,
}

impl FlagError {
    /// An unknown flag that resembles a restricting one.
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

/// Whether these words, without the program's name, start an engine: whether the input is a stream of JSON.
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
