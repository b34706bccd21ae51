//! The command line with which the SDKs start an engine.
//!
//! The Python SDK writes `--flag value`, the TypeScript SDK `--flag=value`; both forms are read for every flag, empty values
//! too. What stands behind a flag that takes a value is its value, whatever it looks like. A flag that this version does
//! not know is reported and passed over, so that an engine outlives the SDK it was written for.

use windlass_core::{
    hook::input::SetupTrigger,
    money::Usd,
    permission::Mode,
    spec::{Effort, Thinking, ThinkingDisplay},
};

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

/// A command line that cannot be followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("option '--{flag}': {problem}")]
pub struct FlagError {
    /// The flag.
    pub flag: String,
    /// What is wrong with it, and what would be right.
    pub problem: String,
}

/// What stands behind a flag.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Value,
    /// A value, unless a flag follows.
    MaybeValue,
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

impl Flags {
    /// Reads the words of a command line, without the program's name.
    ///
    /// # Errors
    /// [`FlagError`]: the first value that is missing or not usable.
    pub fn parse(words: &[String]) -> Result<Self, FlagError> {
        let mut flags = Self::default();
        let mut words = words.iter().peekable();
        while let Some(word) = words.next() {
            let long = match word.as_str() {
                "-d" => "debug",
                word => word.strip_prefix("--").unwrap_or_default(),
            };
            if long.is_empty() {
                flags.short(word);
                continue;
            }
            let (name, given) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (long, None),
            };
            let Some(takes) = takes(name) else {
                flags.unknown.push(word.clone());
                // Most flags take a value; there are no words here that are none.
                if given.is_none() {
                    words.next_if(|next| !next.starts_with('-'));
                }
                continue;
            };
            let value = match (takes, given) {
                (Takes::Value, None) => Some(words.next().cloned().ok_or_else(|| FlagError {
                    flag: name.to_owned(),
                    problem: "needs a value".to_owned(),
                })?),
                (Takes::MaybeValue, None) => words.next_if(|next| !next.starts_with('-')).cloned(),
                (_, given) => given,
            };
            flags.set(name, value)?;
        }
        Ok(flags)
    }

    fn short(&mut self, word: &str) {
        match word {
            "-v" => self.version = true,
            "-c" => self.continue_session = true,
            // Said by the formats already.
            "-p" | "" => {}
            _ => self.unknown.push(word.to_owned()),
        }
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
            "fallback-model" => self.fallback_model = some(text),
            "betas" => self.betas.extend(words_of(&text)),
            "effort" => {
                self.effort = Some(effort(&text).ok_or_else(|| {
                    wrong(format!("takes low, medium, high or max, not `{text}`"))
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
            "allowedTools" | "allowed-tools" => self.allowed_tools.extend(rules_of(&text)),
            "disallowedTools" | "disallowed-tools" => self.disallowed_tools.extend(rules_of(&text)),
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
            "permission-prompt-tool" => self.permission_prompt_tool = some(text),
            "allow-dangerously-skip-permissions" => self.allow_bypass = true,
            "dangerously-skip-permissions" => self.bypass = true,
            "json-schema" => self.json_schema = some(text),
            "agent" => self.agent = some(text),
            "agents" => self.agents = some(text),
            "continue" => self.continue_session = true,
            "resume" => self.resume = some(text),
            "session-id" => self.session_id = some(text),
            "fork-session" => self.fork_session = true,
            // Empty ones are handed on: what they mean is for those who resume to say.
            "resume-session-at" => self.resume_session_at = Some(text),
            "resume-drops-turn" => self.resume_drops_turn = Some(text),
            "no-session-persistence" => self.no_session_persistence = true,
            "session-mirror" => self.session_mirror = true,
            "init" => self.setup = Some(SetupTrigger::Init),
            "maintenance" => self.setup = Some(SetupTrigger::Maintenance),
            "settings" => self.settings = some(text),
            "managed-settings" => self.managed_settings = some(text),
            "setting-sources" => self.setting_sources = Some(words_of(&text)),
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
            "plugin-dir" | "plugin-dir-no-mcp" | "channels" => self.ignored.push(name.to_owned()),
            "debug" => {
                self.debug = true;
                self.debug_topics.extend(words_of(&text));
            }
            "debug-to-stderr" => self.debug = true,
            "debug-file" => self.debug_file = some(text),
            "await-initialize" => self.await_initialize = true,
            // What has no effect here: said by being an engine, or about things there are none of.
            _ => {}
        }
        Ok(())
    }
}

/// What stands behind a flag; none for one that is not known.
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
        | "include-partial-messages"
        | "include-hook-events"
        | "replay-user-messages"
        | "await-initialize"
        | "allow-dangerously-skip-permissions"
        | "dangerously-skip-permissions"
        | "managed-settings-in-initialize"
        | "debug-to-stderr" => Takes::Nothing,
        "debug" | "resume" => Takes::MaybeValue,
        "input-format"
        | "output-format"
        | "model"
        | "fallback-model"
        | "betas"
        | "effort"
        | "thinking"
        | "max-thinking-tokens"
        | "thinking-display"
        | "system-prompt"
        | "system-prompt-file"
        | "append-system-prompt"
        | "append-system-prompt-file"
        | "tools"
        | "allowedTools"
        | "allowed-tools"
        | "disallowedTools"
        | "disallowed-tools"
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
        | "resume-session-at"
        | "resume-drops-turn"
        | "settings"
        | "managed-settings"
        | "setting-sources"
        | "project-config-root"
        | "channels"
        | "add-dir"
        | "mcp-config"
        | "plugin-dir"
        | "plugin-dir-no-mcp"
        | "debug-file"
        | "initialize-fields" => Takes::Value,
        _ => return None,
    })
}

/// The effort of a name. The level between the highest two that newer models know is the highest here.
#[must_use]
pub fn effort(name: &str) -> Option<Effort> {
    match name {
        "xhigh" => Some(Effort::Max),
        name => Effort::parse(name),
    }
}

fn words_of(text: &str) -> Vec<String> {
    let words = text.split([',', ' ']).map(str::trim);
    words
        .filter(|word| !word.is_empty())
        .map(ToOwned::to_owned)
        .collect()
}

/// Rules or names: separated by commas or blanks, but not inside parentheses.
#[must_use]
pub fn rules_of(text: &str) -> Vec<String> {
    let mut rules = Vec::new();
    let mut depth = 0_usize;
    let mut rule = String::new();
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (c == ',' || c.is_whitespace()) {
            rules.push(std::mem::take(&mut rule));
        } else {
            rule.push(c);
        }
    }
    rules.push(rule);
    rules.retain(|rule| !rule.is_empty());
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    fn parse(given: &[&str]) -> Flags {
        Flags::parse(&words(given)).unwrap()
    }

    #[test]
    fn both_forms_of_every_valued_flag_mean_the_same() {
        for (name, value) in [
            ("model", "m"),
            ("fallback-model", "m"),
            ("betas", "a,b"),
            ("effort", "high"),
            ("thinking", "adaptive"),
            ("max-thinking-tokens", "5000"),
            ("thinking-display", "omitted"),
            ("task-budget", "50000"),
            ("permission-prompts", "none"),
            ("system-prompt", "--verbose is what I say"),
            ("append-system-prompt", "- a list"),
            ("tools", "Read,Bash"),
            ("allowedTools", "Bash(git log:*),Read"),
            ("disallowedTools", "Write"),
            ("max-turns", "3"),
            ("max-budget-usd", "0.5"),
            ("permission-mode", "acceptEdits"),
            ("permission-prompt-tool", "stdio"),
            ("json-schema", "{}"),
            ("resume-session-at", ""),
            ("settings", "{}"),
            ("setting-sources", "user,project"),
            ("add-dir", "/x"),
            ("mcp-config", "{}"),
            ("session-id", "x"),
        ] {
            let flag = format!("--{name}");
            let joined = format!("--{name}={value}");
            let apart = parse(&["--verbose", &flag, value, "--session-mirror"]);
            assert_eq!(
                apart,
                parse(&["--verbose", &joined, "--session-mirror"]),
                "{name}"
            );
            assert_ne!(
                apart,
                parse(&["--verbose", "--session-mirror"]),
                "{name} has an effect"
            );
            assert!(apart.session_mirror, "{name} took no more than its value");
        }
    }

    #[test]
    fn empty_values_say_something() {
        let flags = parse(&["--system-prompt", "", "--tools", "", "--setting-sources="]);
        assert_eq!(flags.system_prompt.as_deref(), Some(""));
        assert_eq!(flags.tools, Some(vec![]));
        assert_eq!(flags.setting_sources, Some(vec![]));
        let flags = parse(&["--tools=", "--model="]);
        assert_eq!((flags.tools, flags.model), (Some(vec![]), None));
        assert_eq!(parse(&[]).tools, None);
    }

    #[test]
    fn what_the_sdks_start_an_engine_with_is_all_known() {
        let python = [
            "--output-format",
            "stream-json",
            "--verbose",
            "--system-prompt",
            "",
            "--input-format",
            "stream-json",
        ];
        let typescript = [
            "--output-format=stream-json",
            "--verbose",
            "--input-format=stream-json",
            "--permission-prompt-tool=stdio",
            "--allow-dangerously-skip-permissions",
            "--include-hook-events",
            "--include-partial-messages",
            "--permission-prompts=host",
            "--task-budget=5",
            "--thinking-display=summarized",
            "--channels=c",
            "--initialize-fields=disallowedTools",
            "--await-initialize",
            "--managed-settings-in-initialize",
            "--no-session-persistence",
            "--debug",
            "--plugin-dir-no-mcp=/p",
            "--resume=abc",
            "--fork-session",
        ];
        for given in [&python[..], &typescript] {
            assert!(asks_for_engine(&words(given)));
            assert_eq!(parse(given).unknown, Vec::<String>::new());
        }
        assert!(!asks_for_engine(&words(&[
            "--output-format",
            "stream-json",
            "-p",
            "hi"
        ])));
        assert_eq!(parse(&typescript).resume.as_deref(), Some("abc"));
    }

    #[test]
    fn conf_7_topics_may_stand_behind_debug() {
        for given in [
            &["--debug=api,!tools"][..],
            &["--debug", "api,!tools", "--verbose"],
            &["-d", "api,!tools"],
        ] {
            let flags = parse(given);
            assert!(flags.debug);
            assert_eq!(flags.debug_topics, ["api", "!tools"]);
            assert!(flags.unknown.is_empty());
        }
        let flags = parse(&["--debug", "--resume", "abc"]);
        assert!(flags.debug && flags.debug_topics.is_empty());
        assert_eq!(flags.resume.as_deref(), Some("abc"));
    }

    #[test]
    fn an_unknown_flag_is_passed_over_with_its_value() {
        let flags = parse(&[
            "--of-tomorrow",
            "value",
            "--also=1",
            "--and",
            "--model",
            "m",
            "-x",
        ]);
        assert_eq!(flags.unknown, ["--of-tomorrow", "--also=1", "--and", "-x"]);
        assert_eq!(flags.model.as_deref(), Some("m"));
    }

    #[test]
    fn what_cannot_be_followed_names_the_flag() {
        for (given, expected) in [
            (
                &["--max-turns", "many"][..],
                "option '--max-turns': takes a whole number, not `many`",
            ),
            (&["--model"], "option '--model': needs a value"),
            (
                &["--permission-mode=yolo"],
                "option '--permission-mode': takes",
            ),
            (
                &["--max-budget-usd=-1"],
                "option '--max-budget-usd': takes an amount",
            ),
            (&["--effort=huge"], "option '--effort': takes low"),
            (&["--thinking=deep"], "option '--thinking': takes adaptive"),
            (
                &["--thinking-display=all"],
                "option '--thinking-display': takes summarized",
            ),
            (
                &["--permission-prompts=me"],
                "option '--permission-prompts': takes host",
            ),
        ] {
            let error = Flags::parse(&words(given)).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn rules_are_split_outside_of_parentheses() {
        assert_eq!(
            rules_of("Read,Bash(git log:*), Bash(a,b c)"),
            ["Read", "Bash(git log:*)", "Bash(a,b c)"]
        );
        assert_eq!(rules_of(" , "), Vec::<String>::new());
    }
}
