//! Finds rules that have no effect, or another effect than they seem to.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde::Serialize;

use super::{
    Behavior, Layer, Rule, RuleName, Rules, Source, Specifier, command::CommandPattern,
    entry::Placed, glob, tool_name,
};
use windlass_shell::{self as shell, Unparsed};

/// A rule that has no effect, or another effect than it seems to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule and its source.
    #[serde(flatten)]
    pub name: RuleName,
    /// The list that contains it.
    pub behavior: Behavior,
    /// The kind of fault.
    pub fault: Fault,
    /// What is wrong, and what to write instead.
    pub message: String,
}

/// The kinds of faults.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fault {
    /// It cannot be parsed; loading it is an error.
    Invalid,
    /// No tool has this name.
    UnknownTool,
    /// No call can match it.
    NeverMatches,
    /// Another rule always decides first.
    ShadowedBy(RuleName),
    /// Another rule of the same list covers it already.
    CoveredBy(RuleName),
    /// It can match, but does not mean what it seems to.
    Misleading,
}

impl core::fmt::Display for Finding {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(
            f,
            "{} rule {}: {}",
            self.behavior.name(),
            self.name,
            self.message
        )
    }
}

/// Checks the rules of layers. `tools` are the names of all tools; if the list is empty, names are not checked. Names of MCP
/// servers are not checked, since servers come and go.
///
/// ```
/// use windlass_core::permission::{Layer, lint};
/// let mut layer = Layer::default();
/// layer.settings.allow = vec!["Bsh(npm test)".into(), "Read(/home/me/notes/**)".into()];
/// let found = lint(&[layer], &["Bash", "Read", "Edit"]);
/// assert!(found[0].to_string().contains("Bash"));
/// assert!(found[1].to_string().contains("Read(//home/me/notes/**)"));
/// ```
#[must_use]
pub fn lint(layers: &[Layer], tools: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut readable: Vec<(Rule, Behavior)> = Vec::new();
    for placed in layers.iter().flat_map(Layer::entries) {
        let found = |fault, message| Finding {
            name: RuleName {
                rule: placed.entry.rule.clone(),
                source: placed.source,
            },
            behavior: placed.behavior,
            fault,
            message,
        };
        match placed.rule() {
            Err(error) => findings.push(found(
                Fault::Invalid,
                invalid(&error.problem, placed, tools),
            )),
            Ok(rule) => {
                let unknown = unknown_tool(&rule, tools).map(|text| (Fault::UnknownTool, text));
                let faults = unknown
                    .into_iter()
                    .chain(own_faults(&rule, placed.behavior));
                findings.extend(faults.map(|(fault, message)| found(fault, message)));
                readable.push((rule, placed.behavior));
            }
        }
    }
    for (at, (rule, behavior)) in readable.iter().enumerate() {
        findings.extend(overlap(rule, *behavior, at, &readable));
    }
    findings
}

/// A deny or ask rule for an unknown tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misnamed {
    /// The finding of [`lint()`] for it.
    pub finding: Finding,
    /// The tool that was probably meant, if the name is similar to that of one. What the rule should forbid would then run.
    pub meant: Option<String>,
}

/// The deny and ask rules that name a tool which is neither one of `tools` nor known otherwise: by an old name, as one of a
/// server, or to the official engine, whose settings hosts read. A session should not start with a rule whose tool name is
/// probably misspelt.
#[must_use]
pub fn misnamed(rules: &Rules, tools: &[&str]) -> Vec<Misnamed> {
    let known: Vec<&str> = tools.iter().copied().chain(tool_name::KNOWN).collect();
    let deny = rules.deny.iter().map(|rule| (rule, Behavior::Deny));
    let ask = rules.ask.iter().map(|rule| (rule, Behavior::Ask));
    let misnamed = deny.chain(ask).filter_map(|(rule, behavior)| {
        // `mcp__server__` is not a tool, and does not name the server either.
        let server = (rule.tool().strip_suffix("__")).filter(|server| server.starts_with("mcp__"));
        let hint = |server| format!("no tool is named {}: did you mean {server}?", rule.tool());
        let message = (server.map(hint)).or_else(|| unknown_tool(rule, &known))?;
        let meant = server.or_else(|| nearest_name(rule.tool(), &known));
        let meant = meant.map(ToOwned::to_owned);
        let message = match meant {
            Some(_) => message,
            None => format!("no tool is named {}", rule.tool()),
        };
        let finding = Finding {
            name: RuleName::from(rule),
            behavior,
            fault: Fault::UnknownTool,
            message,
        };
        Some(Misnamed { finding, meant })
    });
    misnamed.collect()
}

/// The known tool that a rule probably means, if its name is misspelt.
pub(crate) fn misspelt_tool(rule: &Rule) -> Option<&'static str> {
    unknown_tool(rule, &tool_name::KNOWN)?;
    nearest_name(rule.tool(), &tool_name::KNOWN)
}

fn invalid(problem: &str, placed: Placed<'_>, tools: &[&str]) -> String {
    let tool = placed
        .entry
        .rule
        .split('(')
        .next()
        .unwrap_or_default()
        .trim();
    match nearest_name(tool, tools).filter(|near| *near != tool) {
        Some(near) => format!("{problem}; did you mean {near}?"),
        None => problem.to_owned(),
    }
}

fn unknown_tool(rule: &Rule, tools: &[&str]) -> Option<String> {
    let name = rule.tool();
    let known = tools.is_empty()
        || name.starts_with("mcp__")
        || tools
            .iter()
            .any(|tool| rule.names_tool(tool) || tool_name::same(name, tool));
    if known {
        return None;
    }
    let hint = match nearest_name(name, tools) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("the tools are {}", tools.join(", ")),
    };
    Some(format!("no tool is named {name}: {hint}"))
}

/// The known name that is most similar to a misspelt one, if any is similar enough.
#[must_use]
pub fn nearest_name<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let distance = |tool: &&'a str| {
        let (name, tool_name) = (name.to_ascii_lowercase(), tool.to_ascii_lowercase());
        (distance(&name, &tool_name), *tool)
    };
    let (least, tool) = known.iter().map(distance).min()?;
    // Of a name of two letters, one of which is another, nothing is left.
    (least <= 2 && least + 1 < name.len()).then_some(tool)
}

/// The edit distance between two words.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let changed = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[other.len()]
}

/// The faults of a rule that show without other rules.
fn own_faults(rule: &Rule, behavior: Behavior) -> Vec<(Fault, String)> {
    match &rule.specifier {
        Specifier::Path(pattern) => path_fault(rule, pattern).into_iter().collect(),
        Specifier::Command(pattern) => command_fault(pattern, behavior).into_iter().collect(),
        // In a pattern of names, `.*` requires a full stop, and no tool name contains one.
        Specifier::Any if rule.tool().ends_with(".*") => alloc::vec![(
            Fault::NeverMatches,
            format!(
                "names are no regular expressions, `*` alone stands for anything: write {}*",
                rule.tool().trim_end_matches(['.', '*'])
            ),
        )],
        Specifier::Any => match tool_name::of_server(rule.tool()) {
            Some(("" | "*", None)) if behavior == Behavior::Allow => alloc::vec![(
                Fault::Misleading,
                "it allows every tool of every MCP server: name the server".to_owned(),
            )],
            _ => Vec::new(),
        },
        Specifier::Domain(_) | Specifier::Name(_) => Vec::new(),
    }
}

/// Folders that exist in the root directory and rarely in that of a project.
const ROOT_FOLDERS: [&str; 16] = [
    "Applications",
    "Library",
    "Users",
    "Volumes",
    "dev",
    "etc",
    "home",
    "mnt",
    "opt",
    "private",
    "proc",
    "root",
    "sys",
    "tmp",
    "usr",
    "var",
];

fn path_fault(rule: &Rule, pattern: &str) -> Option<(Fault, String)> {
    let tool = rule.tool();
    let never = |message: String| Some((Fault::NeverMatches, message));
    let anchored = !pattern.starts_with("//") && pattern.starts_with('/');
    let first = pattern.trim_start_matches('/').split('/').next();
    if anchored && first.is_some_and(|first| ROOT_FOLDERS.contains(&first)) {
        return Some((
            Fault::Misleading,
            format!(
                "a pattern with one `/` begins at the project, not at the root of all files: write {tool}(/{pattern}) for {pattern}"
            ),
        ));
    }
    if anchored && let (Source::UserSettings, Some(root)) = (rule.source(), rule.root()) {
        let rest = &pattern[1..];
        return Some((
            Fault::Misleading,
            format!(
                "in user settings a pattern with one `/` begins at their own folder, {root}, not at a project: write {tool}(./{rest}) for the working directory, {tool}({rest}) for a name at any depth of it"
            ),
        ));
    }
    let at_the_root = pattern.strip_prefix("//").unwrap_or_default();
    if at_the_root.starts_with('.') && !at_the_root.contains('/') {
        return Some((
            Fault::Misleading,
            format!(
                "a pattern with two `/` begins at the root of all files: write {tool}(/{at_the_root}) for the project's, {tool}({at_the_root}) for any depth of it"
            ),
        ));
    }
    if pattern.starts_with('^') || pattern.contains("\\.") {
        return never(
            "patterns are no regular expressions: `*` stands for anything within a folder, `**` for any folders"
                .to_owned(),
        );
    }
    if pattern.contains('|') {
        return never(format!(
            "alternatives stand in braces: {tool}({{a,b}}) for a and b"
        ));
    }
    if pattern.split('/').any(|part| part == "..") {
        return never("files are judged by their real paths, which hold no `..`".to_owned());
    }
    if pattern.split('/').any(|part| part == ".") && !pattern.starts_with("./") {
        return never("files are judged by their real paths, which hold no `.`".to_owned());
    }
    if pattern.trim_start_matches("//").contains("//") {
        return never("real paths hold no `//` inside".to_owned());
    }
    if pattern == "~" || (pattern.starts_with('~') && !pattern.starts_with("~/")) {
        return never(format!(
            "only `~/` at the beginning stands for the home directory: {tool}(~/…)"
        ));
    }
    if pattern.contains("$") {
        return never("variables are not expanded in patterns: write the path, or `~/`".to_owned());
    }
    let drive = pattern.as_bytes().get(1) == Some(&b':') && pattern.len() > 2;
    if drive || (pattern.contains('\\') && !is_escape(pattern)) {
        return never("paths are written with `/`: //c/Users/me for C:\\Users\\me".to_owned());
    }
    None
}

/// Whether every backslash escapes a character with a meaning in patterns.
fn is_escape(pattern: &str) -> bool {
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if c == '\\'
            && !matches!(
                chars.next(),
                Some('*' | '?' | '[' | ']' | '{' | '}' | '\\' | '!' | '#' | ' ')
            )
        {
            return false;
        }
    }
    true
}

/// Whether a command is written as a regular expression, which it is not.
fn regular_expression(words: &[String]) -> Option<Fault> {
    let (first, last) = (words.first()?, words.last()?);
    if first.starts_with('^') || (last.len() > 1 && last.ends_with('$')) {
        return Some(Fault::NeverMatches);
    }
    // `.*` may be intended: files whose names begin with a full stop.
    let repeats =
        |word: &String| word.ends_with(".\u{1}") && (word.len() == 2 || word.contains(['(', '\\']));
    words.iter().any(repeats).then_some(Fault::Misleading)
}

fn command_fault(pattern: &CommandPattern, behavior: Behavior) -> Option<(Fault, String)> {
    let words = pattern.words();
    let text = words.join(" ").replace('\u{1}', "*");
    let first = words.first()?;
    let allows = behavior == Behavior::Allow;
    if first.contains(':') && !first.contains("://") {
        let rest = first.split_once(':').map_or("", |(_, rest)| rest);
        return Some((
            Fault::NeverMatches,
            format!(
                "no program is called {first}: the parentheses hold the command itself, as in Bash({rest}:*)"
            ),
        ));
    }
    if let Some(fault) = regular_expression(words) {
        let message = "rules are no regular expressions: `*` alone stands for anything, as in Bash(git log *)";
        return Some((fault, message.to_owned()));
    }
    if first.starts_with('\u{1}') && allows {
        return Some((
            Fault::Misleading,
            "it begins with a `*` and so allows every program: begin with the program's name"
                .to_owned(),
        ));
    }
    if first.contains('=') && !pattern.is_exact() {
        return Some((
            Fault::NeverMatches,
            "variables set before a command are not part of it: name the program first".to_owned(),
        ));
    }
    if pattern.is_exact() {
        // A whole line is compared literally.
        return None;
    }
    let lists = words.iter().any(|word| {
        matches!(
            word.as_str(),
            "&&" | "||" | "|" | ";" | "&" | ">" | ">>" | "<"
        ) || word.ends_with(';')
    });
    if lists {
        return Some((
            Fault::NeverMatches,
            format!(
                "a line is judged command by command, so no command begins with `{text}`: write a rule for each"
            ),
        ));
    }
    let as_line = words
        .iter()
        .map(|word| word.replace('\u{1}', "x"))
        .collect::<Vec<_>>()
        .join(" ");
    match shell::scan(&as_line) {
        Err(Unparsed::Unsupported(what)) if allows => Some((
            Fault::NeverMatches,
            format!("a line with {what} is always asked about: only a rule for the very line allows it"),
        )),
        Err(Unparsed::ComputedProgram | Unparsed::Syntax) => Some((
            Fault::NeverMatches,
            format!("`{text}` is not the beginning of a command"),
        )),
        Ok(_) if allows && words.len() == 1 && first == "cd" => Some((
            Fault::Misleading,
            "`cd` allows what follows it no more than itself: inside the workspace it needs no rule, and every other command of a line needs its own".to_owned(),
        )),
        Ok(_) if allows && words.len() == 1 && shell::runs_others(first) => Some((
            Fault::Misleading,
            format!("`{first}` runs other commands, and each of them needs a rule of its own"),
        )),
        _ => None,
    }
}

/// Whether another rule always decides before a rule, or is the same.
fn overlap(
    rule: &Rule,
    behavior: Behavior,
    at: usize,
    all: &[(Rule, Behavior)],
) -> Option<Finding> {
    let rank = |behavior| match behavior {
        Behavior::Deny => 0,
        Behavior::Ask => 1,
        Behavior::Allow => 2,
    };
    let stronger = all
        .iter()
        .find(|(other, its)| rank(*its) < rank(behavior) && includes(other, rule));
    let same = || {
        all.iter().enumerate().find(|(i, (other, its))| {
            // Of two equal rules, the later one is reported.
            *its == behavior
                && *i != at
                && includes(other, rule)
                && (*i < at || !includes(rule, other))
        })
    };
    let (fault, message) = if let Some((other, its)) = stronger {
        let name = RuleName::from(other);
        let message = format!("the {} rule {name} decides first, always", its.name());
        (Fault::ShadowedBy(name), message)
    } else {
        let (_, (other, _)) = same()?;
        let name = RuleName::from(other);
        let message = format!("the rule {name} says it already");
        (Fault::CoveredBy(name), message)
    };
    Some(Finding {
        name: RuleName::from(rule),
        behavior,
        fault,
        message,
    })
}

/// Whether `outer` covers everything that `inner` does, as far as their texts show.
fn includes(outer: &Rule, inner: &Rule) -> bool {
    let names = outer.names_tool(inner.tool())
        || tool_name::of_server(inner.tool()).is_some_and(|_| {
            let all = inner.tool().trim_end_matches('*');
            outer
                .tool()
                .strip_suffix('*')
                .is_some_and(|start| all.starts_with(start))
        });
    match (&outer.specifier, &inner.specifier) {
        (Specifier::Any, _) => names,
        (Specifier::Command(outer), Specifier::Command(inner)) => names && outer.includes(inner),
        (Specifier::Domain(outer), Specifier::Domain(inner)) => names && outer.includes(inner),
        (Specifier::Name(outer), Specifier::Name(inner)) => names && outer.includes(inner),
        (Specifier::Path(wide), Specifier::Path(narrow)) => {
            // A deny rule for reading denies writing, too.
            let same_use = outer.tool() == inner.tool() || outer.tool() == "Read";
            same_use && outer.root() == inner.root() && includes_path(wide, narrow)
        }
        _ => false,
    }
}

fn includes_path(wide: &str, narrow: &str) -> bool {
    if wide == narrow {
        return true;
    }
    // Only for patterns with the same anchor; the narrower one is treated as a path. This is correct unless it contains
    // wildcards.
    let anchor = |pattern: &str| {
        ["//", "~/", "./", "/"]
            .into_iter()
            .find(|start| pattern.starts_with(start))
    };
    let is_name =
        |pattern: &str| anchor(pattern).is_none() && !pattern.trim_end_matches('/').contains('/');
    if anchor(wide) != anchor(narrow) || is_name(wide) != is_name(narrow) {
        return false;
    }
    let as_path = |pattern: &str| {
        let start = anchor(pattern).map_or(0, str::len);
        format!("/{}", &pattern[start..])
    };
    let (folder, is_folder) = match narrow.strip_suffix("/**") {
        Some(folder) => (folder, true),
        None => (narrow, false),
    };
    if folder.contains(['*', '?', '[', '{', '\\']) {
        return false;
    }
    // A folder with all its contents is covered if an arbitrary name in it is.
    let inner = if is_folder {
        format!("{}/\u{1}/\u{1}", as_path(folder))
    } else {
        as_path(folder)
    };
    let wide = glob::alternatives(&as_path(wide)).unwrap_or_default();
    wide.iter().any(|pattern| glob::covers(pattern, &inner))
}

impl core::fmt::Display for Fault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&match self {
            Self::Invalid => "invalid".to_string(),
            Self::UnknownTool => "unknown tool".to_string(),
            Self::NeverMatches => "never matches".to_string(),
            Self::ShadowedBy(name) => format!("shadowed by {name}"),
            Self::CoveredBy(name) => format!("covered by {name}"),
            Self::Misleading => "misleading".to_string(),
        })
    }
}
