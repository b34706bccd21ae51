//! The commands of a line: what rules are held against.

use alloc::{string::String, vec::Vec};

use crate::{
    AndOr, Command, Compound, Junction, Part, Pipeline, Redirection, Runs, Script, Simple, Target,
    Word, names, runs,
};

/// One program that would be started, or one builtin that would run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    /// Names of variables assigned for this command, or for the shell when there are no words.
    pub assignments: Vec<String>,
    /// The program and its arguments. Empty for a bare assignment or redirection.
    pub words: Vec<CommandWord>,
    /// The files that its redirections open, other than `/dev/null`; descriptors are none.
    pub redirections: Vec<FileRedirection>,
    /// Whether all it does is to run another command, which is listed too (`timeout`, `sh -c`).
    pub wraps: bool,
    /// The folder in which it runs.
    pub folder: Folder,
    /// Whether another program starts it in its own way: among other things (`find -exec`), or as the line of a shell
    /// (`timeout 5 sh -c LINE`). Whoever starts that program has no hold of it.
    pub by_others: bool,
}

/// A word of a command, its quotes removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandWord {
    pub(crate) text: String,
    pub(crate) quoted: bool,
    /// How much of the text stands before the first part that is computed; none where all of it is written out.
    pub(crate) known: Option<usize>,
    pub(crate) names_in: Option<String>,
    /// Nothing in it is computed but `$?`.
    pub(crate) is_status: bool,
    /// It begins with the home directory: `~` or `$HOME`.
    pub(crate) is_home: bool,
    /// It begins with the working directory: `$PWD`.
    pub(crate) is_here: bool,
}

/// A file that a redirection opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRedirection {
    /// Which way the bytes go.
    pub direction: Direction,
    /// The file, relative to wherever the command runs.
    pub target: CommandWord,
}

/// Which way the bytes of a redirection go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the file (`<`).
    In,
    /// Into the file (`>`, `>>`, `&>`, `<>`).
    Out,
}

/// More folders than a line enters one below the other: what comes behind is not known.
const MOST_ENTERED: usize = 64;

/// Where a command of a line runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Folder {
    /// Where the line begins.
    #[default]
    Start,
    /// In the folder that these `cd` lead to, one after the other, each of which succeeded.
    Entered(Vec<String>),
    /// Nobody can tell: a `cd` may have failed, or leads where it is computed.
    Unknown,
}

impl SimpleCommand {
    /// What stands between blanks and marks of a line that nobody can read, as the words of a program that nobody knows.
    #[must_use]
    pub fn of_unread(text: &str) -> Self {
        let marks = |c: char| c.is_whitespace() || "|&;<>(){}[]\"'`=,".contains(c);
        let words = text.split(marks).filter(|word| !word.is_empty());
        let unknown = core::iter::once(CommandWord::plain("?"));
        Self {
            words: unknown.chain(words.map(CommandWord::plain)).collect(),
            folder: Folder::Unknown,
            ..Self::default()
        }
    }

    /// Whether a redirection creates or writes a file.
    #[must_use]
    pub fn writes_file(&self) -> bool {
        let mut directions = self.redirections.iter().map(|r| r.direction);
        directions.any(|direction| direction == Direction::Out)
    }

    /// The program's name without its folder, if it is written out.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        let word = self.words.first().filter(|word| word.is_literal())?;
        Some(runs::base_name(word.text()))
    }

    /// Whether the first words are these, each written out.
    #[must_use]
    pub fn begins_with<T: AsRef<str>>(&self, prefix: &[T]) -> bool {
        let pairs = self.words.iter().zip(prefix);
        self.words.len() >= prefix.len()
            && pairs
                .into_iter()
                .all(|(word, wanted)| word.is_literal() && word.text() == wanted.as_ref())
    }
}

impl CommandWord {
    /// Words that nobody can know beforehand.
    pub(crate) fn unknown() -> Self {
        Self {
            known: Some(0),
            ..Self::default()
        }
    }

    /// A word without anything special.
    pub(crate) fn plain(text: &str) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// The text; of what is computed only the part that is written out.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the text is all there is: no expansion, substitution or pattern.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        self.known.is_none()
    }

    /// Whether nothing in it is computed but the status of what ran before (`$?`).
    #[must_use]
    pub fn is_literal_beside_status(&self) -> bool {
        self.is_literal() || self.is_status
    }

    /// What stands behind the home directory, where the word begins with it (`~`, `$HOME`).
    #[must_use]
    pub fn behind_home(&self) -> Option<&str> {
        let text = self.is_home.then_some(self.text())?;
        Some(text.strip_prefix('~').unwrap_or(text))
    }

    /// What stands behind the working directory, where the word begins with it (`$PWD`).
    #[must_use]
    pub fn behind_here(&self) -> Option<&str> {
        self.is_here.then_some(self.text())
    }

    /// The folder whose entries it becomes, if it is a pattern over the names in one, which is written out and ends in `/` or is empty.
    /// The pattern has text in it, and none of the names begins with a dot.
    #[must_use]
    pub fn names_in(&self) -> Option<&str> {
        self.names_in.as_deref()
    }

    /// Notes that what comes next is computed.
    pub(crate) fn compute(&mut self) {
        self.known.get_or_insert(self.text.len());
    }

    /// The text before the first part that is computed: all of it, where none is.
    pub(crate) fn known(&self) -> &str {
        let end = self.known.unwrap_or(self.text.len());
        self.text.get(..end).unwrap_or_default()
    }

    /// Whether any part was quoted: such a word is never a keyword.
    pub(crate) fn is_quoted(&self) -> bool {
        self.quoted
    }
}

impl From<&Word> for CommandWord {
    fn from(word: &Word) -> Self {
        if let Some(text) = word.as_literal() {
            return Self::plain(text);
        }
        let mut flat = Self::default();
        for part in &word.parts {
            match part {
                Part::Literal(text) => flat.text.push_str(text),
                Part::Pattern(text) => {
                    flat.compute();
                    flat.text.push_str(text);
                }
                Part::Tilde => {
                    flat.compute();
                    flat.text.push('~');
                }
                Part::Variable { .. }
                | Part::Operation { .. }
                | Part::Status
                | Part::Substitution { .. }
                | Part::Process { .. } => flat.compute(),
            }
        }
        flat.names_in = names_in(word);
        let is_status = |part: &Part| matches!(part, Part::Literal(_) | Part::Status);
        flat.is_status = word.parts.iter().all(is_status);
        flat.is_here =
            matches!(word.parts.first(), Some(Part::Variable { name, .. }) if name == "PWD");
        flat.is_home = match word.parts.first() {
            Some(Part::Tilde) => true,
            Some(Part::Variable { name, .. }) => name == "HOME",
            _ => false,
        };
        flat
    }
}

fn names_in(word: &Word) -> Option<String> {
    let is_name = |part: &Part| match part {
        Part::Literal(text) => !text.contains('/'),
        Part::Pattern(_) => true,
        _ => false,
    };
    let (folder, names) = match word.parts.as_slice() {
        [Part::Literal(first), names @ ..] => match first.rfind('/') {
            Some(end) => {
                let (folder, name) = first.split_at(end + 1);
                if name.starts_with('.') {
                    return None;
                }
                (folder, names)
            }
            None if first.starts_with(['.', '-']) => return None,
            None => ("", word.parts.as_slice()),
        },
        names => ("", names),
    };
    let has_pattern = names.iter().any(|part| matches!(part, Part::Pattern(_)));
    let has_text = word.parts.iter().any(|part| match part {
        Part::Literal(text) => !text.ends_with('/'),
        _ => false,
    });
    (has_pattern && has_text && names.iter().all(is_name)).then(|| folder.into())
}

/// Every simple command of a script, what is inside of another before it.
#[must_use]
pub fn of(script: &Script) -> Vec<SimpleCommand> {
    let mut walk = Walk::default();
    walk.script(script);
    walk.found
}

#[derive(Default)]
struct Walk {
    found: Vec<SimpleCommand>,
    folder: Folder,
}

impl Walk {
    fn script(&mut self, script: &Script) {
        for list in &script.lists {
            self.and_or(list);
        }
    }

    fn and_or(&mut self, list: &AndOr) {
        let before = self.folder.clone();
        self.pipeline(&list.first);
        // The list may end early: in a folder that it would have left again.
        let mut has_moved = self.folder != before;
        for (junction, pipeline) in &list.rest {
            if *junction == Junction::Or && has_moved {
                self.folder = Folder::Unknown;
            }
            self.pipeline(pipeline);
            has_moved |= self.folder != before;
        }
        if has_moved {
            self.folder = Folder::Unknown;
        }
    }

    /// Whether a `cd` succeeded is known only behind the `&&` that follows it.
    fn doubt_unless(&mut self, before: &Folder) {
        if self.folder != *before {
            self.folder = Folder::Unknown;
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        let before = self.folder.clone();
        match pipeline.commands.as_slice() {
            [only] => self.command(only),
            all => {
                for command in all {
                    self.command(command);
                    self.folder.clone_from(&before);
                }
            }
        }
        if pipeline.negated {
            self.doubt_unless(&before);
        }
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound { body, redirections } => {
                self.redirections_of_all(redirections);
                self.compound(body);
            }
        }
    }

    fn redirections_of_all(&mut self, redirections: &[Redirection]) {
        self.substitutions_of_texts(redirections);
        let redirections = opened(redirections);
        if !redirections.is_empty() {
            self.found.push(SimpleCommand {
                redirections,
                folder: self.folder.clone(),
                ..SimpleCommand::default()
            });
        }
    }

    fn compound(&mut self, body: &Compound) {
        match body {
            Compound::Group(script) => self.script(script),
            Compound::Subshell(script) => self.apart(script),
            Compound::For { words, body, .. } => {
                self.substitutions(words);
                self.doubt_if_moved_by(body);
                self.script(body);
            }
            Compound::If { arms, otherwise } => {
                for (condition, body) in arms {
                    self.script(condition);
                    self.script(body);
                }
                if let Some(otherwise) = otherwise {
                    self.script(otherwise);
                }
            }
            Compound::While {
                condition, body, ..
            } => {
                self.doubt_if_moved_by(condition);
                self.doubt_if_moved_by(body);
                self.script(condition);
                self.script(body);
            }
            Compound::Case { word, choices } => {
                self.substitutions(core::slice::from_ref(word));
                for choice in choices {
                    self.script(&choice.body);
                }
            }
        }
    }

    /// A script that leaves the folder of what follows as it is.
    fn apart(&mut self, script: &Script) {
        let before = self.folder.clone();
        self.script(script);
        self.folder = before;
    }

    /// What a loop enters in one round it is in for the next.
    fn doubt_if_moved_by(&mut self, script: &Script) {
        if moves(script) {
            self.folder = Folder::Unknown;
        }
    }

    fn simple(&mut self, simple: &Simple) {
        for assignment in &simple.assignments {
            self.substitutions(core::slice::from_ref(&assignment.value));
        }
        self.substitutions(&simple.words);
        self.substitutions_of_texts(&simple.redirections);
        self.runs(simple);
        let command = SimpleCommand {
            assignments: simple.assignments.iter().map(|a| a.name.clone()).collect(),
            words: simple.words.iter().map(CommandWord::from).collect(),
            redirections: opened(&simple.redirections),
            wraps: wraps(simple, 0),
            folder: self.folder.clone(),
            by_others: false,
        };
        // `./cd` is a program, which leads nowhere.
        let entered = command.begins_with(&["cd"]).then(|| entered(&command));
        self.found.push(command);
        match entered {
            Some(Some(folder)) => self.enter(folder),
            Some(None) => self.folder = Folder::Unknown,
            None => {}
        }
    }

    /// `..` leads where the shell's own memory says: out of the folder that was entered last, link or not.
    fn enter(&mut self, folder: String) {
        if folder.starts_with('/') {
            self.folder = Folder::Entered(alloc::vec![folder]);
            return;
        }
        let mut entered = match core::mem::take(&mut self.folder) {
            Folder::Unknown => {
                self.folder = Folder::Unknown;
                return;
            }
            Folder::Start => Vec::new(),
            Folder::Entered(folders) => folders,
        };
        for name in folder.split('/').filter(|name| !matches!(*name, "" | ".")) {
            let last = entered.last().map(String::as_str);
            match (name, last) {
                ("..", None | Some("..")) => entered.push("..".into()),
                ("..", Some(last)) if !last.contains('/') => {
                    entered.pop();
                }
                ("..", Some(_)) => {
                    self.folder = Folder::Unknown;
                    return;
                }
                (name, _) => entered.push(name.into()),
            }
        }
        self.folder = match entered.len() {
            too_deep if too_deep > MOST_ENTERED => Folder::Unknown,
            0 => Folder::Start,
            _ => Folder::Entered(entered),
        };
    }

    fn substitutions(&mut self, words: &[Word]) {
        for part in words.iter().flat_map(|word| &word.parts) {
            if let Part::Substitution { script, .. } | Part::Process { script } = part {
                self.apart(script);
            }
        }
    }

    fn substitutions_of_texts(&mut self, redirections: &[Redirection]) {
        for redirection in redirections {
            if let Target::Text(text) = &redirection.to {
                self.substitutions(core::slice::from_ref(text));
            }
        }
    }

    /// What the words of a command make it run, innermost first.
    fn runs(&mut self, simple: &Simple) {
        for run in simple.runs.iter().rev() {
            match run {
                Runs::Script { script, .. } => {
                    let from = self.found.len();
                    self.apart(script);
                    let by_others = !is_shell_alone(simple);
                    for command in &mut self.found[from..] {
                        command.by_others |= by_others;
                    }
                }
                Runs::Program { at, end } => {
                    let command = self.inner(simple, *at as usize, *end as usize);
                    self.found.push(command);
                }
            }
        }
    }

    fn inner(&self, simple: &Simple, at: usize, end: usize) -> SimpleCommand {
        let mut assignments: Vec<String> =
            simple.assignments.iter().map(|a| a.name.clone()).collect();
        let mut words: Vec<CommandWord> = simple.words[at..end]
            .iter()
            .map(CommandWord::from)
            .collect();
        for outer in outer_commands(simple, at) {
            let between = &simple.words[outer..at];
            match simple.words[outer].as_literal().map(runs::base_name) {
                Some("env") => {
                    let names =
                        between
                            .iter()
                            .skip(1)
                            .filter_map(|word| match word.parts.first() {
                                Some(Part::Literal(text)) if !text.starts_with('-') => {
                                    text.split_once('=')
                                }
                                _ => None,
                            });
                    assignments.extend(names.map(|(name, _)| name.into()));
                }
                Some(name) if names::is_search(name) => {
                    // `fd` adds what it finds where no place is named.
                    let is_added = name != "find" && !runs::names_a_place(&simple.words[at..end]);
                    hide(&mut words, "{");
                    words.extend(is_added.then(CommandWord::unknown));
                }
                Some("xargs") => {
                    if let Some(replaced) = runs::replaced_by_xargs(between) {
                        hide(&mut words, replaced);
                    }
                    words.push(CommandWord::unknown());
                }
                _ => {}
            }
        }
        SimpleCommand {
            assignments,
            words,
            redirections: opened(&simple.redirections),
            wraps: wraps(simple, at),
            folder: self.folder.clone(),
            by_others: end != simple.words.len() || is_found(simple, at),
        }
    }
}

/// Whether a program that stands at this place is started for what another one finds or reads.
fn is_found(simple: &Simple, at: usize) -> bool {
    outer_commands(simple, at).any(|outer| {
        let name = simple.words[outer].as_literal().map(runs::base_name);
        name.is_some_and(|name| name == "xargs" || names::is_search(name))
    })
}

/// Whether a command is a shell with a line and nothing else, which whoever runs the tree can do itself.
fn is_shell_alone(simple: &Simple) -> bool {
    let name = simple.words.first().and_then(Word::as_literal);
    simple.words.len() == 3 && matches!(name.map(runs::base_name), Some("sh" | "bash" | "dash"))
}

/// Makes words unknown that hold what is replaced when they run.
fn hide(words: &mut [CommandWord], replaced: &str) {
    if replaced.is_empty() {
        return;
    }
    for word in words.iter_mut().filter(|word| word.text.contains(replaced)) {
        *word = CommandWord::unknown();
    }
}

/// Where the commands begin inside of which the word at this place stands.
fn outer_commands(simple: &Simple, at: usize) -> impl Iterator<Item = usize> {
    let inner = simple.runs.iter().filter_map(move |run| match run {
        Runs::Program { at: start, end } => {
            let (start, end) = (*start as usize, *end as usize);
            (start < at && at < end).then_some(start)
        }
        Runs::Script { .. } => None,
    });
    core::iter::once(0).chain(inner)
}

/// Whether all that the command that begins here does is to run another one. With a folder before its name it is any program of that
/// name, of which nobody knows what it does.
fn wraps(simple: &Simple, start: usize) -> bool {
    let program = simple.words.get(start).and_then(Word::as_literal);
    let name = program.filter(|program| !program.contains('/'));
    let is_search = name.is_some_and(names::is_search);
    let is_wrapper =
        name.is_some_and(|name| runs::runs_others(name) || matches!(name, "sh" | "bash" | "dash"));
    let runs_something = simple.runs.iter().any(|run| match run {
        Runs::Program { at, .. } | Runs::Script { at, .. } => *at as usize > start,
    });
    is_wrapper && !is_search && runs_something
}

/// Where `cd` with these words leads, if it is written out.
fn entered(command: &SimpleCommand) -> Option<String> {
    match command.words.as_slice() {
        [_, folder]
            if folder.is_literal()
                && !folder.text().is_empty()
                && !folder.text().starts_with('-') =>
        {
            Some(folder.text().into())
        }
        _ => None,
    }
}

/// Whether the folder may be another one behind a script.
fn moves(script: &Script) -> bool {
    let in_command = |command: &Command| match command {
        Command::Simple(simple) => simple
            .program()
            .is_some_and(|name| runs::base_name(name) == "cd"),
        Command::Compound { body, .. } => match body {
            Compound::Group(script) => moves(script),
            Compound::Subshell(_) => false,
            Compound::For { body, .. } => moves(body),
            Compound::While {
                condition, body, ..
            } => moves(condition) || moves(body),
            Compound::If { arms, otherwise } => {
                arms.iter()
                    .any(|(condition, body)| moves(condition) || moves(body))
                    || otherwise.as_ref().is_some_and(moves)
            }
            Compound::Case { choices, .. } => choices.iter().any(|choice| moves(&choice.body)),
        },
    };
    let in_pipeline = |pipeline: &Pipeline| match pipeline.commands.as_slice() {
        [only] => in_command(only),
        _ => false,
    };
    script.lists.iter().any(|list| {
        in_pipeline(&list.first) || list.rest.iter().any(|(_, pipeline)| in_pipeline(pipeline))
    })
}

/// The files that redirections open.
fn opened(redirections: &[Redirection]) -> Vec<FileRedirection> {
    let file = |redirection: &Redirection| {
        let (direction, path) = match &redirection.to {
            Target::Read(path) => (Direction::In, path),
            Target::Write { path, .. } => (Direction::Out, path),
            Target::Duplicate(_) | Target::Close | Target::Text(_) => return None,
        };
        (path != "/dev/null").then(|| FileRedirection {
            direction,
            target: CommandWord::plain(path),
        })
    };
    redirections.iter().filter_map(file).collect()
}
