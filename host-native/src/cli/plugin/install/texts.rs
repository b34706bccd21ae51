//! What the Markdown files of a plugin's folder are to a session: commands, agents, skills and output styles.

use std::collections::BTreeSet;

use windlass::plugins::PluginTree;
use windlass_engine::{
    TextPath,
    plugin::Plugin,
    project::{
        Entry, EntryKind, MAX_FILE_BYTES, PluginFolder, ProjectPlaces, ReadFile, ReadProject,
    },
    settings::SettingSources,
};

use crate::cli::plain::one_line;

/// The texts of a plugin's folder, by the names under which sessions know them.
#[derive(Debug, Default)]
pub(in crate::cli::plugin) struct Texts {
    pub(in crate::cli::plugin) commands: Vec<String>,
    pub(in crate::cli::plugin) agents: Vec<String>,
    pub(in crate::cli::plugin) skills: Vec<String>,
    pub(in crate::cli::plugin) output_styles: Vec<String>,
    /// What sessions leave out, or do not follow, with the file and the reason.
    pub(in crate::cli::plugin) doubts: Vec<String>,
}

impl Texts {
    /// Whether there are none.
    pub(super) fn are_none(&self) -> bool {
        let named = [
            &self.commands,
            &self.agents,
            &self.skills,
            &self.output_styles,
            &self.doubts,
        ];
        named.iter().all(|names| names.is_empty())
    }

    /// Reads them as sessions do.
    pub(super) fn of(tree: &PluginTree, plugin: &Plugin) -> Self {
        let folder = PluginFolder {
            name: plugin.name.clone(),
            folder: plugin.folder.clone(),
            places: plugin.places.clone(),
        };
        let places = ProjectPlaces {
            config: None,
            cwd: plugin.folder.clone(),
            home: None,
        };
        let reader = Reader {
            tree,
            folder: &plugin.folder,
        };
        let found = places.load(SettingSources::NONE, &[folder], &reader);
        let problems = found.problems.iter().map(|it| (" is left out", it));
        let ignored = found.ignored.iter().map(|it| ("", it));
        let doubts = problems.chain(ignored).map(|(what, problem)| {
            let file = reader.below(&problem.path).unwrap_or(problem.path.as_str());
            format!("{}{what}: {}", one_line(file), one_line(&problem.problem))
        });
        let of_manifest = plugin.ignored.iter();
        let of_manifest = of_manifest.map(|it| format!("{} has no effect", one_line(it)));
        Self {
            doubts: of_manifest.chain(doubts).collect(),
            commands: found.commands.into_iter().map(|it| it.name).collect(),
            agents: found.agents.into_iter().map(|it| it.name).collect(),
            skills: found.skills.into_iter().map(|it| it.name).collect(),
            output_styles: found.output_styles.into_iter().map(|it| it.name).collect(),
        }
    }

    /// Those that there are, by what they are called.
    pub(in crate::cli::plugin) fn kinds(&self) -> impl Iterator<Item = (&'static str, &[String])> {
        let kinds = [
            ("commands", self.commands.as_slice()),
            ("agents", &self.agents),
            ("skills", &self.skills),
            ("styles", &self.output_styles),
        ];
        kinds.into_iter().filter(|(_, names)| !names.is_empty())
    }
}

/// Reads the files in memory as if they lay in the folder.
struct Reader<'a> {
    tree: &'a PluginTree,
    folder: &'a TextPath,
}

impl Reader<'_> {
    /// The path in the folder; empty for the folder itself.
    fn below<'p>(&self, path: &'p TextPath) -> Option<&'p str> {
        let rest = path.as_str().strip_prefix(self.folder.as_str())?;
        match rest.strip_prefix('/') {
            Some(below) => Some(below),
            None => rest.is_empty().then_some(rest),
        }
    }
}

impl ReadProject for Reader<'_> {
    fn read(&self, path: &TextPath, _: &[TextPath]) -> Result<Option<ReadFile>, String> {
        let file = self.below(path).and_then(|it| self.tree.files().get(it));
        let Some(file) = file else {
            return Ok(None);
        };
        if file.content.len() as u64 > MAX_FILE_BYTES {
            return Err(format!("it is larger than {MAX_FILE_BYTES} bytes"));
        }
        let text = String::from_utf8(file.content.to_vec());
        let text = text.map_err(|_| "it is not UTF-8".to_owned())?;
        let real = path.clone();
        Ok(Some(ReadFile { real, text }))
    }

    fn read_own(&self, path: &TextPath) -> Result<Option<ReadFile>, String> {
        self.read(path, &[])
    }

    fn list(&self, folder: &TextPath, most: usize) -> Result<Vec<Entry>, String> {
        let Some(below) = self.below(folder) else {
            return Ok(Vec::new());
        };
        let prefix = match below {
            "" => String::new(),
            below => format!("{below}/"),
        };
        let inside = self.tree.files().keys();
        let inside = inside.filter_map(|path| path.strip_prefix(&prefix));
        let entries: BTreeSet<(&str, bool)> = inside
            .map(|rest| match rest.split_once('/') {
                Some((name, _)) => (name, true),
                None => (rest, false),
            })
            .collect();
        let entries = entries.into_iter().take(most);
        Ok(entries
            .map(|(name, is_folder)| Entry {
                name: name.to_owned(),
                is_text: true,
                kind: match is_folder {
                    true => EntryKind::Folder,
                    false => EntryKind::File,
                },
            })
            .collect())
    }

    fn exists(&self, path: &TextPath) -> bool {
        let below = self.below(path);
        below.is_some_and(|below| self.tree.files().contains_key(below))
    }
}
