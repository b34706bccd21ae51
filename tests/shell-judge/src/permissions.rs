//! Who may run what: the rules of a line, and what they say of a program that ran.

use windlass_core::permission::{Mode, Rule, RuleError, Rules};

use crate::run::Ran;

/// The rules and the mode that a line is judged by.
#[derive(Debug, Clone, Copy)]
pub struct Permissions {
    /// What corpora call it.
    pub name: &'static str,
    /// The mode.
    pub mode: Mode,
    /// How commands begin that may run: each is a rule `Bash(…:*)`.
    pub commands: &'static [&'static str],
    /// Whether files in `out/` may be written.
    pub writes_out: bool,
    /// Programs that must not run where everything else may.
    pub forbidden: &'static [&'static str],
}

/// Everything may run but a few programs: lines run as they are written, unless they seem to hold one of these.
pub const FORBIDDING: Permissions = Permissions {
    name: "forbidding",
    mode: Mode::BypassPermissions,
    commands: &["echo", "ls", "cat", "find", "xargs", "git", "test", "eval"],
    writes_out: true,
    forbidden: &["touch", "CAN"],
};

/// Every set of permissions that lines are generated for.
pub const ALL: [Permissions; 6] = [
    Permissions {
        name: "nothing",
        mode: Mode::Default,
        commands: &[],
        writes_out: false,
        forbidden: &[],
    },
    Permissions {
        name: "echo",
        mode: Mode::Default,
        commands: &["echo"],
        writes_out: false,
        forbidden: &[],
    },
    Permissions {
        name: "looking",
        mode: Mode::Default,
        commands: &[
            "echo",
            "ls",
            "cat",
            "grep",
            "wc",
            "git log",
            "git status",
            "printf",
        ],
        writes_out: false,
        forbidden: &[],
    },
    Permissions {
        name: "searching",
        mode: Mode::DontAsk,
        commands: &["find", "xargs", "echo", "ls", "cat"],
        writes_out: false,
        forbidden: &[],
    },
    Permissions {
        name: "working",
        mode: Mode::Default,
        commands: &[
            "npm test",
            "npm run",
            "git commit -m",
            "git add",
            "cat",
            "echo",
            "ls",
            "./run",
            "read",
            "test",
        ],
        writes_out: true,
        forbidden: &[],
    },
    Permissions {
        name: "editing",
        mode: Mode::AcceptEdits,
        commands: &["echo", "cat", "ls", "git log"],
        writes_out: true,
        forbidden: &[],
    },
];

/// What runs without any rule, because it changes nothing.
const FREE: [&str; 7] = ["true", "false", ":", "pwd", "test", "[", "cd"];

/// What the mode that accepts edits runs.
pub(crate) const EDITS: [&str; 5] = ["mkdir", "touch", "rm", "mv", "cp"];

impl Permissions {
    /// The permissions of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        ALL.into_iter()
            .chain([FORBIDDING])
            .find(|permissions| permissions.name == name)
    }

    /// The words with which commands begin that may run.
    pub fn rules(&self) -> impl Iterator<Item = Vec<&'static str>> {
        self.commands
            .iter()
            .map(|command| command.split(' ').collect())
    }

    /// The same as rules of the permission code.
    ///
    /// # Errors
    /// None, as long as the table above holds rules.
    pub fn as_rules(&self) -> Result<Rules, RuleError> {
        let commands = self
            .commands
            .iter()
            .map(|command| format!("Bash({command}:*)"));
        let out = self.writes_out.then(|| "Edit(/out/**)".to_owned());
        let allow: Result<Vec<Rule>, RuleError> =
            commands.chain(out).map(|rule| Rule::parse(&rule)).collect();
        let forbidden = self.forbidden.iter();
        let deny: Result<Vec<Rule>, RuleError> = forbidden
            .map(|program| Rule::parse(&format!("Bash({program}:*)")))
            .collect();
        Ok(Rules {
            allow: allow?,
            deny: deny?,
            ..Rules::default()
        })
    }

    /// Whether a file of the working directory may be written.
    #[must_use]
    pub fn may_write(&self, path: &str) -> bool {
        !self.forbidden.is_empty()
            || self.mode == Mode::AcceptEdits
            || self.writes_out && path.starts_with("out/")
    }

    /// Whether a program that ran is one that these permissions let run: the very program, found on the path that the
    /// session has, started in the workspace, with arguments that a rule is about.
    #[must_use]
    pub fn cover(&self, ran: &Ran) -> bool {
        if !self.forbidden.is_empty() {
            let name = ran.program.rsplit('/').next().unwrap_or_default();
            return !self.forbidden.contains(&name);
        }
        if !ran.path_is_whole || !ran.variables.is_empty() || ran.folder.starts_with('/') {
            return false;
        }
        let words: Vec<&str> = std::iter::once(ran.program.as_str())
            .chain(ran.arguments.iter().map(String::as_str))
            .collect();
        let free = FREE.contains(&words[0]) || words[0] == "echo" || words[0] == "printf";
        // As a program it does nothing but run the rest, which has a record of its own. Other options write files.
        let times = words[0] == "time"
            && !(words[1..].first())
                .is_some_and(|word| word.starts_with('-') && !["-p", "-v"].contains(word));
        let edits = self.mode == Mode::AcceptEdits && EDITS.contains(&words[0]);
        free || times || edits || self.rules().any(|rule| words.starts_with(&rule))
    }
}
