//! Parses words into flags.

use windlass_core::{
    hook::input::SetupTrigger,
    money::Usd,
    permission::{Mode, nearest_name},
    spec::{Thinking, ThinkingDisplay},
};

use crate::settings::SandboxSettings;

use super::{
    FlagError, Flags, PluginDir, Provider,
    value::{effort, rules_of, words_of},
};

/// What a flag takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Value,
    /// A value, unless a flag follows.
    MaybeValue,
    /// A value, and all words up to the next flag.
    Values,
}

impl Flags {
    /// Reads the words of a command line, without the program's name.
    ///
    /// # Errors
    /// [`FlagError`] for the first missing or invalid value, or for a word that belongs to no flag. Such a word may have been
    /// meant as a restriction, so it is not ignored.
    pub fn parse(words: &[String]) -> Result<Self, FlagError> {
        let mut flags = Self::default();
        let mut words = words.iter().peekable();
        while let Some(word) = words.next() {
            let Some((name, given)) = parts(word) else {
                flags.no_name(word)?;
                continue;
            };
            let name = &name;
            let Some(takes) = takes(name) else {
                if let Some(meant) = nearest_name(name, &FORBIDDING) {
                    return Err(FlagError::unknown(word, meant));
                }
                flags.unknown.push(word.clone());
                // The arity of an unknown flag is not known: skip all words that could be its values.
                if given.is_none() {
                    while words.next_if(|next| !next.starts_with('-')).is_some() {}
                }
                continue;
            };
            let needed = |word: Option<&String>| {
                word.cloned().ok_or_else(|| FlagError {
                    flag: name.clone(),
                    problem: "needs a value".to_owned(),
                })
            };
            let value = match (takes, given) {
                (Takes::Value, None) => Some(needed(words.next())?),
                // List items never begin like a flag. Taking a flag as an item would lose a rule.
                (Takes::Values, None) => {
                    Some(needed(words.next_if(|next| !next.starts_with('-')))?)
                }
                (Takes::MaybeValue, None) => words.next_if(|next| !next.starts_with('-')).cloned(),
                (_, given) => {
                    flags.set(name, given)?;
                    continue;
                }
            };
            flags.set(name, value)?;
            while takes == Takes::Values
                && let Some(more) = words.next_if(|next| !next.starts_with('-'))
            {
                flags.set(name, Some(more.clone()))?;
            }
        }
        Ok(flags)
    }

    /// Handles a word that does not name a flag.
    fn no_name(&mut self, word: &str) -> Result<(), FlagError> {
        match word {
            "" => {}
            _ if word.starts_with('-') => self.unknown.push(word.to_owned()),
            _ => return Err(FlagError::stray(word)),
        }
        Ok(())
    }

    fn set(&mut self, name: &str, value: Option<String>) -> Result<(), FlagError> {
        let text = value.clone().unwrap_or_default();
        let some = |text: String| Some(text).filter(|text| !text.is_empty());
        let wrong = |problem: String| FlagError {
            flag: name.to_owned(),
            problem,
        };
        let number = |text: &str| {
            text.parse::<u32>()
                .map_err(|_| wrong(format!("takes a whole number, not `{text}`")))
        };
        match name {
            "version" => self.version = true,
            "replay-user-messages" => self.replay_user_messages = true,
            "include-partial-messages" => self.include_partial_messages = true,
            "include-hook-events" => self.include_hook_events = true,
            "model" => self.model = some(text).filter(|model| model != "default"),
            "provider" => {
                self.provider = match text.as_str() {
                    "anthropic" => Provider::Anthropic,
                    "openai" => Provider::OpenAi,
                    _ => return Err(wrong(format!("takes anthropic or openai, not `{text}`"))),
                }
            }
            "base-url" => self.base_url = some(text),
            "ca-file" => self.ca_file = some(text),
            "fallback-model" => self.fallback_model = some(text),
            "betas" => self.betas.extend(words_of(&text)),
            "effort" => {
                self.effort = Some(effort(&text).ok_or_else(|| {
                    wrong(format!(
                        "takes low, medium, high, xhigh or max, not `{text}`"
                    ))
                })?)
            }
            "thinking" => match text.as_str() {
                "adaptive" => self.thinking = Some(Thinking::Adaptive),
                "disabled" => self.thinking = Some(Thinking::Disabled),
                "enabled" => {
                    self.thinking = Some(Thinking::Enabled {
                        budget_tokens: None,
                    })
                }
                _ => {
                    let problem = format!("takes adaptive, enabled or disabled, not `{text}`");
                    return Err(wrong(problem));
                }
            },
            "max-thinking-tokens" => {
                self.thinking = Some(Thinking::from_options(self.thinking, Some(number(&text)?)));
            }
            "system-prompt" => self.system_prompt = Some(text),
            "system-prompt-file" => self.system_prompt_file = some(text),
            "append-system-prompt" => self.append_system_prompt.extend(some(text)),
            "append-system-prompt-file" => self.append_system_prompt_file = some(text),
            "tools" => self.tools.get_or_insert_default().extend(rules_of(&text)),
            "allowed-tools" => self.allowed_tools.extend(rules_of(&text)),
            "disallowed-tools" => self.disallowed_tools.extend(rules_of(&text)),
            "max-turns" => self.max_turns = Some(number(&text)?).filter(|turns| *turns > 0),
            "max-budget-usd" => {
                let amount = Usd::parse(&text);
                self.max_budget = Some(amount.ok_or_else(|| {
                    wrong(format!(
                        "takes an amount in dollars like 0.25, not `{text}`"
                    ))
                })?);
            }
            "permission-mode" => {
                self.permission_mode = Some(Mode::parse(&text).ok_or_else(|| {
                    let names: Vec<&str> = Mode::ALL.into_iter().map(Mode::name).collect();
                    wrong(format!("takes {}, not `{text}`", names.join(", ")))
                })?);
            }
            "sandbox" => self.sandbox = Some(SandboxSettings::parse(&text).map_err(wrong)?),
            "permission-prompt-tool" => self.permission_prompt_tool = some(text),
            "allow-dangerously-skip-permissions" => self.allow_bypass = true,
            "dangerously-skip-permissions" => self.bypass = true,
            "json-schema" => self.json_schema = some(text),
            "agent" => self.agent = some(text),
            "agents" => self.agents = some(text),
            "continue" => self.continue_session = true,
            // Without an id, starting a new session would not be what the user asked for.
            "resume" if value.is_none() => {
                let problem = "needs the id of a session: `windlass sessions list` names them";
                return Err(wrong(problem.to_owned()));
            }
            "resume" => self.resume = some(text),
            "name" => self.name = Some(text).filter(|name| !name.trim().is_empty()),
            "bare" => self.bare = true,
            "session-id" => self.session_id = some(text),
            "fork-session" => self.fork_session = true,
            // Empty values are kept; the code that resumes the session interprets them.
            "resume-session-at" => self.resume_session_at = Some(text),
            "resume-drops-turn" => self.resume_drops_turn = Some(text),
            "no-session-persistence" => self.no_session_persistence = true,
            "session-mirror" => self.session_mirror = true,
            "init" => self.setup = Some(SetupTrigger::Init),
            "maintenance" => self.setup = Some(SetupTrigger::Maintenance),
            "settings" => self.settings = some(text),
            "managed-settings" => self.managed_settings = some(text),
            "setting-sources" => {
                let sources = self.setting_sources.get_or_insert_default();
                sources.extend(words_of(&text));
            }
            "project-config-root" => self.project_config_root = some(text),
            "add-dir" => self.add_dirs.extend(some(text)),
            "mcp-config" => self.mcp_configs.extend(some(text)),
            "strict-mcp-config" => self.strict_mcp_config = true,
            "thinking-display" => {
                let display = ThinkingDisplay::parse(&text);
                self.thinking_display =
                    Some(display.ok_or_else(|| {
                        wrong(format!("takes summarized or omitted, not `{text}`"))
                    })?);
            }
            "task-budget" => self.task_budget = Some(number(&text)?).filter(|total| *total > 0),
            "permission-prompts" => {
                self.asks_nobody = match text.as_str() {
                    "host" => false,
                    "none" => true,
                    _ => return Err(wrong(format!("takes host or none, not `{text}`"))),
                }
            }
            "plugin-dir" | "plugin-dir-no-mcp" => {
                self.plugin_dirs.extend(some(text).map(|path| PluginDir {
                    path,
                    without_servers: name == "plugin-dir-no-mcp",
                }));
            }
            "no-plugins" => self.no_plugins = true,
            "components-only" => self.components_only = true,
            "channels" => self.ignored.push(name.to_owned()),
            "debug" => {
                self.debug = true;
                self.debug_topics.extend(words_of(&text));
            }
            "debug-to-stderr" => self.debug = true,
            "debug-file" => self.debug_file = some(text),
            "await-initialize" => self.await_initialize = true,
            // No effect here: implied by being an engine, or about features that are not supported.
            _ => {}
        }
        Ok(())
    }
}

/// Flags that restrict or leave out something. A name that resembles one of these is taken for a typing error, not for a flag
/// of a later SDK.
const FORBIDDING: [&str; 13] = [
    "bare",
    "disallowed-tools",
    "managed-settings",
    "max-budget-usd",
    "max-turns",
    "no-plugins",
    "no-session-persistence",
    "permission-mode",
    "sandbox",
    "setting-sources",
    "settings",
    "strict-mcp-config",
    "tools",
];

/// Short flags and their long forms.
const LETTERS: [(&str, &str); 6] = [
    ("-c", "continue"),
    ("-d", "debug"),
    ("-n", "name"),
    ("-p", "print"),
    ("-r", "resume"),
    ("-v", "version"),
];

/// Splits a word into the name of a flag and the value in the same word: after `=`, or directly after a short flag that takes
/// one (`-rID`). `None` if the word does not name a flag.
fn parts(word: &str) -> Option<(String, Option<String>)> {
    if let Some(long) = word.strip_prefix("--").filter(|long| !long.is_empty()) {
        return Some(match long.split_once('=') {
            Some((name, value)) => (spelled(name), Some(value.to_owned())),
            None => (spelled(long), None),
        });
    }
    let (rest, name) = (LETTERS.iter())
        .find_map(|(letter, name)| word.strip_prefix(letter).map(|rest| (rest, *name)))?;
    match rest {
        "" => Some((name.to_owned(), None)),
        rest if matches!(name, "name" | "resume") => {
            let value = rest.strip_prefix('=').unwrap_or(rest);
            Some((name.to_owned(), Some(value.to_owned())))
        }
        _ => None,
    }
}

/// The normalised name of a flag: `allowedTools` becomes `allowed-tools`. The SDKs use both forms.
fn spelled(name: &str) -> String {
    let mut spelled = String::with_capacity(name.len());
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            spelled.push('-');
        }
        spelled.push(letter.to_ascii_lowercase());
    }
    spelled
}

/// What a flag takes; `None` if it is unknown.
fn takes(name: &str) -> Option<Takes> {
    Some(match name {
        "print"
        | "verbose"
        | "version"
        | "continue"
        | "fork-session"
        | "session-mirror"
        | "init"
        | "maintenance"
        | "no-session-persistence"
        | "strict-mcp-config"
        | "bare"
        | "include-partial-messages"
        | "include-hook-events"
        | "replay-user-messages"
        | "await-initialize"
        | "allow-dangerously-skip-permissions"
        | "dangerously-skip-permissions"
        | "managed-settings-in-initialize"
        | "components-only"
        | "no-plugins"
        | "debug-to-stderr" => Takes::Nothing,
        "debug" | "resume" => Takes::MaybeValue,
        "input-format"
        | "output-format"
        | "provider"
        | "base-url"
        | "ca-file"
        | "model"
        | "fallback-model"
        | "effort"
        | "thinking"
        | "max-thinking-tokens"
        | "thinking-display"
        | "system-prompt"
        | "system-prompt-file"
        | "append-system-prompt"
        | "append-system-prompt-file"
        | "max-turns"
        | "max-budget-usd"
        | "task-budget"
        | "permission-mode"
        | "permission-prompt-tool"
        | "permission-prompts"
        | "json-schema"
        | "agent"
        | "agents"
        | "session-id"
        | "name"
        | "resume-session-at"
        | "resume-drops-turn"
        | "settings"
        | "managed-settings"
        | "project-config-root"
        | "sandbox"
        | "channels"
        | "plugin-dir"
        | "plugin-dir-no-mcp"
        | "debug-file"
        | "initialize-fields" => Takes::Value,
        "add-dir" | "allowed-tools" | "betas" | "disallowed-tools" | "mcp-config"
        | "setting-sources" | "tools" => Takes::Values,
        _ => return None,
    })
}
