//! Directories by role: a plugin reaches those that it declares and was granted, as they were granted, and no others.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};
use windlass::{
    AgentBuilder,
    core::{
        host::CancelSignal,
        tool::{Access, DenyPattern, FsGrant, GrantRoot, PluginGrant},
    },
    plugins::{
        ComponentGrant, GrantError, InspectedComponent, LoadFault, Plugin, PluginHost,
        PluginHostConfig,
    },
};

use crate::{
    guest::{self, Hooked},
    plugin_probe::{INPUT, Probe, call, said},
    support::{Model, calls, done_after},
};

/// Directories beside each other, each with a note that has its name.
struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["work", "data", "data/inner", "logs"] {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("note.txt"), name).unwrap();
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// A line that the probe says of a directory: its path below the folder, the access, and what reading and writing gave.
    fn line(&self, name: &str, rest: &str) -> String {
        format!("{} {rest}\n", self.text(name))
    }

    fn component(&self, probe: &Probe, asks: &Value) -> PathBuf {
        let path = self.path("probe.wasm");
        fs::write(&path, probe.component(asks)).unwrap();
        path
    }
}

/// Says of each directory its path, its access, what reading `note.txt` gave and what writing `made.txt` gave: `+`, or `E` and the
/// error code (`E0` not found, `E4` read only).
fn looks_around() -> Probe {
    let mut probe = Probe::default();
    let (note, made) = (probe.text("note.txt"), probe.text("made.txt"));
    probe.step(&format!(
        "(call $roots (i32.const 2048))
        (local.set 0 (i32.load (i32.const 2048)))
        (local.set 1 (i32.load (i32.const 2052)))
        (block $none (loop $next
            (br_if $none (i32.eqz (local.get 1)))
            (call $put (i32.load (local.get 0)) (i32.load offset=4 (local.get 0)))
            (call $letter (i32.const 32))
            (call $letter (select (i32.const 119) (i32.const 114) (i32.load8_u offset=8 (local.get 0))))
            (call $letter (i32.const 32))
            (call $read (i32.load offset=12 (local.get 0)) {note}
                (f64.const 0) (i32.const 1000) (i32.const 2064))
            (if (i32.load8_u (i32.const 2064))
                (then (call $letter (i32.const 69)) (call $digit (i32.load8_u (i32.const 2068))))
                (else (call $put (i32.load (i32.const 2068)) (i32.load (i32.const 2072)))))
            (call $letter (i32.const 32))
            (call $write (i32.load offset=12 (local.get 0)) {made} {note}
                (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 2080))
            (if (i32.load8_u (i32.const 2080))
                (then (call $letter (i32.const 69)) (call $digit (i32.load8_u (i32.const 2081))))
                (else (call $letter (i32.const 43))))
            (call $letter (i32.const 10))
            (local.set 0 (i32.add (local.get 0) (i32.const 16)))
            (local.set 1 (i32.sub (local.get 1) (i32.const 1)))
            (br $next)))
        (call $letter (i32.const 46))"
    ))
}

/// Says where the directory of the role is that the input names, or `-`.
fn asks_where() -> Probe {
    Probe::default().step(&format!(
        "(call $config_get {INPUT} (i32.const 2200))
        (if (i32.load8_u (i32.const 2200))
            (then (call $put (i32.load (i32.const 2204)) (i32.load (i32.const 2208))))
            (else (call $letter (i32.const 45))))"
    ))
}

/// The roles `database`, which is read, and `logs`, which is written.
fn roles() -> Value {
    json!({"grants": {"directories": [
        {"role": "database", "access": "read", "description": "where the .sqlite files are"},
        {"role": "logs", "access": "write", "description": "where reports go"},
    ]}})
}

fn host() -> PluginHost {
    PluginHost::new(PluginHostConfig::default())
}

/// What a call says that the core granted these files.
fn with_files(plugin: &Plugin, grant: FsGrant) -> String {
    let mut call = call("");
    call.grant = grant;
    let result = plugin.call_blocking(&call, &CancelSignal::new());
    assert!(!result.is_error, "{result:?}");
    result.joined_text()
}

/// A session in which the plugin's tool is called with this input and says this.
async fn session(
    ground: &Ground,
    input: Value,
    (result, is_error): (&str, bool),
    with: impl FnOnce(AgentBuilder) -> AgentBuilder,
) {
    let model = Model::of(json!([
        calls(&[("Probe", input)]),
        done_after(result, is_error),
    ]));
    let agent = model
        .agent()
        .cwd(ground.path("work"))
        .allowed_tools(["Probe"]);
    with(agent).build().unwrap().run("go").await.unwrap();
    model.verify();
}

#[test]
fn card_5_a_directory_of_a_role_is_reached_as_it_was_declared_and_granted() {
    let ground = Ground::new();
    let nothing = ComponentGrant::default();
    let both = nothing
        .clone()
        .role("database", ground.text("data"), Access::Read)
        .role("logs", ground.text("logs"), Access::Write);
    let plugin = looks_around().granted(&host(), &roles(), &both);
    let lines = [
        ground.line("data", "r data E4"),
        ground.line("logs", "w logs +"),
    ];
    assert_eq!(said(&plugin, ""), format!("{}.", lines.concat()));
    let to_read = nothing
        .clone()
        .role("logs", ground.text("logs"), Access::Read);
    let plugin = looks_around().granted(&host(), &roles(), &to_read);
    assert_eq!(said(&plugin, ""), ground.line("logs", "r logs E4") + ".");
    let plugin = asks_where().granted(&host(), &roles(), &both);
    assert_eq!(said(&plugin, "directory:database"), ground.text("data"));
    assert_eq!(said(&plugin, "directory:logs"), ground.text("logs"));
    for other in ["directory:", "directory:other", "database", "PATH"] {
        assert_eq!(said(&plugin, other), "-", "{other}");
    }
    // What is declared and not granted is not there.
    for grant in [&nothing, &to_read] {
        let plugin = asks_where().granted(&host(), &roles(), grant);
        assert_eq!(said(&plugin, "directory:database"), "-");
    }
    let plugin = looks_around().granted(&host(), &roles(), &nothing);
    assert_eq!(said(&plugin, ""), ".");
}

#[test]
fn card_5_a_role_that_is_not_declared_or_not_so_is_refused_by_name() {
    let ground = Ground::new();
    let nothing = ComponentGrant::default();
    let plugin = host()
        .load("probe", looks_around().component(&roles()))
        .unwrap();
    let refused = |grant: &ComponentGrant| plugin.granted(grant).unwrap_err();
    let data = ground.text("data");
    for (role, path, access) in [
        ("cache", data.as_str(), Access::Read),
        ("Database", &data, Access::Read),
        ("database", &data, Access::Write),
        ("database", "data", Access::Read),
        ("database", "", Access::Read),
        ("database", "/srv/../etc", Access::Read),
    ] {
        let fault = refused(&nothing.clone().role(role, path, access));
        let is_known = match role {
            "database" if access == Access::Write => matches!(fault, GrantError::RoleAccess(_)),
            "database" => matches!(fault, GrantError::RolePath { .. }),
            _ => matches!(fault, GrantError::Role(_)),
        };
        assert!(is_known, "{role} {path}: {fault:?}");
        assert!(fault.to_string().contains(&format!("`{role}`")), "{fault}");
    }
    // No variable has the name by which the directory of a role is told.
    let env = json!({"grants": {"env": ["directory:database"]}});
    let fault = InspectedComponent::of(looks_around().component(&env)).unwrap_err();
    assert!(matches!(fault, LoadFault::Asked(_)), "{fault:?}");
    // Files that are granted without a role are no directory of one.
    let files = ComponentGrant::from(PluginGrant::default().directory(&data, Access::Write));
    let plugin = plugin.granted(&files).unwrap();
    assert_eq!(said(&plugin, ""), ".");
}

#[test]
fn card_5_a_directory_of_a_role_to_read_is_not_written_whatever_is_granted_around_it() {
    let ground = Ground::new();
    let root = |name: &str| GrantRoot {
        path: ground.text(name),
        access: Access::Write,
    };
    let around = |roots| FsGrant {
        cwd: ground.text("work"),
        roots,
        deny: Vec::new(),
    };
    let reading = ComponentGrant::default().role("database", ground.text("data"), Access::Read);
    let plugin = looks_around().granted(&host(), &roles(), &reading);
    let told = with_files(&plugin, around(vec![root("data")]));
    assert!(told.ends_with("data E4\n."), "{told}");
    let told = with_files(&plugin, around(vec![root("data/inner"), root("logs")]));
    assert!(told.contains("data/inner E4\n"), "{told}");
    assert!(told.contains(&ground.line("logs", "w logs +")), "{told}");
    // The inner one of two roles is what it was granted as: the outer one is written.
    let nested = ComponentGrant::default()
        .role("database", ground.text("data/inner"), Access::Read)
        .role("logs", ground.text("data"), Access::Write);
    let plugin = looks_around().granted(&host(), &roles(), &nested);
    let told = said(&plugin, "");
    assert!(told.contains(&ground.line("data", "w data +")), "{told}");
    assert!(told.contains("r data/inner E4\n"), "{told}");
    // What could only be written by writing in what is read is refused.
    let refused = |grant: &ComponentGrant, asks: &Value| {
        let component = looks_around().component(asks);
        let plugin = host().load("probe", component).unwrap();
        let fault = plugin.granted(grant).unwrap_err();
        assert!(matches!(fault, GrantError::RoleOverlap { .. }), "{fault}");
    };
    for inner in ["data/inner", "data"] {
        let text = ground.text(inner);
        refused(
            &reading.clone().role("logs", &text, Access::Write),
            &roles(),
        );
        let mut asks = roles();
        asks["grants"]["filesystem"] = json!("write");
        let named = ComponentGrant {
            directories: PluginGrant::default().directory(&text, Access::Write),
            ..reading.clone()
        };
        refused(&named, &asks);
    }
}

#[test]
fn card_5_a_tool_that_says_it_only_reads_writes_in_no_directory_of_a_role() {
    let ground = Ground::new();
    let mut asks = roles();
    asks["tools"] = json!([{
        "name": "Probe", "description": "Looks.", "input_schema": {}, "annotations": {"readOnly": true},
    }]);
    let grant = ComponentGrant::default().role("logs", ground.text("logs"), Access::Write);
    let plugin = looks_around().granted(&host(), &asks, &grant);
    assert_eq!(said(&plugin, ""), ground.line("logs", "r logs E4") + ".");
}

#[test]
fn card_5_patterns_that_deny_close_files_in_directories_of_roles() {
    let ground = Ground::new();
    let grant = ComponentGrant::default().role("logs", ground.text("logs"), Access::Write);
    let plugin = looks_around().granted(&host(), &roles(), &grant);
    for (pattern, access, rest) in [
        ("/**/note.txt", Access::Read, "w E0 +"),
        ("/**/made.txt", Access::Write, "w logs E4"),
        ("*.txt", Access::Read, "w E0 E0"),
    ] {
        let denied = FsGrant {
            deny: vec![DenyPattern {
                pattern: pattern.to_owned(),
                access,
            }],
            ..FsGrant::default()
        };
        let told = with_files(&plugin, denied);
        assert_eq!(told, ground.line("logs", rest) + ".", "{pattern}");
    }
}

#[tokio::test]
async fn card_5_rules_close_files_in_directories_of_roles() {
    let ground = Ground::new();
    let path = ground.component(&looks_around(), &roles());
    let logs = ground.text("logs");
    let grant = ComponentGrant::default().role("logs", &logs, Access::Write);
    let open = ground.line("logs", "w logs +") + ".";
    let no_reading = ground.line("logs", "w E0 +") + ".";
    let no_writing = ground.line("logs", "w logs E4") + ".";
    for (rule, told) in [
        ("Read(*.pem)".to_owned(), open.as_str()),
        (format!("Read(/{logs}/note.txt)"), &no_reading),
        (format!("Probe(/{logs}/note.txt)"), &no_reading),
        (format!("Edit(/{logs}/**)"), &no_writing),
        // Who denies all reading or all writing denies it to plugins.
        ("Edit".to_owned(), &no_writing),
        ("Read".to_owned(), "."),
    ] {
        let (path, grant) = (path.clone(), grant.clone());
        session(&ground, json!({}), (told, false), |agent| {
            agent.plugin_granted(path, grant).disallowed_tools([&rule])
        })
        .await;
    }
}

#[tokio::test]
async fn card_5_what_windlass_keeps_is_closed_in_directories_of_roles() {
    let ground = Ground::new();
    let mut asks = roles();
    asks["grants"]["state"] = json!("durable");
    let path = ground.component(&looks_around(), &asks);
    let logs = ground.text("logs");
    let grant = ComponentGrant::default().role("logs", &logs, Access::Write);
    let written = ground.line("logs", "w logs E4") + ".";
    let own = ground.path("logs");
    session(&ground, json!({}), (&written, false), |agent| {
        agent
            .plugin_granted(&path, grant.clone())
            .own_directory(own)
    })
    .await;
    let mut remembering = grant.state(windlass::plugins::StateScope::Durable);
    remembering.state_directory = Some(ground.path("logs"));
    session(&ground, json!({}), (".", false), |agent| {
        agent.plugin_granted(&path, remembering)
    })
    .await;
}

#[cfg(unix)]
#[test]
fn card_5_a_link_out_of_the_directory_of_a_role_leads_nowhere() {
    use std::os::unix::fs::symlink;
    let ground = Ground::new();
    fs::remove_file(ground.path("logs/note.txt")).unwrap();
    symlink("/etc/passwd", ground.path("logs/note.txt")).unwrap();
    symlink(ground.path("work/made.txt"), ground.path("logs/made.txt")).unwrap();
    let grant = ComponentGrant::default().role("logs", ground.text("logs"), Access::Write);
    let plugin = looks_around().granted(&host(), &roles(), &grant);
    assert_eq!(said(&plugin, ""), ground.line("logs", "w E0 E0") + ".");
    assert!(!ground.path("work/made.txt").exists());
    // A directory that has become a link is not reached, and begins no session.
    fs::rename(ground.path("logs"), ground.path("moved")).unwrap();
    symlink(ground.path("data"), ground.path("logs")).unwrap();
    assert_eq!(said(&plugin, ""), ".");
    let path = ground.component(&looks_around(), &roles());
    let model = Model::says(["nobody asks"]);
    let refused = model.agent().plugin_granted(&path, grant).build();
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("a link leads from there to"), "{message}");
}

#[tokio::test]
async fn card_5_no_text_of_a_model_leads_to_the_directory_of_a_role() {
    let ground = Ground::new();
    let mut asks = roles();
    asks["grants"]["filesystem"] = json!("write");
    asks["tools"] = json!([{
        "name": "Probe", "description": "Looks.",
        "input_schema": {"type": "object", "properties": {"file_path": {"type": "string"}}},
        "paths": [{"field": "file_path", "access": "write"}],
    }]);
    let path = ground.component(&looks_around(), &asks);
    let workspace = ComponentGrant::from(PluginGrant::workspace(Access::Write));
    let denied = "in no directory that the tool's plugin was granted";
    let data = ground.text("data/note.txt");
    for named in ["../data/note.txt", &data] {
        let input = json!({"file_path": named});
        session(&ground, input, (denied, true), |agent| {
            agent.plugin_granted(&path, workspace.clone())
        })
        .await;
    }
    // A text that looks like a role is the name of a file in the workspace.
    let input = json!({"file_path": "directory:logs"});
    let told = ground.line("work", "w work E4") + ".";
    session(&ground, input, (&told, false), |agent| {
        agent.plugin_granted(&path, workspace.clone())
    })
    .await;
    // A path in the directory of a role is one that rules judge.
    let granted = workspace.role("database", ground.text("data"), Access::Read);
    let input = json!({"file_path": data});
    session(&ground, input, (denied, true), |agent| {
        agent.plugin_granted(&path, granted)
    })
    .await;
}

#[tokio::test]
async fn card_5_hooks_reach_the_directories_of_roles() {
    let ground = Ground::new();
    // Denies with what the note in its directory says, or with its own text where it has no note.
    let judge = r#"
        (i64.store (i32.const 3000) (i64.const 0x7478742e65746f6e))
        (call $roots (i32.const 2048))
        (if (i32.eqz (i32.load (i32.const 2052))) (then
            (return (call $deny (i32.const 4096) (i32.const 10)))))
        (call $read (i32.load offset=12 (i32.load (i32.const 2048)))
            (i32.const 3000) (i32.const 8)
            (f64.const 0) (i32.const 1000) (i32.const 2064))
        (if (i32.load8_u (i32.const 2064)) (then
            (return (call $deny (i32.const 4096) (i32.const 10)))))
        (call $deny (i32.load (i32.const 2068)) (i32.load (i32.const 2072)))
    "#;
    let declaration = json!({
        "name": "policy", "version": "0.1.0", "wit": "0.1.0",
        "hooks": [{"name": "Policy", "kind": "judge", "event": "PreToolUse", "matcher": "Probe"}],
        "grants": roles()["grants"],
    });
    let hooked = Hooked {
        judge: Some(judge),
        text: "no folders",
        ..Hooked::default()
    };
    let policy = ground.path("policy.wasm");
    fs::write(&policy, guest::hooked(&declaration.to_string(), &hooked)).unwrap();
    let probe = ground.component(
        &Probe::default().step("(call $letter (i32.const 46))"),
        &json!({}),
    );
    let nothing = ComponentGrant::default();
    let inner = ground.text("data/inner");
    let database = nothing.clone().role("database", &inner, Access::Read);
    let named = format!("Read(/{inner}/note.txt)");
    for (grant, rule, reason) in [
        (&nothing, "Read(*.pem)", "no folders"),
        (&database, "Read(*.pem)", "data/inner"),
        // Rules close there what they close elsewhere.
        (&database, &named, "no folders"),
        (&database, "Read", "no folders"),
        (&database, "Edit", "data/inner"),
    ] {
        session(&ground, json!({}), (reason, true), |agent| {
            let agent = agent.plugin(&probe).plugin_granted(&policy, grant.clone());
            agent.disallowed_tools([rule])
        })
        .await;
    }
}

#[test]
fn card_5_roles_are_declared_with_names_and_descriptions_that_a_person_can_read() {
    let role = |name: &str| json!({"role": name, "access": "read", "description": "data"});
    let of = |list: Value| {
        let asks = json!({"grants": {"directories": list}});
        InspectedComponent::of(looks_around().component(&asks))
    };
    let many = |count: usize| {
        (0..count)
            .map(|n| role(&format!("r{n}")))
            .collect::<Value>()
    };
    assert!(of(many(16)).is_ok());
    for refused in [
        many(17),
        json!([role("a"), role("a")]),
        json!([role("")]),
        json!([role("a b")]),
        json!([role("a=b")]),
        json!([role("../a")]),
        json!([role(&"a".repeat(65))]),
    ] {
        let fault = of(refused.clone()).unwrap_err();
        assert!(matches!(fault, LoadFault::Asked(_)), "{refused}: {fault:?}");
    }
    let long = "x".repeat(201);
    for description in ["", " ", "a\nb", "a\u{202e}b", "a\u{1b}[2Jb", &long] {
        let mut role = role("data");
        role["description"] = json!(description);
        let fault = of(json!([role])).unwrap_err();
        assert!(matches!(fault, LoadFault::Asked(_)), "{description:?}");
    }
    for (key, value) in [
        ("access", json!("none")),
        ("path", json!("/etc")),
        ("role", json!(1)),
    ] {
        let mut role = role("data");
        role[key] = value;
        let fault = of(json!([role])).unwrap_err();
        assert!(matches!(fault, LoadFault::DeclarationShape(_)), "{fault:?}");
    }
}

#[test]
fn card_5_a_grant_of_roles_can_be_written_down_and_is_read_strictly() {
    let grant = ComponentGrant::default().role("database", "/srv/data", Access::Read);
    let written = serde_json::to_value(&grant).unwrap();
    let role = json!({"database": {"path": "/srv/data", "access": "read"}});
    assert_eq!(written["roles"], role);
    let again: ComponentGrant = serde_json::from_value(written).unwrap();
    assert_eq!(again, grant);
    for broken in [
        json!({"database": "/srv/data"}),
        json!({"database": {"path": "/srv/data"}}),
        json!({"database": {"path": "/srv/data", "access": "all"}}),
        json!({"database": {"path": "/srv/data", "access": "read", "more": 1}}),
    ] {
        let grant = serde_json::from_value::<ComponentGrant>(json!({"roles": broken}));
        assert!(grant.is_err(), "{broken}");
    }
}
