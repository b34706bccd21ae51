//! The command line: flags of the same names and meanings as those of Claude Code.

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use windlass_core::{money::Usd, spec::Effort};
use windlass_engine::protocol::flags::rules_of;

use super::{auth_args::AuthCommand, permission_args::PermissionArgs, plugin_args::PluginCommand};

/// `0.1.0 (windlass)`.
pub(crate) const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (windlass)");

/// An AI agent whose tools are sandboxed WASM components.
#[derive(Debug, Parser)]
#[command(
    name = "windlass",
    disable_version_flag = true,
    args_conflicts_with_subcommands = true,
    max_term_width = 100,
    after_help = "The API key is read from ANTHROPIC_API_KEY (or a bearer token from ANTHROPIC_AUTH_TOKEN), the address \
                  from ANTHROPIC_BASE_URL; with --provider openai from OPENAI_API_KEY and OPENAI_BASE_URL. \
                  `windlass demo` needs neither.\n\
                  Exit codes: 0 done, 1 the run ended in an error, 2 wrong usage, 3 it could not start, 130 interrupted."
)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Do what the prompt says: the same as without this word.
    Run(Box<RunArgs>),
    /// Replay a recorded run without a network or a key, and say where it goes another way.
    Replay(ReplayArgs),
    /// Watch the agent repair a small project, with a scripted model and no key.
    Demo(DemoArgs),
    /// Check what windlass needs on this machine.
    Doctor(DoctorArgs),
    /// What rules and settings come to.
    #[command(subcommand)]
    Permissions(PermissionsCommand),
    /// The MCP servers of this folder: configure them, and try them.
    #[cfg(unix)]
    #[command(subcommand)]
    Mcp(super::mcp_args::McpCommand),
    /// The sessions of this folder.
    #[command(subcommand)]
    Sessions(SessionsCommand),
    /// Write plugins, and see what one is before it is trusted.
    #[command(subcommand)]
    Plugin(PluginCommand),
    /// An agent for editors (Zed and others): speaks the Agent Client Protocol on standard input and output.
    Acp(Box<AcpArgs>),
    /// Where the key for the model server comes from.
    #[command(subcommand)]
    Auth(AuthCommand),
    /// List the models that are known by name: prices, limits, short names.
    Models(ModelsArgs),
    /// A model for tests that says what a script tells it to.
    #[command(subcommand)]
    Model(ModelCommand),
}

/// An agent for editors.
#[derive(Debug, Args)]
pub(crate) struct AcpArgs {
    /// The model of new sessions: as the API names it, or the short name of a family (opus, sonnet, haiku).
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,

    #[command(flatten)]
    pub(crate) permissions: PermissionArgs,

    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,

    /// A file of model prices, added to the built-in ones.
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PermissionsCommand {
    /// Say what would become of a call, and which rule decides.
    Explain(Box<ExplainArgs>),
    /// Find rules that do nothing, or not what they seem to.
    Lint(Box<LintArgs>),
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The call, written like a rule: "Bash(git push)", "Read(src/main.rs)".
    pub(crate) call: String,

    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) permissions: PermissionArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LintArgs {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) permissions: PermissionArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List them, the newest first.
    List,
    /// Print what was said in one.
    Show {
        /// Its id.
        id: String,
    },
    /// Take one away, with all that was kept of it.
    Delete {
        /// Its id.
        id: String,
    },
}

/// A run of the agent.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// What to do. Read from standard input if it is left out; what is piped in beside it is added. At a terminal without it,
    /// a conversation begins.
    pub(crate) prompt: Option<String>,

    /// Print only the answer, and never ask: for scripts.
    #[arg(short, long)]
    pub(crate) print: bool,

    /// What standard input is: text, which is the prompt or added to it, or the lines of an SDK (stream-json).
    // This parser is used only for text input: an engine starts before it.
    #[arg(long, value_enum, default_value_t = InputFormat::Text, value_name = "FORMAT")]
    pub(crate) input_format: InputFormat,

    /// How the answer is printed; a form of JSON implies --print.
    #[arg(long, value_enum, default_value_t = OutputFormat::Text, value_name = "FORMAT")]
    pub(crate) output_format: OutputFormat,

    /// Pass on the model's stream as it comes (stream-json).
    #[arg(long)]
    pub(crate) include_partial_messages: bool,

    /// The model: as the API names it, or the short name of a family (opus, sonnet, haiku).
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,

    /// How much work goes into a response.
    #[arg(long, value_enum, value_name = "EFFORT")]
    pub(crate) effort: Option<EffortArg>,

    /// Stop after so many rounds of tools.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_turns: Option<u32>,

    /// Stop once so much is spent.
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    pub(crate) max_budget_usd: Option<Usd>,

    /// How often a model call that failed for the moment is asked again; 10 if not said.
    #[arg(long, value_name = "N")]
    pub(crate) max_retries: Option<u32>,

    /// The model that is asked where the other is overloaded.
    #[arg(long, value_name = "MODEL")]
    pub(crate) fallback_model: Option<String>,

    /// Go on with the newest session of this folder.
    #[arg(short, long = "continue", conflicts_with = "resume")]
    pub(crate) continue_session: bool,

    /// Go on with this session, by its id; without one, the sessions are listed.
    #[arg(short, long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub(crate) resume: Option<String>,

    /// Let the session that goes on be a new one: the old one stays as it is.
    #[arg(long)]
    pub(crate) fork_session: bool,

    /// The id of the session, a UUID.
    #[arg(long, value_name = "UUID")]
    pub(crate) session_id: Option<String>,

    /// Write no transcript: the session cannot be resumed.
    #[arg(long)]
    pub(crate) no_session_persistence: bool,

    /// A name for the session, for lists.
    #[arg(short, long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// MCP servers: a file or JSON, as in `.mcp.json`.
    #[arg(long, value_name = "FILE|JSON", num_args = 1.., action = ArgAction::Append)]
    pub(crate) mcp_config: Vec<String>,

    /// No other MCP servers than those of --mcp-config.
    #[arg(long)]
    pub(crate) strict_mcp_config: bool,

    /// Agents, as a JSON object of definitions by name.
    #[arg(long, value_name = "JSON")]
    pub(crate) agents: Option<String>,

    /// The agent as which the session runs.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,

    /// The JSON Schema that the answer has to follow.
    #[arg(long, value_name = "JSON")]
    pub(crate) json_schema: Option<String>,

    /// The tool of an MCP server that is asked whether a call may run.
    #[arg(long, value_name = "TOOL")]
    pub(crate) permission_prompt_tool: Option<String>,

    /// Begin without the files of person and project: no settings, memory, skills, agents, hooks or MCP servers but those
    /// that flags name.
    #[arg(long)]
    pub(crate) bare: bool,

    #[command(flatten)]
    pub(crate) permissions: PermissionArgs,

    /// The built-in tools that are there at all: names, "default" for all, "" for none.
    #[arg(long, value_name = "NAMES", num_args = 1.., action = ArgAction::Append)]
    pub(crate) tools: Option<Vec<String>>,

    /// The system prompt, in place of the usual one.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) system_prompt: Option<String>,

    /// Text added to the system prompt.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) append_system_prompt: Option<String>,

    /// Beta features of the API, by name.
    #[arg(long, value_name = "NAMES", num_args = 1.., action = ArgAction::Append)]
    pub(crate) betas: Vec<String>,

    /// A file of model prices, added to the built-in ones.
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,

    /// Write a journal of the run, to be replayed by `windlass replay`. It holds the whole conversation.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,

    /// Show more: the session, and with --print what happens, on standard error.
    #[arg(long)]
    pub(crate) verbose: bool,

    /// Write every message to standard error, one JSON object a line.
    #[arg(long)]
    pub(crate) debug: bool,

    /// Print the version.
    #[arg(short = 'v', long)]
    pub(crate) version: bool,
}

/// How the model is reached.
#[derive(Debug, Args)]
pub(crate) struct ConnectionArgs {
    /// What the server speaks: Anthropic's Messages API, or OpenAI's chat completions, as Ollama, llama.cpp, vLLM and most gateways do.
    #[arg(long, value_enum, default_value_t = ProviderArg::Anthropic, value_name = "PROVIDER")]
    pub(crate) provider: ProviderArg,

    /// The server's address; else ANTHROPIC_BASE_URL or, with --provider openai, OPENAI_BASE_URL.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,

    /// Certificates to trust beside the system's, in PEM form; else NODE_EXTRA_CA_CERTS or SSL_CERT_FILE.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The journal, as `--record` wrote it.
    pub(crate) journal: PathBuf,
    /// Let the model's recorded decisions call the tools of today, and report what they answer differently.
    #[arg(long)]
    pub(crate) live_tools: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Leave the repaired project where it is.
    #[arg(long)]
    pub(crate) keep: bool,
    /// Let the scripted model answer at once.
    #[arg(long)]
    pub(crate) fast: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Serve a script on loopback until interrupted; the exit code tells whether it was followed.
    Serve(ServeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The script (docs/scripted-model.md).
    pub(crate) script: PathBuf,
    /// The port; 0 takes any free one.
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,
    /// The value of one of the script's variables. Can be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    pub(crate) variables: Vec<(String, String)>,
}

/// What is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    /// The prompt, or what is added to it.
    Text,
    /// The lines of an SDK, which make the command its engine.
    StreamJson,
}

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Text for people.
    Text,
    /// The result message, as JSON.
    Json,
    /// Every message as it comes, one JSON object a line.
    StreamJson,
}

/// A wire format as a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProviderArg {
    /// The Messages API.
    Anthropic,
    /// Chat completions.
    Openai,
}

/// [`Effort`] as a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EffortArg {
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

impl From<EffortArg> for Effort {
    fn from(arg: EffortArg) -> Self {
        match arg {
            EffortArg::Low => Self::Low,
            EffortArg::Medium => Self::Medium,
            EffortArg::High => Self::High,
            EffortArg::Xhigh => Self::Xhigh,
            EffortArg::Max => Self::Max,
        }
    }
}

fn dollars(text: &str) -> Result<Usd, String> {
    Usd::parse(text).ok_or_else(|| "an amount in dollars is written like 0.25".to_owned())
}

fn assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("a variable is set like cwd=/tmp/x")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Rules or names out of flag values: separated by commas or spaces, but not inside parentheses.
pub(crate) fn list(values: &[String]) -> Vec<String> {
    values.iter().flat_map(|value| rules_of(value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<CommandLine, clap::Error> {
        CommandLine::try_parse_from(["windlass"].iter().chain(words))
    }

    fn split(value: &str) -> Vec<String> {
        list(&[value.to_owned()])
    }

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory as _;
        CommandLine::command().debug_assert();
    }

    #[test]
    fn rules_are_split_outside_of_parentheses() {
        assert_eq!(split("Read,Edit Bash"), ["Read", "Edit", "Bash"]);
        assert_eq!(
            split("Bash(git log:*), Bash(npm run a,b)"),
            ["Bash(git log:*)", "Bash(npm run a,b)"]
        );
        assert_eq!(split("Bash(echo (a) b) Read"), ["Bash(echo (a) b)", "Read"]);
        // An unclosed text stays whole, so that the error message shows all of it.
        assert_eq!(split("Bash(echo Read, Edit"), ["Bash(echo Read, Edit"]);
        assert_eq!(split(" , "), Vec::<String>::new());
    }

    #[test]
    fn lists_may_be_repeated_and_take_several_words() {
        let args = parse(&[
            "-p",
            "hi",
            "--allowedTools",
            "Read",
            "Edit,Glob",
            "--allowed-tools",
            "Bash(a b)",
        ]);
        assert_eq!(
            list(&args.unwrap().run.permissions.allowed_tools),
            ["Read", "Edit", "Glob", "Bash(a b)"]
        );
    }

    #[test]
    fn empty_values_are_values() {
        let args = parse(&[
            "hi",
            "--tools",
            "",
            "--allowedTools",
            "",
            "--system-prompt",
            "",
            "--model",
            "",
        ]);
        let run = args.unwrap().run;
        assert_eq!(run.tools.as_deref().map(list), Some(vec![]));
        assert_eq!(run.system_prompt.as_deref(), Some(""));
        assert_eq!(run.prompt.as_deref(), Some("hi"));
        assert_eq!(parse(&["hi"]).unwrap().run.tools, None);
    }

    #[test]
    fn a_prompt_may_look_like_anything_behind_two_dashes() {
        assert_eq!(
            parse(&["-p", "--", "doctor"])
                .unwrap()
                .run
                .prompt
                .as_deref(),
            Some("doctor")
        );
        assert_eq!(
            parse(&["--", "--help"]).unwrap().run.prompt.as_deref(),
            Some("--help")
        );
        assert!(matches!(
            parse(&["doctor"]).unwrap().command,
            Some(Command::Doctor(_))
        ));
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        for words in [
            &["x", "--max-turns", "0"][..],
            &["x", "--max-budget-usd", "-1"],
            &["x", "--permission-mode", "yolo"],
            &["x", "--output-format", "xml"],
            &["x", "--no-such-flag"],
            &["x", "y"],
        ] {
            assert!(parse(words).is_err(), "{words:?}");
        }
    }
}
