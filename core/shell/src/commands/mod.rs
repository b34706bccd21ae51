//! The commands of a line, to which rules are applied.

mod simple_command;

use alloc::{string::String, vec::Vec};

pub use self::simple_command::{CommandWord, Direction, FileRedirection, Folder, SimpleCommand};
use crate::{
    AndOr, Command, Compound, Junction, Part, Pipeline, Redirection, Runs, Script, Simple, Target,
    Word, names, read::runs,
};

/// The maximum number of folders entered one below the other; after that the folder is unknown.
const MOST_ENTERED: usize = 64;

/// Every simple command of a script; commands inside another one come before it.
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
        // The list may end early, in a folder that it would have left again.
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

    /// Whether a `cd` succeeded is known only after the `&&` that follows it.
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

    /// A script that does not change the folder of later commands.
    fn apart(&mut self, script: &Script) {
        let before = self.folder.clone();
        self.script(script);
        self.folder = before;
    }

    /// A folder entered in one round of a loop also applies to the next round.
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
        // `./cd` is a program, which does not change the folder.
        let entered = command.begins_with(&["cd"]).then(|| entered(&command));
        self.found.push(command);
        match entered {
            Some(Some(folder)) => self.enter(folder),
            Some(None) => self.folder = Folder::Unknown,
            None => {}
        }
    }

    /// `..` is resolved logically, as the shell does: it leaves the folder that was entered last, whether or not that was a link.
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

    /// The commands that the words of a command make it run, innermost first.
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
            match simple.words[outer].as_literal().map(names::base_name) {
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
                    // `fd` appends what it finds if the command has no placeholder.
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

/// Whether the program at this index is run on what another one finds or reads.
fn is_found(simple: &Simple, at: usize) -> bool {
    outer_commands(simple, at).any(|outer| {
        let name = simple.words[outer].as_literal().map(names::base_name);
        name.is_some_and(|name| name == "xargs" || names::is_search(name))
    })
}

/// Whether a command is only a shell with a line, which whoever runs the tree can execute directly.
fn is_shell_alone(simple: &Simple) -> bool {
    let name = simple.words.first().and_then(Word::as_literal);
    simple.words.len() == 3 && matches!(name.map(names::base_name), Some("sh" | "bash" | "dash"))
}

/// Marks words as unknown that contain a text which is replaced at run time.
fn hide(words: &mut [CommandWord], replaced: &str) {
    if replaced.is_empty() {
        return;
    }
    for word in words.iter_mut().filter(|word| word.text.contains(replaced)) {
        *word = CommandWord::unknown();
    }
}

/// The indices of the commands that contain the word at this index.
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

/// Whether the command at this index only runs another one. With a folder in front of its name it may be any program with that
/// name.
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

/// The folder that `cd` enters with these words, if it is literal.
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

/// Whether the folder may be another one after a script.
fn moves(script: &Script) -> bool {
    let in_command = |command: &Command| match command {
        Command::Simple(simple) => simple
            .program()
            .is_some_and(|name| names::base_name(name) == "cd"),
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
