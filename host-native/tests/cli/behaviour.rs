//! One folder, tried in every face: what `docs/behaviour.md` says of them is what they do.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use windlass::{
    Agent,
    model_server::ModelServer,
    settings::{SettingSource, trust},
    store::ConfigDir,
};

use crate::support::{Windlass, model};

/// What may be seen of a session, in the words of the table.
const ROWS: [&str; 10] = [
    "what the project's settings deny runs",
    "what they allow runs unasked",
    "their hooks run",
    "`.mcp.json` starts its servers",
    "a plain variable of theirs (`LOG_LEVEL`) is set",
    "any other variable of theirs is set",
    "`CLAUDE.md` reaches the model",
    "skills reach the model",
    "agents of the project can be started",
    "a transcript is written",
];

#[derive(Debug, Clone, Copy)]
enum Face {
    CommandLine,
    Engine,
    Library,
}

fn put(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn arrange(folder: &Path) {
    let hook = json!({"type": "command", "command": "touch hooked"});
    let settings = json!({
        "permissions": {"deny": ["Bash(rm:*)"], "allow": ["Bash(mkdir:*)"]},
        "hooks": {"UserPromptSubmit": [{"hooks": [hook]}]},
        "env": {"LOG_LEVEL": "debug", "GREETING": "hello"},
    });
    let notes = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/sdk/servers/notes.py");
    let servers = json!({"mcpServers": {"notes": {"command": "python3", "args": [notes]}}});
    for (name, text) in [
        (".claude/settings.json", settings.to_string().as_str()),
        (".mcp.json", &servers.to_string()),
        ("CLAUDE.md", "Always answer in rhymes."),
        (
            ".claude/skills/rhyme/SKILL.md",
            "---\nname: rhyme\ndescription: Finds rhymes.\n---\nThink.",
        ),
        (
            ".claude/agents/poet.md",
            "---\nname: poet\ndescription: Writes poems.\n---\nYou are a poet.",
        ),
        ("kept", ""),
    ] {
        put(folder, name, text);
    }
}

const RULES: [&str; 3] = ["Bash(rm:*)", "Bash(printenv:*)", "Bash(touch:*)"];

fn script() -> ModelServer {
    let bash = |line: &str| {
        let call = json!({"type": "tool_use", "name": "Bash", "input": {"command": line}});
        json!({"respond": {"content": [call]}})
    };
    let exchanges = [
        bash("rm -f kept"),
        bash("mkdir allowed"),
        bash("printenv LOG_LEVEL > /dev/null && touch plain"),
        bash("printenv GREETING > /dev/null && touch other"),
        json!({"respond": "Done."}),
    ];
    model(&json!({ "exchanges": exchanges }).to_string())
}

/// A session in this face; what of the rows was seen.
fn seen(face: Face, is_trusted: bool) -> [bool; ROWS.len()] {
    let server = script();
    let windlass = Windlass::asking(&server);
    let folder = fs::canonicalize(windlass.workspace.path()).unwrap();
    arrange(&folder);
    let config = ConfigDir::at(windlass.home().join(".claude"));
    if is_trusted {
        // Where the file lies depends on whose home directory it is.
        for home in [Some(windlass.home()), None] {
            trust(&config, home, &folder).unwrap();
        }
    }
    let mut allowed = Vec::new();
    for rule in RULES {
        allowed.extend(["--allowedTools", rule]);
    }
    let done = match face {
        Face::CommandLine => windlass.run(&[&["-p", "go"], &allowed[..]].concat()).stdout,
        Face::Engine => {
            let flags = [
                "--input-format",
                "stream-json",
                "--output-format",
                "stream-json",
                "--verbose",
            ];
            let prompt = json!({"type": "user", "message": {"role": "user", "content": "go"}});
            let input = format!("{prompt}\n");
            let done = windlass.run_with_input(&[&flags[..], &allowed].concat(), input.as_bytes());
            done.lines().pop().unwrap()["result"].to_string()
        }
        Face::Library => in_library(&server, &folder, config.root()),
    };
    assert!(done.contains("Done."), "{face:?}: {done}");
    let first: Value = serde_json::from_slice(&server.requests()[0].body).unwrap();
    let first = first.to_string();
    let made = |name: &str| folder.join(name).exists();
    [
        !made("kept"),
        made("allowed"),
        made("hooked"),
        first.contains("mcp__notes__"),
        made("plain"),
        made("other"),
        first.contains("Always answer in rhymes."),
        first.contains("Finds rhymes."),
        first.contains("Writes poems."),
        has_transcript(config.root()),
    ]
}

fn in_library(server: &ModelServer, folder: &Path, config: &Path) -> String {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let agent = Agent::builder()
        .base_url(server.url())
        .api_key("sk-test")
        .builtin_tools()
        .core_tools([
            windlass::core::tools::CoreTool::Task,
            windlass::core::tools::CoreTool::Skill,
        ])
        .cwd(folder)
        .config_dir(config)
        .setting_sources([
            SettingSource::User,
            SettingSource::Project,
            SettingSource::Local,
        ])
        .allowed_tools(RULES)
        .build()
        .unwrap();
    let result = runtime.block_on(agent.run("go")).unwrap();
    result.result.unwrap_or_default()
}

fn has_transcript(config: &Path) -> bool {
    let mut folders: Vec<PathBuf> = vec![config.join("projects")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|it| it == "jsonl") => return true,
                false => {}
            }
        }
    }
    false
}

#[test]
fn conf_1_what_is_said_of_the_faces_is_what_they_do() {
    let said = include_str!("../../../docs/behaviour.md");
    for is_trusted in [false, true] {
        let faces = [Face::CommandLine, Face::Engine, Face::Library];
        let seen = faces.map(|face| seen(face, is_trusted));
        for (number, row) in ROWS.iter().enumerate() {
            let cells = seen.map(|seen| if seen[number] { "yes" } else { "no" });
            let folder = if is_trusted { "trusted" } else { "not trusted" };
            let line = format!("| {folder} | {row} | {} |", cells.join(" | "));
            assert!(said.contains(&line), "the table does not have: {line}");
        }
    }
}
