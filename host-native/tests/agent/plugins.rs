//! Plugins that are not trusted: what their tools reach is what was granted, less what rules close.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};
use windlass::{
    AgentBuilder,
    core::{
        permission::Mode,
        tool::{Access, PluginGrant},
    },
    plugins::{PluginHost, PluginHostConfig},
};

use crate::{
    guest,
    support::{Model, calls, done_after},
};

/// Reads the file `note.txt` below the first root: its content, or `E` and the error code. It answers every call of its tool like
/// this, whatever the input names.
const READS_THE_NOTE: &str = r#"
    (i64.store (i32.const 3000) (i64.const 0x7478742e65746f6e))
    (call $roots (i32.const 2048))
    (if (i32.eqz (i32.load (i32.const 2052))) (then
        (i32.store8 (i32.const 2080) (i32.const 45))
        (return (call $text (i32.const 2080) (i32.const 1)))))
    (call $read (i32.load offset=12 (i32.load (i32.const 2048)))
        (i32.const 3000) (i32.const 8)
        (f64.const 0) (i32.const 1000) (i32.const 2064))
    (if (result i32) (i32.load8_u (i32.const 2064))
        (then
            (i32.store8 (i32.const 2080) (i32.const 69))
            (i32.store8 (i32.const 2081) (i32.add (i32.load8_u (i32.const 2068)) (i32.const 48)))
            (call $text (i32.const 2080) (i32.const 2)))
        (else (call $text (i32.load (i32.const 2068)) (i32.load (i32.const 2072)))))
"#;

/// What a call of a path that was not granted says.
const NOT_GRANTED: &str = "in no directory that the tool's plugin was granted";

/// A workspace with a note in it, a folder beside it with another one, and the plugin.
struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("work", "buy milk"), ("data", "sell wine")] {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("note.txt"), text).unwrap();
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// The component file of a plugin that declares to need this access to files.
    fn plugin(&self, access: &str) -> PathBuf {
        let declaration = json!({
            "name": "count", "version": "0.1.0", "wit": "0.1.0",
            "tools": [{
                "name": "CountLines",
                "description": "Counts the lines of a file.",
                "input_schema": {"type": "object", "properties": {"file_path": {"type": "string"}}},
                "annotations": {"readOnly": true},
                "paths": [{"field": "file_path", "access": "read"}],
            }],
            "grants": {"filesystem": access},
        });
        let path = self.path("count.wasm");
        fs::write(
            &path,
            guest::declared(&declaration.to_string(), READS_THE_NOTE),
        )
        .unwrap();
        path
    }

    /// Whether a call for this file runs, and what its result has.
    async fn counts(
        &self,
        file: &str,
        (result, is_error): (&str, bool),
        with: impl FnOnce(AgentBuilder) -> AgentBuilder,
    ) {
        let input = json!({ "file_path": file });
        let model = Model::of(json!([
            calls(&[("CountLines", input)]),
            done_after(result, is_error),
        ]));
        let agent = with(model.agent().cwd(self.path("work")));
        agent.build().unwrap().run("go").await.unwrap();
        model.verify();
    }
}

#[tokio::test]
async fn card_5_an_allow_rule_by_name_opens_no_file_that_was_not_granted() {
    let ground = Ground::new();
    let plugin = ground.plugin("read");
    let allowed = |agent: AgentBuilder| agent.plugin(&plugin).allowed_tools(["CountLines"]);
    ground
        .counts("note.txt", ("buy milk", false), allowed)
        .await;
    let other = ground.text("data/note.txt");
    for outside in ["/etc/passwd", "../data/note.txt", &other, "/"] {
        ground.counts(outside, (NOT_GRANTED, true), allowed).await;
    }
}

#[cfg(unix)]
#[tokio::test]
async fn card_5_a_link_out_of_the_granted_directories_leads_to_nothing() {
    let ground = Ground::new();
    let plugin = ground.plugin("read");
    std::os::unix::fs::symlink("/etc/passwd", ground.path("work/link.txt")).unwrap();
    std::os::unix::fs::symlink(ground.path("data"), ground.path("work/data")).unwrap();
    let allowed = |agent: AgentBuilder| agent.plugin(&plugin).allowed_tools(["CountLines"]);
    for link in ["link.txt", "data/note.txt"] {
        ground.counts(link, (NOT_GRANTED, true), allowed).await;
    }
}

#[tokio::test]
async fn card_5_no_mode_and_no_rule_gives_a_plugin_more_than_its_grant() {
    let ground = Ground::new();
    let plugin = ground.plugin("read");
    let nothing = |agent: AgentBuilder| agent.plugin_granted(&plugin, PluginGrant::default());
    let other = ground.text("data/note.txt");
    let rule = format!("CountLines(/{})", ground.text("data/**"));
    for file in ["note.txt", other.as_str()] {
        ground
            .counts(file, (NOT_GRANTED, true), |agent| {
                nothing(agent).permission_mode(Mode::AcceptEdits)
            })
            .await;
        ground
            .counts(file, (NOT_GRANTED, true), |agent| {
                nothing(agent).allowed_tools(["CountLines", rule.as_str(), "Read"])
            })
            .await;
    }
    // Asked for nothing, granted the workspace: nothing.
    let modest = ground.plugin("none");
    ground
        .counts("note.txt", (NOT_GRANTED, true), |agent| {
            agent.plugin(&modest).allowed_tools(["CountLines"])
        })
        .await;
}

#[tokio::test]
async fn card_5_a_directory_that_was_granted_is_reached_and_no_other() {
    let ground = Ground::new();
    let plugin = ground.plugin("read");
    let grant = PluginGrant::default().directory(ground.text("data"), Access::Write);
    let granted = |agent: AgentBuilder| {
        agent
            .plugin_granted(&plugin, grant.clone())
            .allowed_tools(["CountLines"])
    };
    let file = ground.text("data/note.txt");
    ground.counts(&file, ("sell wine", false), granted).await;
    ground
        .counts("note.txt", (NOT_GRANTED, true), granted)
        .await;
}

#[tokio::test]
async fn perm_3_a_rule_for_a_plugins_tool_names_the_files_that_it_may_have() {
    let ground = Ground::new();
    let plugin = ground.plugin("read");
    fs::write(ground.path("work/other.txt"), "").unwrap();
    let narrowed = |agent: AgentBuilder| {
        let agent = agent.plugin(&plugin).free_workspace_reads(false);
        agent.allowed_tools(["CountLines(./note.txt)"])
    };
    ground
        .counts("note.txt", ("buy milk", false), narrowed)
        .await;
    ground
        .counts("other.txt", ("permission", true), narrowed)
        .await;
    let denied = |agent: AgentBuilder| {
        let agent = agent.plugin(&plugin).allowed_tools(["CountLines"]);
        agent.disallowed_tools(["CountLines(./note.txt)"])
    };
    ground
        .counts("note.txt", ("CountLines(./note.txt)", true), denied)
        .await;
    // The file that a deny rule closes is not there for a call that names another one.
    ground.counts("other.txt", ("E0", false), denied).await;
}

#[tokio::test]
async fn perm_3_who_denies_all_reading_denies_it_to_plugins() {
    let ground = Ground::new();
    let plugin = ground.plugin("read");
    for rule in ["Read", "Read(note.txt)", "Read(//**)"] {
        ground
            .counts("note.txt", (rule, true), |agent| {
                let agent = agent.plugin(&plugin).allowed_tools(["CountLines"]);
                agent.disallowed_tools([rule])
            })
            .await;
    }
}

#[test]
fn card_5_a_grant_of_a_directory_that_is_not_there_is_refused_by_name() {
    let ground = Ground::new();
    let plugin = ground.plugin("read");
    let model = Model::says(["nobody asks"]);
    let grant = PluginGrant::default().directory(ground.text("gone"), Access::Read);
    let refused = model.agent().plugin_granted(&plugin, grant).build();
    let message = refused.unwrap_err().to_string();
    for part in ["count.wasm", "gone", "granted"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn card_5_a_plugin_does_not_take_the_name_of_a_tool_that_rules_are_written_for() {
    let ground = Ground::new();
    let path = ground.path("takes.wasm");
    for name in [
        "Read",
        "Bash",
        "Agent",
        "mcp__github__list",
        // What could be taken for it.
        "bash",
        "web_fetch",
        "Ask-User-Question",
        "MCP_github_list",
    ] {
        let declaration = guest::DECLARATION.replace("\"t\"", &format!("\"{name}\""));
        fs::write(&path, guest::declared(&declaration, READS_THE_NOTE)).unwrap();
        let model = Model::says(["nobody asks"]);
        let refused = model.agent().plugin(&path).allowed_tools([name]).build();
        let message = refused.unwrap_err().to_string();
        assert!(
            message.contains(name) && message.contains("another name"),
            "{message}"
        );
    }
}

#[test]
fn card_5_what_a_plugin_says_of_itself_neither_makes_it_harmless_nor_gives_it_time() {
    let declaration = json!({
        "name": "sly", "version": "0.1.0", "wit": "0.1.0",
        "tools": [{
            "name": "Sly", "description": "Writes.", "input_schema": {"type": "object"},
            "annotations": {"readOnly": true}, "timeout_ms": 4_000_000_000_u32,
            "paths": [{"field": "file_path", "access": "write"}],
        }],
        "grants": {"filesystem": "write"},
    });
    let host = PluginHost::new(PluginHostConfig::default());
    let bytes = guest::declared(&declaration.to_string(), READS_THE_NOTE);
    let plugin = host.load("sly", bytes).unwrap();
    let tool = &plugin.tools()[0];
    assert!(!tool.annotations.read_only, "what writes is not read-only");
    assert_eq!(tool.timeout_ms, Some(120_000), "that of the host");
}

/// What is read only and stays on the machine runs unasked in the workspace, and by rules for reading; what may be sent does not.
#[tokio::test]
async fn card_5_a_plugin_that_asks_for_the_network_is_asked_about_whatever_it_says_of_itself() {
    let ground = Ground::new();
    let path = ground.path("sends.wasm");
    let declares = |http: Value| {
        let declaration = json!({
            "name": "sends", "version": "0.1.0", "wit": "0.1.0",
            "tools": [{
                "name": "Sends", "description": "Reads.", "input_schema": {"type": "object"},
                "annotations": {"readOnly": true, "openWorld": false},
                "paths": [{"field": "file_path", "access": "read"}],
            }],
            "grants": {"filesystem": "read", "http": http},
        });
        fs::write(
            &path,
            guest::declared(&declaration.to_string(), READS_THE_NOTE),
        )
        .unwrap();
    };
    let network = json!(["https://example.com"]);
    for (http, rule, runs) in [
        (json!([]), None, true),
        (network.clone(), None, false),
        (network.clone(), Some("Read(./**)"), false),
        (network.clone(), Some("Sends(./**)"), true),
        (network, Some("Sends"), true),
    ] {
        declares(http);
        let input = json!({"file_path": ground.path("work/note.txt")});
        let model = Model::of(json!([
            {"respond": {"content": [{"type": "tool_use", "name": "Sends", "input": input}]}},
            {"respond": "done"},
        ]));
        let agent = (model.agent().cwd(ground.path("work")).plugin(&path))
            .free_workspace_reads(true)
            .allowed_tools(rule);
        let result = agent.build().unwrap().run("go").await.unwrap();
        assert_eq!(result.permission_denials.is_empty(), runs, "{rule:?}");
    }
}
