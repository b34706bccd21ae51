use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

use windlass_core::{agent::Agents, context::MemoryScope};

use super::*;
use crate::settings::SettingSources;

/// Files in memory, without permission rules.
#[derive(Default)]
struct World {
    /// Contents, by real path.
    files: RefCell<BTreeMap<TextPath, String>>,
    /// Links to files, with their targets.
    links: BTreeMap<TextPath, TextPath>,
}

impl ReadProject for World {
    fn read(&self, path: &TextPath, folders: &[TextPath]) -> Result<Option<ReadFile>, String> {
        let Some(file) = self.read_own(path)? else {
            return Ok(None);
        };
        let is_inside = |folder: &TextPath| file.real.starts_with(folder);
        match folders.is_empty() || folders.iter().any(is_inside) {
            true => Ok(Some(file)),
            false => Err("outside".into()),
        }
    }

    fn read_own(&self, path: &TextPath) -> Result<Option<ReadFile>, String> {
        let path = without_steps_up(path);
        let real = self.links.get(&path).unwrap_or(&path).clone();
        let Some(text) = self.files.borrow().get(&real).cloned() else {
            return Ok(None);
        };
        match text.len() as u64 > MAX_FILE_BYTES {
            true => Err("it is larger than is read".into()),
            false => Ok(Some(ReadFile { real, text })),
        }
    }

    fn list(&self, folder: &TextPath, most: usize) -> Result<Vec<Entry>, String> {
        let files = self.files.borrow();
        let mut found = BTreeSet::new();
        for path in files.keys() {
            if let Some(below) = path.strip_prefix(folder) {
                let mut names = below.names();
                found.extend(
                    names
                        .next()
                        .map(|name| (name.to_owned(), names.next().is_some())),
                );
            }
        }
        let entries = found.into_iter().rev().take(most);
        let entries = entries.map(|(name, is_folder)| Entry {
            // The replacement character stands for bytes that are not text.
            is_text: !name.contains('\u{fffd}'),
            name,
            kind: if is_folder {
                EntryKind::Folder
            } else {
                EntryKind::File
            },
        });
        Ok(entries.collect())
    }

    fn exists(&self, path: &TextPath) -> bool {
        self.files
            .borrow()
            .keys()
            .any(|file| file.starts_with(path))
    }
}

/// Resolves each `..` of a path, assuming that there are no links.
fn without_steps_up(path: &TextPath) -> TextPath {
    path.names()
        .fold(TextPath::new("/"), |folder, name| match name {
            ".." => folder.parent().unwrap_or(folder),
            name => folder.join(name),
        })
}

impl World {
    fn new() -> Self {
        Self::default()
    }

    fn put(&self, path: &str, text: &str) {
        let path = TextPath::new("/").join(path);
        self.files.borrow_mut().insert(path, text.to_owned());
    }

    fn places(&self) -> ProjectPlaces {
        ProjectPlaces {
            config: Some("/user".into()),
            cwd: "/project".into(),
            home: Some("/home".into()),
        }
    }

    fn load(&self, sources: &str) -> ProjectFiles {
        self.places()
            .load(SettingSources::parse(sources).unwrap(), &[], self)
    }

    fn memory(&self, sources: &str) -> Vec<String> {
        let memory = self.load(sources).memory;
        memory
            .iter()
            .map(|file| file.text.trim().to_owned())
            .collect()
    }
}

fn agent(name: &str, prompt: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\ntools: Read, Grep\n---\n{prompt}\n")
}

#[test]
fn sub_1_agents_of_files_come_with_the_source_they_belong_to() {
    let world = World::new();
    world.put("user/agents/reviewer.md", &agent("reviewer", "of the user"));
    world.put("user/agents/own.md", &agent("own", "own"));
    world.put(
        "project/.claude/agents/deep/reviewer.md",
        &agent("reviewer", "of the project"),
    );
    world.put("project/.claude/agents/notes.txt", "no agent");
    world.put(
        "project/.claude/agents/broken.md",
        "---\nname: broken\n---\nx\n",
    );
    let names = |sources: &str| -> Vec<String> {
        world
            .load(sources)
            .agents
            .iter()
            .map(|a| a.name.clone())
            .collect()
    };
    assert_eq!(names(""), [""; 0]);
    assert_eq!(names("user"), ["own", "reviewer"]);
    assert_eq!(names("project"), ["reviewer"]);
    let found = world.load("user,project");
    assert_eq!(found.problems.len(), 1);
    let problem = found.problems[0].to_string();
    assert!(
        problem.contains("broken.md") && problem.contains("description"),
        "{problem}"
    );
    let mut agents = Agents::default();
    found.agents.into_iter().for_each(|agent| agents.add(agent));
    assert_eq!(
        agents.get("reviewer").unwrap().definition.prompt,
        "of the project"
    );
    assert_eq!(
        agents
            .get("reviewer")
            .unwrap()
            .definition
            .tools
            .as_ref()
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn conf_9_a_prompt_that_begins_with_a_command_becomes_its_text() {
    let world = World::new();
    world.put(
        "project/.claude/commands/fix.md",
        "---\ndescription: Fixes an issue\nargument-hint: [issue] [priority]\nallowed-tools: Bash(git add:*), Read\nmodel: haiku\narguments: issue\n---\nFix $issue with $1, all: $ARGUMENTS, $2, costs $$ and $x.\n",
    );
    world.put(
        "project/.claude/commands/frontend/test.md",
        "# Run the tests\n\nOf the front end.\n",
    );
    world.put("user/commands/fix.md", "of the user");
    let found = world.load("user,project");
    assert_eq!(found.problems, []);
    let fix = found.expand("/fix 12 \"very high\"").unwrap();
    assert_eq!(
        fix.text,
        "Fix 12 with very high, all: 12 \"very high\", $2, costs $$ and $x."
    );
    assert_eq!(
        (fix.allowed_tools.len(), fix.model.as_deref()),
        (2, Some("haiku"))
    );
    // A placeholder inside an argument is not replaced.
    assert!(
        found
            .expand("/fix $1 b")
            .unwrap()
            .text
            .starts_with("Fix $1 with b")
    );
    let test = found.expand("  /frontend:test only this\n").unwrap();
    assert_eq!(
        test.text,
        "# Run the tests\n\nOf the front end.\n\nARGUMENTS: only this"
    );
    assert_eq!(
        found.expand("/frontend:test").unwrap().text,
        "# Run the tests\n\nOf the front end."
    );
    for other in ["/unknown", "fix", "/", "", "say /fix", "/fix/it"] {
        assert_eq!(found.expand(other), None, "{other}");
    }
    assert_eq!(
        world.load("user").expand("/fix").unwrap().text,
        "of the user"
    );
}

#[test]
fn conf_9_commands_are_listed_with_description_and_argument_hint() {
    let world = World::new();
    world.put(
        "project/.claude/commands/a.md",
        "---\ndescription: Does a\nargument-hint: <file>\n---\nDo a.",
    );
    world.put("project/.claude/commands/b.md", "## Do b\nThen c.");
    world.put(
        "project/.claude/skills/pdf/SKILL.md",
        "---\nname: pdf\ndescription: Reads PDFs\nargument-hint: \"[file]\"\n---\nRead.",
    );
    world.put(
        "project/.claude/skills/quiet/SKILL.md",
        "---\ndescription: d\nuser-invocable: false\n---\nQuiet.",
    );
    let found = world.load("project");
    let listed: Vec<_> = (found.slash_commands().into_iter())
        .map(|c| (c.name, c.description, c.argument_hint))
        .collect();
    let row = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
    assert_eq!(
        listed,
        [
            row("a", "Does a", "<file>"),
            row("b", "Do b", ""),
            row("pdf", "Reads PDFs", "[file]")
        ]
    );
    assert!(
        found
            .expand("/pdf x.pdf")
            .unwrap()
            .text
            .contains("ARGUMENTS: x.pdf")
    );
    assert_eq!(found.expand("/quiet"), None);
}

#[test]
fn skills_and_styles_are_read_and_broken_ones_are_named() {
    let world = World::new();
    world.put(
        "user/skills/pdf/SKILL.md",
        "---\ndescription: of the user\n---\nRead.",
    );
    world.put(
        "project/.claude/skills/pdf/SKILL.md",
        "---\ndescription: of the project\n---\nRead.",
    );
    world.put("project/.claude/skills/bad/SKILL.md", "no description");
    world.put("project/.claude/skills/empty/other.txt", "x");
    world.put(
        "user/output-styles/terse.md",
        "---\nname: Terse\ndescription: Short.\nkeep-coding-instructions: true\n---\nBe brief.\n",
    );
    world.put("user/output-styles/plain.md", "Speak plainly.");
    let found = world.load("user,project");
    assert_eq!(found.skills.len(), 1);
    assert_eq!(found.skills[0].description, "of the project");
    assert!(
        found.skills[0]
            .directory
            .as_deref()
            .unwrap()
            .ends_with("project/.claude/skills/pdf")
    );
    assert_eq!(found.problems.len(), 1);
    let styles: Vec<_> = found
        .output_styles
        .iter()
        .map(|s| (s.name.as_str(), s.keep_coding_instructions))
        .collect();
    assert_eq!(styles, [("Terse", true), ("plain", false)]);
}

#[test]
fn ctx_6_instructions_come_with_the_source_they_belong_to() {
    let world = World::new();
    world.put("user/CLAUDE.md", "user");
    world.put("project/CLAUDE.md", "project");
    world.put("project/.claude/CLAUDE.md", "inner");
    world.put("project/CLAUDE.local.md", "local");
    world.put("CLAUDE.md", "above, and no part of the project");
    assert_eq!(world.memory(""), [""; 0]);
    assert_eq!(world.memory("user"), ["user"]);
    assert_eq!(world.memory("project"), ["project", "inner"]);
    assert_eq!(world.memory("local"), ["local"]);
    assert_eq!(
        world.memory("user,project,local"),
        ["user", "project", "inner", "local"]
    );
    let scopes: Vec<_> = world
        .load("user,local")
        .memory
        .iter()
        .map(|m| m.scope)
        .collect();
    assert_eq!(scopes, [MemoryScope::User, MemoryScope::Local]);
}

#[test]
fn ctx_6_within_a_repository_the_folders_above_count_too() {
    let world = World::new();
    world.put("repo/.git/HEAD", "ref: refs/heads/main\n");
    world.put("repo/CLAUDE.md", "outer");
    world.put("repo/a/b/CLAUDE.md", "inner");
    let mut places = world.places();
    places.cwd = "/repo/a/b".into();
    let memory = places.load(SettingSources::ALL, &[], &world).memory;
    let texts: Vec<&str> = memory.iter().map(|m| m.text.as_str()).collect();
    assert_eq!(texts, ["outer", "inner"]);
}

#[test]
fn ctx_6_imports_are_followed_once_and_not_out_of_the_project() {
    let world = World::new();
    world.put(
        "project/CLAUDE.md",
        "See @docs/a.md, and mail me@x.org or @nobody.\n`@docs/code.md`\n```\n@docs/fenced.md\n```\n@../outside.md @~/home.md",
    );
    world.put("project/docs/a.md", "a @b.md");
    world.put("project/docs/b.md", "b @a.md @../CLAUDE.md");
    for path in [
        "project/docs/code.md",
        "project/docs/fenced.md",
        "outside.md",
        "home/home.md",
    ] {
        world.put(path, "not this");
    }
    let found = world.load("project");
    let texts: Vec<&str> = found.memory.iter().map(|m| &m.text[..1]).collect();
    assert_eq!(texts, ["S", "a", "b"]);
    assert_eq!(found.problems.len(), 2, "{:?}", found.problems);
    world.put("user/CLAUDE.md", "mine @~/home.md");
    assert_eq!(world.memory("user"), ["mine @~/home.md", "not this"]);
}

#[test]
fn ctx_6_a_link_leads_no_import_out_of_the_project() {
    let mut world = World::new();
    world.put("secret.md", "secret");
    world.put("project/CLAUDE.md", "@link.md");
    world
        .links
        .insert("/project/link.md".into(), "/secret.md".into());
    assert_eq!(world.memory("project"), ["@link.md"]);
}

#[test]
fn ctx_6_imports_end_five_deep_and_large_files_are_left_out() {
    let world = World::new();
    world.put("project/CLAUDE.md", "0 @1.md");
    for n in 1..9 {
        world.put(&format!("project/{n}.md"), &format!("{n} @{}.md", n + 1));
    }
    let found = world.load("project");
    assert_eq!(found.memory.len(), 1 + MAX_IMPORT_DEPTH);
    assert!(found.problems[0].problem.contains("deeper"));
    let world = World::new();
    world.put("project/CLAUDE.md", &"x".repeat(2_000_000));
    let found = world.load("project");
    assert!(found.memory.is_empty() && found.problems[0].problem.contains("larger"));
}

#[test]
fn ctx_6_instructions_of_a_folder_bring_in_what_lies_in_it_or_in_the_project() {
    let world = World::new();
    world.put("repo/.git/HEAD", "ref: refs/heads/main\n");
    world.put("repo/CLAUDE.md", "outer @notes.md @a/own.md @../home.md");
    world.put("repo/notes.md", "notes");
    world.put("repo/private.md", "not this");
    world.put("home.md", "not this");
    world.put("repo/a/CLAUDE.md", "inner @../private.md");
    world.put("repo/a/own.md", "own");
    let mut places = world.places();
    places.cwd = "/repo/a".into();
    let found = places.load(SettingSources::ALL, &[], &world);
    let texts = found.memory.iter().map(|m| m.text.split(' ').next());
    let texts: Vec<&str> = texts.flatten().collect();
    assert_eq!(texts, ["outer", "notes", "own", "inner"]);
    assert_eq!(found.problems.len(), 2, "{:?}", found.problems);
}

#[test]
fn ctx_6_instructions_have_a_limit_all_together() {
    let world = World::new();
    world.put("project/CLAUDE.md", "@0.md @1.md @2.md @3.md @4.md @5.md");
    for n in 0..6 {
        world.put(&format!("project/{n}.md"), &"x".repeat(1_000_000));
    }
    let found = world.load("project");
    let bytes: usize = found.memory.iter().map(|m| m.text.len()).sum();
    assert!(bytes > 4_000_000 && bytes <= MAX_INSTRUCTION_BYTES);
    assert_eq!(found.problems.len(), 2);
    assert!(found.problems[0].problem.contains("together"));
    let world = World::new();
    world.put("project/CLAUDE.md", &"@nobody ".repeat(10_000));
    let found = world.load("project");
    assert_eq!(found.memory.len(), 1);
    assert!(
        found.problems[0].problem.contains("2000"),
        "{:?}",
        found.problems
    );
}

#[test]
fn a_name_that_is_no_text_is_named_and_left_out() {
    let world = World::new();
    world.put("user/agents/\u{fffd}.md", &agent("a", "a"));
    world.put("user/agents/\u{fffd}.txt", "no agent");
    world.put(
        "user/skills/\u{fffd}/SKILL.md",
        "---\ndescription: d\n---\nRead.",
    );
    let found = world.load("user");
    assert!(found.agents.is_empty() && found.skills.is_empty());
    let problems: Vec<String> = found.problems.iter().map(ToString::to_string).collect();
    let wanted = [
        "/user/agents/\u{fffd}.md: its name is not UTF-8",
        "/user/skills/\u{fffd}: its name is not UTF-8",
    ];
    assert_eq!(problems, wanted);
}

#[test]
fn folders_are_searched_eight_deep_and_sorted_by_their_names() {
    let world = World::new();
    let deep = |levels: usize| format!("user/agents/{}a{levels}.md", "x/".repeat(levels));
    for levels in [0, MAX_DEPTH, MAX_DEPTH + 1] {
        world.put(&deep(levels), &agent(&format!("a{levels}"), "a"));
    }
    world.put("user/agents/x-y/b.md", &agent("b", "b"));
    let names: Vec<String> = (world.load("user").agents.into_iter())
        .map(|agent| agent.name)
        .collect();
    assert_eq!(names, ["a0", "a8", "b"]);
}

/// A folder that links to a whole disk: each folder contains further folders.
struct Disk {
    listed: std::cell::Cell<usize>,
}

impl ReadProject for Disk {
    fn read(&self, _: &TextPath, _: &[TextPath]) -> Result<Option<ReadFile>, String> {
        Ok(None)
    }

    fn read_own(&self, _: &TextPath) -> Result<Option<ReadFile>, String> {
        Ok(None)
    }

    fn list(&self, folder: &TextPath, most: usize) -> Result<Vec<Entry>, String> {
        if !folder.starts_with(&TextPath::new("/project/.claude")) {
            return Ok(Vec::new());
        }
        let entry = |number| Entry {
            name: format!("{number}"),
            is_text: true,
            kind: EntryKind::Folder,
        };
        let entries: Vec<_> = (0..300).take(most).map(entry).collect();
        self.listed.set(self.listed.get() + entries.len());
        Ok(entries)
    }

    fn exists(&self, _: &TextPath) -> bool {
        false
    }
}

#[test]
fn a_folder_without_end_is_searched_so_far_and_named() {
    let disk = Disk { listed: 0.into() };
    let places = World::new().places();
    let files = places.load(SettingSources::parse("project").unwrap(), &[], &disk);
    // Agents, commands, styles and rules; skills are searched one folder deep.
    assert_eq!(disk.listed.get(), 4 * (MAX_ENTRIES + 1) + 300);
    let mut named: Vec<_> = (files.problems.iter())
        .filter(|it| it.problem.contains("more than 10000 files and folders"))
        .map(|it| it.path.as_str())
        .collect();
    named.sort_unstable();
    let wanted = ["agents", "commands", "output-styles", "rules"];
    let wanted = wanted.map(|name| format!("/project/.claude/{name}"));
    assert_eq!(named, wanted);
    assert_eq!(files.problems.len(), wanted.len());
}

#[test]
fn no_agent_of_the_project_takes_the_place_of_the_persons_own() {
    let broken = "---\nname: broken\n---\n";
    for own in [
        agent("reviewer", "of the user"),
        "---\nname: reviewer\n---\n".to_owned(),
    ] {
        let world = World::default();
        world.put("user/agents/reviewer.md", &own);
        world.put("user/agents/broken.md", &agent("broken", "of the user"));
        for name in ["reviewer", "Reviewer", "other"] {
            let path = format!("project/.claude/agents/x-{name}.md");
            world.put(&path, &agent(name, "of the project"));
        }
        world.put("project/.claude/agents/broken.md", broken);
        let mut found = world.load("user,project");
        let replacing = found.agents_in_place_of_own().map(|it| it.name.as_str());
        assert_eq!(replacing.collect::<Vec<_>>(), ["Reviewer", "reviewer"]);
        found.keep_own_agents();
        let of_project = found.agents.iter();
        let of_project = of_project.filter(|agent| agent.source == AgentSource::Project);
        let names: Vec<&str> = of_project.map(|agent| agent.name.as_str()).collect();
        assert_eq!(names, ["other"]);
        let mut unusable = found.unusable_agents.iter();
        assert!(unusable.all(|(_, source)| *source == AgentSource::User));
    }
}

#[test]
fn conf_3_what_a_plugin_brings_is_named_after_it_and_stays_in_its_folder() {
    let world = World::new();
    world.put("user/commands/fix.md", "Fix of the user.");
    world.put(
        "plugins/lint/commands/fix.md",
        "---\nallowed-tools: Bash\n---\nFix $ARGUMENTS.",
    );
    world.put(
        "plugins/lint/agents/server.md",
        "---\nname: server\ndescription: d\nmcpServers:\n  - a:\n      command: sh\n---\nServe.\n",
    );
    world.put("plugins/lint/commands/deep/all.md", "Fix all.");
    world.put(
        "plugins/lint/agents/reviewer.md",
        &agent("reviewer", "Review."),
    );
    world.put(
        "plugins/lint/skills/notes/SKILL.md",
        "---\ndescription: Notes.\nallowed-tools: Bash\n---\nWrite notes.",
    );
    world.put("plugins/lint/more/extra.md", &agent("extra", "More."));
    world.put("plugins/lint/one/alone.md", "Alone.");
    world.put(
        "plugins/lint/book/SKILL.md",
        "---\ndescription: The book.\n---\nRead it.",
    );
    world.put(
        "plugins/lint/agents/broken.md",
        "---\nname: broken\n---\nx\n",
    );
    let lint = PluginFolder {
        name: "lint".into(),
        folder: "/plugins/lint".into(),
        places: PluginPlaces {
            commands: vec!["more".into(), "one/alone.md".into(), "commands".into()],
            agents: vec!["more".into(), "gone".into()],
            skills: vec!["book".into()],
            output_styles: Vec::new(),
        },
    };
    let sources = SettingSources::parse("user").unwrap();
    let found = world.places().load(sources, &[lint], &world);
    let commands: Vec<&str> = found.commands.iter().map(|it| it.name.as_str()).collect();
    let expected = [
        "fix",
        "lint:alone",
        "lint:deep:all",
        "lint:extra",
        "lint:fix",
    ];
    assert_eq!(commands, expected);
    let agents: Vec<&str> = found.agents.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(agents, ["lint:reviewer", "lint:extra"]);
    let skills: Vec<&str> = found.skills.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(skills, ["lint:book", "lint:notes"]);
    let unusable: Vec<&str> = found
        .unusable_agents
        .iter()
        .map(|it| it.0.as_str())
        .collect();
    assert_eq!(unusable, ["lint:broken", "lint:server"]);
    // What somebody else's command would like to be allowed is not allowed by it.
    assert!(
        found
            .expand("/lint:fix it")
            .unwrap()
            .allowed_tools
            .is_empty()
    );
    assert!(found.skills[0].allowed_tools.is_empty());
    assert_eq!(found.expand("/lint:fix it").unwrap().text, "Fix it.");
    assert_eq!(found.expand("/fix").unwrap().text, "Fix of the user.");
    let hooks_hear = found.expansion("/lint:fix it").unwrap();
    assert_eq!(hooks_hear.command_source.as_deref(), Some("plugin"));
}

#[test]
fn ctx_6_rules_follow_the_instructions_of_their_folder() {
    let world = World::new();
    world.put("project/CLAUDE.md", "project");
    world.put("project/.claude/rules/style.md", "Be brief.");
    let about = "---\npaths:\n  - src/**/*.ts\n  - \"*.tsx\"\n---\nUse types.\n";
    world.put("project/.claude/rules/web/types.md", about);
    world.put("project/.claude/rules/bad.md", "---\npaths: [\n---\nx");
    world.put("user/rules/mine.md", "Mine.");
    assert_eq!(
        world.memory("user,project"),
        [
            "Mine.",
            "project",
            "Be brief.",
            "(Only about files that match src/**/*.ts, *.tsx.)\n\nUse types."
        ]
    );
    assert_eq!(world.memory("user"), ["Mine."]);
    let problems = world.load("project").problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].path.as_str().ends_with("rules/bad.md"));
}

#[test]
fn ctx_6_instructions_for_other_agents_count_where_there_are_no_others() {
    let world = World::new();
    world.put("project/AGENTS.md", "for anybody");
    assert_eq!(world.memory("project"), ["for anybody"]);
    assert_eq!(world.memory("user,local"), [""; 0]);
    world.put("project/.claude/CLAUDE.md", "for this one");
    assert_eq!(world.memory("project"), ["for this one"]);
}
