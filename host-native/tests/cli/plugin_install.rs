//! `windlass plugin add`, `inspect`, `update` and `remove`, from paths; and sessions with what is installed.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use windlass::plugins::Inspection;

use crate::{
    guest,
    support::{Done, Windlass, model, saying},
};

/// The declaration of a plugin with one tool, `Speak`.
pub(crate) fn declaration(version: &str, asks: &Value) -> Value {
    json!({
        "name": "speaks", "version": version, "wit": "0.1.0",
        "tools": [{"name": "Speak", "description": "Says the language.", "input_schema": {"type": "object"}}],
        "grants": asks,
    })
}

/// A plugin whose tool says the value of the variable `LANGUAGE`, or `-`.
pub(crate) fn plugin(version: &str, asks: &Value) -> Vec<u8> {
    declared(&declaration(version, asks))
}

fn declared(declaration: &Value) -> Vec<u8> {
    guest::saying(&declaration.to_string(), "LANGUAGE")
}

/// All files below a home directory that plugins could be in, with their contents.
pub(crate) fn kept(windlass: &Windlass) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for folder in [".config/windlass", ".local/share/windlass/plugins"] {
        collect(&windlass.home().join(folder), &mut files);
    }
    // Whether another command runs is no file of a plugin.
    files.retain(|path, _| !path.ends_with("installed.lock"));
    files
}

fn collect(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => collect(&path, files),
            false => drop(files.insert(path.clone(), fs::read(&path).unwrap())),
        }
    }
}

/// A session in which the installed tool says this.
pub(crate) fn hears(windlass: &Windlass, more: &[&str], result: &str) -> Done {
    let script = json!({"exchanges": [
        {"respond": {"content": [{"type": "tool_use", "name": "Speak", "input": {}}]}},
        {"expect": {"tool_results": [{"contains": result, "is_error": false}]}, "respond": "done"},
    ]});
    let server = model(&script.to_string());
    let args = ["-p", "go", "--allowedTools", "Speak"];
    let mut command = windlass.command(&[&args, more].concat());
    command
        .env("ANTHROPIC_BASE_URL", server.url())
        .env("ANTHROPIC_API_KEY", "none")
        .env("LANGUAGE", "français");
    let done = Done::of(&command.output().unwrap());
    assert_eq!(done.code, Some(0), "{result}: {done:?}");
    server.verify().unwrap();
    done
}

/// The names of the plugins and of the tools of a session.
fn init(windlass: &Windlass, more: &[&str]) -> (Vec<String>, Vec<String>) {
    let server = saying(["done"]);
    let args = ["-p", "go", "--output-format", "stream-json", "--verbose"];
    let mut command = windlass.command(&[&args, more].concat());
    command
        .env("ANTHROPIC_BASE_URL", server.url())
        .env("ANTHROPIC_API_KEY", "none");
    let done = Done::of(&command.output().unwrap());
    assert_eq!(done.code, Some(0), "{done:?}");
    let init = &done.lines()[0];
    let names = |list: &Value, name: &dyn Fn(&Value) -> Value| {
        let list = list.as_array().unwrap().iter();
        list.map(|entry| name(entry).as_str().unwrap().to_owned())
            .collect()
    };
    (
        names(&init["plugins"], &|plugin| plugin["name"].clone()),
        names(&init["tools"], &|tool| tool.clone()),
    )
}

fn has(list: &[String], name: &str) -> bool {
    list.iter().any(|known| known == name)
}

fn put(windlass: &Windlass, version: &str, asks: &Value) -> String {
    let bytes = plugin(version, asks);
    fs::write(windlass.workspace.path().join("speaks.wasm"), &bytes).unwrap();
    Inspection::digest(&bytes)
}

#[test]
fn card_5_an_installed_plugin_is_there_in_every_session_with_nothing_but_what_it_was_granted() {
    let windlass = Windlass::new();
    let digest = put(
        &windlass,
        "1.0.0",
        &json!({"env": ["LANGUAGE"], "filesystem": "read"}),
    );
    let done = windlass.run(&["plugin", "add", "speaks.wasm"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    for part in [
        digest.as_str(),
        "read the variable LANGUAGE",
        "read files",
        "with nothing granted",
        "`windlass plugin grant speaks`",
    ] {
        assert!(done.stdout.contains(part), "{part}: {done:?}");
    }
    // The file that it came from is not needed any more.
    fs::remove_file(windlass.workspace.path().join("speaks.wasm")).unwrap();
    hears(&windlass, &[], "-");
    let (plugins, tools) = init(&windlass, &[]);
    assert!(
        has(&plugins, "speaks") && has(&tools, "Speak"),
        "{plugins:?}"
    );
    for off in [
        &["--no-plugins"][..],
        &["--bare"],
        &["--setting-sources", "project"],
    ] {
        let (plugins, tools) = init(&windlass, off);
        assert!(plugins.is_empty() && !has(&tools, "Speak"), "{off:?}");
    }

    let done = windlass.run(&["plugin", "grant", "speaks", "--env", "LANGUAGE", "--yes"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    hears(&windlass, &[], "français");
    let done = windlass.run(&["plugin", "inspect", "speaks"]);
    for part in [
        digest.as_str(),
        "as they were installed",
        "the variable LANGUAGE",
        "speaks.wasm",
    ] {
        assert!(done.stdout.contains(part), "{part}: {done:?}");
    }
    let done = windlass.run(&["plugin", "inspect", "speaks", "--json"]);
    let said: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(said["intact"], true);
    assert_eq!(said["components"][0]["declaration"]["name"], "speaks");
    let done = windlass.run(&["plugin", "list"]);
    assert!(done.stdout.contains("installed\nspeaks 1.0.0"), "{done:?}");
    let done = windlass.run(&["plugin", "list", "--installed", "--json"]);
    let said: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(said[0]["digest"], digest.as_str());

    let done = windlass.run(&["plugin", "remove", "speaks"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(!has(&init(&windlass, &[]).0, "speaks"));
    let left = kept(&windlass);
    assert!(
        !left
            .keys()
            .any(|path| path.extension().is_some_and(|kind| kind == "wasm")),
        "{:?}",
        left.keys()
    );
    let done = windlass.run(&["plugin", "list", "--json"]);
    assert_eq!(done.stdout, "{}\n");
    let done = windlass.run(&["plugin", "remove", "speaks"]);
    assert!(
        done.complaint(3).contains("plugin list --installed"),
        "{done:?}"
    );
}

#[test]
fn card_5_yes_grants_what_a_plugin_asks_for() {
    let windlass = Windlass::new();
    put(&windlass, "1.0.0", &json!({"env": ["LANGUAGE"]}));
    let done = windlass.run(&["plugin", "add", "speaks.wasm", "--yes"]);
    assert!(done.stdout.contains("granted what it asks for"), "{done:?}");
    hears(&windlass, &[], "français");
    let done = windlass.run(&["plugin", "add", "speaks.wasm"]);
    assert!(done.stdout.contains("is installed already"), "{done:?}");
}

#[test]
fn card_5_what_cannot_be_installed_is_one_sentence_and_leaves_everything_as_it_was() {
    let windlass = Windlass::new();
    put(&windlass, "1.0.0", &json!({}));
    windlass.run(&["plugin", "add", "speaks.wasm"]);
    let at = |name: &str| windlass.workspace.path().join(name);
    let mut other = declaration("1.0.0", &json!({}));
    other["name"] = json!("other");
    fs::write(at("tool.wasm"), declared(&other)).unwrap();
    other["name"] = json!("../other");
    other["tools"][0]["name"] = json!("Say");
    fs::write(at("name.wasm"), declared(&other)).unwrap();
    other["name"] = json!("other");
    other["wit"] = json!("0.0.9");
    fs::write(at("old.wasm"), declared(&other)).unwrap();
    other["wit"] = json!("0.1.0");
    other["tools"][0]["input_schema"] = json!({"type": "text"});
    fs::write(at("schema.wasm"), declared(&other)).unwrap();
    fs::write(at("text.wasm"), "no component").unwrap();
    fs::write(at("module.wasm"), wat::parse_str("(module)").unwrap()).unwrap();
    fs::write(at("world.wasm"), world()).unwrap();
    fs::write(at("cut.wasm"), &plugin("1.0.0", &json!({}))[..900]).unwrap();
    windlass.write("broken/.claude-plugin/plugin.json", "{");
    windlass.write("empty/README.md", "nothing");
    windlass.write(
        "linked/.claude-plugin/plugin.json",
        "{\"name\": \"linked\"}",
    );
    std::os::unix::fs::symlink("/etc/passwd", at("linked/more")).unwrap();
    let before = kept(&windlass);
    for (source, problem) in [
        ("gone.wasm", "gone.wasm"),
        ("tool.wasm", "`windlass plugin remove speaks` makes room"),
        ("name.wasm", "1 to 64"),
        ("old.wasm", "0.0.9"),
        ("schema.wasm", "the tool `Say` is none: at #/type"),
        ("text.wasm", "Nothing was installed"),
        ("module.wasm", "component"),
        ("world.wasm", "test:other/thing"),
        ("cut.wasm", "Nothing was installed"),
        ("broken", "plugin.json"),
        ("empty", "neither a .claude-plugin/plugin.json"),
        ("linked", "no links"),
        ("http://localhost/x.wasm", "without encryption"),
        ("ftp://localhost/x.wasm", "a path, https://… or oci://…"),
        ("oci://speaks", "oci://REGISTRY/REPOSITORY:TAG"),
    ] {
        let done = windlass.run(&["plugin", "add", source]);
        assert!(done.complaint(3).contains(problem), "{source}: {done:?}");
        assert_eq!(kept(&windlass), before, "{source}");
    }
    let wrong = format!("sha256:{}", "0".repeat(64));
    for (digest, problem) in [
        (wrong.as_str(), "another file than the one that was meant"),
        ("12", "64 hexadecimal"),
    ] {
        fs::write(at("fresh.wasm"), plugin("3.0.0", &json!({}))).unwrap();
        let done = windlass.run(&["plugin", "add", "fresh.wasm", "--digest", digest]);
        assert!(done.complaint(3).contains(problem), "{done:?}");
        assert_eq!(kept(&windlass), before);
    }
    // A lock file that nobody can rely on starts nothing, and is not written over.
    let lockfile = windlass
        .home()
        .join(".config/windlass/plugins/installed.json");
    fs::write(&lockfile, "{").unwrap();
    for args in [&["plugin", "add", "tool.wasm"][..], &["-p", "go"]] {
        let mut command = windlass.command(args);
        command.env("ANTHROPIC_API_KEY", "none");
        let done = Done::of(&command.output().unwrap());
        assert_ne!(done.code, Some(0), "{done:?}");
        assert!(
            done.stderr.contains("installed.json` cannot be read"),
            "{done:?}"
        );
    }
    assert_eq!(fs::read_to_string(&lockfile).unwrap(), "{");
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(&lockfile, fs::Permissions::from_mode(0o666)).unwrap();
    let done = windlass.run(&["plugin", "list"]);
    assert!(done.complaint(3).contains("chmod 600"), "{done:?}");
}

/// A component that imports what no host has.
fn world() -> Vec<u8> {
    let text = r#"(component (import "test:other/thing@1.0.0" (instance (export "f" (func)))))"#;
    let mut component = wat::parse_str(text).unwrap();
    guest::append_declaration(&mut component, guest::DECLARATION);
    component
}

#[test]
fn card_5_an_update_shows_what_is_different_and_has_nothing_without_a_yes() {
    let windlass = Windlass::new();
    let first = put(
        &windlass,
        "1.0.0",
        &json!({"env": ["LANGUAGE"], "state": "session"}),
    );
    windlass.run(&["plugin", "add", "speaks.wasm"]);
    windlass.run(&["plugin", "grant", "speaks", "--env", "LANGUAGE", "--yes"]);
    let done = windlass.run(&["plugin", "update", "speaks"]);
    assert!(done.stdout.contains("is up to date"), "{done:?}");
    hears(&windlass, &[], "français");

    let second = put(&windlass, "1.1.0", &json!({"env": ["LANGUAGE", "EDITOR"]}));
    let done = windlass.run(&["plugin", "update"]);
    for part in [
        "+ read the variable EDITOR",
        "- remember while a session lasts",
        "    read the variable LANGUAGE",
        second.as_str(),
        "with nothing granted",
    ] {
        assert!(done.stdout.contains(part), "{part}: {done:?}");
    }
    hears(&windlass, &[], "-");
    let left = kept(&windlass);
    let has = |digest: &str| {
        let name = format!("{}.wasm", digest.trim_start_matches("sha256:"));
        left.keys().any(|path| path.ends_with(&name))
    };
    assert!(has(&second) && !has(&first), "{:?}", left.keys());

    windlass.run(&["plugin", "grant", "speaks", "--env", "LANGUAGE", "--yes"]);
    put(&windlass, "1.2.0", &json!({"env": ["LANGUAGE"]}));
    let done = windlass.run(&["plugin", "update", "speaks", "--yes"]);
    assert!(done.stdout.contains("has what it had"), "{done:?}");
    hears(&windlass, &[], "français");

    // One that cannot be used leaves the one that is there.
    let before = kept(&windlass);
    fs::write(windlass.workspace.path().join("speaks.wasm"), "broken").unwrap();
    let done = windlass.run(&["plugin", "update", "speaks"]);
    assert!(
        done.complaint(3).contains("Nothing was changed"),
        "{done:?}"
    );
    let mut other = declaration("1.3.0", &json!({}));
    other["name"] = json!("other");
    fs::write(
        windlass.workspace.path().join("speaks.wasm"),
        declared(&other),
    )
    .unwrap();
    let done = windlass.run(&["plugin", "update", "speaks"]);
    assert!(
        done.complaint(3).contains("is the plugin other now"),
        "{done:?}"
    );
    assert_eq!(kept(&windlass), before);
    hears(&windlass, &[], "français");
}

#[test]
fn card_5_a_folder_is_installed_whole_and_runs_nothing_with_the_rights_of_the_user_unasked() {
    let windlass = Windlass::new();
    let mark = windlass.home().join("ran");
    windlass.write(
        "notes/.claude-plugin/plugin.json",
        r#"{"name": "notes", "version": "2.0.0"}"#,
    );
    windlass.write("notes/commands/tidy.md", "Tidy up.");
    let hooks = json!({"hooks": {"SessionStart": [{"hooks": [
        {"type": "command", "command": format!("touch '{}'", mark.display())},
    ]}]}});
    windlass.write("notes/hooks/hooks.json", &hooks.to_string());
    fs::create_dir_all(windlass.workspace.path().join("notes/components")).unwrap();
    let component = plugin("1.0.0", &json!({}));
    fs::write(
        windlass
            .workspace
            .path()
            .join("notes/components/speaks.wasm"),
        component,
    )
    .unwrap();
    let done = windlass.run(&["plugin", "add", "notes"]);
    assert!(done.stdout.contains("with your rights: touch"), "{done:?}");
    fs::remove_dir_all(windlass.workspace.path().join("notes")).unwrap();
    hears(&windlass, &[], "-");
    assert!(has(&init(&windlass, &[]).0, "notes"));
    assert!(!mark.exists());
    let done = windlass.run(&["plugin", "inspect", "notes"]);
    assert!(done.stdout.contains("nobody agreed to them"), "{done:?}");

    // Somebody changes a file of it.
    let folder = windlass.home().join(".local/share/windlass/plugins");
    let folder = fs::read_dir(folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    fs::write(folder.join("notes/commands/tidy.md"), "Delete everything.").unwrap();
    let done = windlass.run(&["plugin", "inspect", "notes"]);
    assert!(
        done.stdout.contains("not those that were installed"),
        "{done:?}"
    );
    windlass.run(&["plugin", "remove", "notes"]);
    assert!(!folder.exists());
}

#[test]
fn card_5_a_folder_runs_what_a_person_agreed_to() {
    let windlass = Windlass::new();
    let mark = windlass.home().join("ran");
    windlass.write("notes/.claude-plugin/plugin.json", r#"{"name": "notes"}"#);
    windlass.write("notes/mark.sh", &format!("touch '{}'\n", mark.display()));
    let hooks = json!({"hooks": {"SessionStart": [{"hooks": [
        {"type": "command", "command": "sh \"${CLAUDE_PLUGIN_ROOT}/mark.sh\""},
    ]}]}});
    windlass.write("notes/hooks/hooks.json", &hooks.to_string());
    let done = windlass.run(&["plugin", "add", "notes", "--yes"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    fs::remove_dir_all(windlass.workspace.path().join("notes")).unwrap();
    init(&windlass, &[]);
    assert!(mark.exists());
}

#[test]
fn card_5_a_changed_component_is_not_run_and_one_that_is_gone_is_said() {
    let windlass = Windlass::new();
    let digest = put(&windlass, "9.9.9", &json!({"env": ["LANGUAGE"]}));
    windlass.run(&["plugin", "add", "speaks.wasm"]);
    let name = format!("{}.wasm", digest.trim_start_matches("sha256:"));
    let file = windlass
        .home()
        .join(".config/windlass/plugins/components")
        .join(name);
    let called = |problem: &str| {
        let script = json!({"exchanges": [
            {"respond": {"content": [{"type": "tool_use", "name": "Speak", "input": {}}]}},
            {"expect": {"tool_results": [{"contains": problem, "is_error": true}]}, "respond": "done"},
        ]});
        let server = model(&script.to_string());
        let mut command = windlass.command(&["-p", "go", "--allowedTools", "Speak"]);
        command
            .env("ANTHROPIC_BASE_URL", server.url())
            .env("ANTHROPIC_API_KEY", "none")
            // Nobody has compiled it.
            .env("XDG_CACHE_HOME", windlass.home().join("cache"));
        let done = Done::of(&command.output().unwrap());
        assert_eq!(done.code, Some(0), "{done:?}");
        server.verify().unwrap();
    };
    fs::write(&file, plugin("6.6.6", &json!({}))).unwrap();
    called("is not the file that was installed");
    fs::remove_file(&file).unwrap();
    called("was the plugin updated or removed");
    let done = windlass.run(&["plugin", "update", "speaks"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    hears(&windlass, &[], "-");
}

#[test]
fn card_5_an_update_is_signed_by_whom_the_plugin_was() {
    let windlass = Windlass::new();
    let pair = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
    let sign = |by: &minisign::KeyPair| {
        let bytes = fs::read(windlass.workspace.path().join("speaks.wasm")).unwrap();
        let signature = minisign::sign(None, &by.sk, bytes.as_slice(), None, None).unwrap();
        windlass.write("speaks.wasm.minisig", &signature.into_string());
    };
    windlass.write("author.pub", &pair.pk.to_box().unwrap().into_string());
    put(&windlass, "1.0.0", &json!({}));
    let add = ["plugin", "add", "speaks.wasm", "--key", "author.pub"];
    let done = windlass.run(&add);
    assert!(
        done.complaint(3).contains("is not signed by the key"),
        "{done:?}"
    );
    let stranger = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
    sign(&stranger);
    let done = windlass.run(&add);
    assert!(
        done.complaint(3).contains("is not signed by the key"),
        "{done:?}"
    );
    assert!(
        !kept(&windlass)
            .keys()
            .any(|path| path.ends_with("installed.json"))
    );
    sign(&pair);
    let done = windlass.run(&add);
    assert!(done.stdout.contains("signed by RW"), "{done:?}");
    // What is beside the file is read only if it is a file, and as far as a signature is long.
    let beside = windlass.workspace.path().join("other.wasm.minisig");
    fs::copy(
        windlass.workspace.path().join("speaks.wasm"),
        windlass.workspace.path().join("other.wasm"),
    )
    .unwrap();
    let unusable = |why: &str| {
        let done = windlass.run(&["plugin", "add", "other.wasm", "--key", "author.pub"]);
        assert!(done.complaint(3).contains(why), "{why}: {done:?}");
        fs::remove_file(&beside).unwrap();
    };
    fs::write(&beside, vec![b'x'; 20_000]).unwrap();
    unusable("more than 16384 bytes");
    std::os::unix::fs::symlink("/dev/zero", &beside).unwrap();
    unusable("other.wasm.minisig: ");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &beside,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    unusable("other.wasm.minisig: ");

    let before = kept(&windlass);
    put(&windlass, "1.1.0", &json!({}));
    for stale in [true, false] {
        if !stale {
            sign(&stranger);
        }
        let done = windlass.run(&["plugin", "update", "speaks"]);
        assert!(
            done.complaint(3).contains("is not signed by the key"),
            "{done:?}"
        );
        assert_eq!(kept(&windlass), before);
    }
    sign(&pair);
    let done = windlass.run(&["plugin", "update", "speaks"]);
    assert!(done.stdout.contains("updated speaks"), "{done:?}");
}

#[test]
fn conf_3_an_engine_loads_what_the_user_has_installed() {
    let windlass = Windlass::new();
    put(&windlass, "1.0.0", &json!({}));
    windlass.run(&["plugin", "add", "speaks.wasm"]);
    let loaded = |more: &[&str]| engine(&windlass, more).0 == ["speaks"];
    assert!(loaded(&[]));
    assert!(loaded(&["--setting-sources", "user"]));
    for off in [
        &["--no-plugins"][..],
        &["--bare"],
        &["--setting-sources", "project"],
    ] {
        assert!(!loaded(off), "{off:?}");
    }
}

/// What another version of windlass installed, or somebody wrote by hand, is no reason to leave out the rest.
#[test]
fn conf_3_an_installed_plugin_that_cannot_be_read_leaves_out_itself_alone() {
    let windlass = Windlass::new();
    put(&windlass, "1.0.0", &json!({}));
    windlass.run(&["plugin", "add", "speaks.wasm"]);
    let lockfile = windlass
        .home()
        .join(".config/windlass/plugins/installed.json");
    let installed: Value = serde_json::from_slice(&fs::read(&lockfile).unwrap()).unwrap();
    let with = |name: &str, change: &dyn Fn(&mut Value)| {
        let mut changed = installed.clone();
        let mut plugin = installed["plugins"]["speaks"].clone();
        let declaration = &mut plugin["components"][0]["declaration"];
        declaration["name"] = json!(name);
        declaration["tools"][0]["name"] = json!("Say");
        change(declaration);
        changed["plugins"][name] = plugin;
        fs::write(&lockfile, changed.to_string()).unwrap();
        engine(&windlass, &[])
    };
    let (plugins, stderr) = with("other", &|_| {});
    assert_eq!(plugins, ["other", "speaks"], "{stderr}");
    for (change, problem) in [
        (json!({"later": true}), "unknown field `later`"),
        (json!({"wit": "0.2.0"}), "version 0.2.0"),
        (json!({"later": true, "wit": "0.2.0"}), "version 0.2.0"),
        (json!({"name": "../other"}), "its name `../other`"),
        (json!({"tools": []}), "neither a tool nor a hook"),
        (
            json!({"tools": [{"name": "Read", "description": "", "input_schema": {}}]}),
            "the name of a tool of windlass",
        ),
    ] {
        let (plugins, stderr) = with("other", &|declaration| {
            for (key, value) in change.as_object().unwrap() {
                declaration[key] = value.clone();
            }
        });
        assert_eq!(plugins, ["speaks"], "{change}: {stderr}");
        for part in [problem, "`windlass plugin remove other` helps"] {
            assert!(stderr.contains(part), "{change}: {stderr}");
        }
    }
}

#[test]
fn card_5_no_session_begins_without_an_installed_judge() {
    let windlass = Windlass::new();
    let mut judging = declaration("1.0.0", &json!({}));
    judging["hooks"] = json!([{"name": "Policy", "kind": "judge", "event": "PreToolUse"}]);
    let with = guest::Hooked {
        call: Some("(i32.const 0)"),
        judge: Some("unreachable"),
        ..guest::Hooked::default()
    };
    let write = |name: &str, bytes: &[u8]| {
        let path = windlass.workspace.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    write("speaks.wasm", &guest::hooked(&judging.to_string(), &with));
    let done = windlass.run(&["plugin", "add", "speaks.wasm"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    // One that is named has its tool, or its name.
    let mut same_tool = declaration("1.0.0", &json!({}));
    same_tool["name"] = json!("other");
    write("other.wasm", &declared(&same_tool));
    windlass.write("speaks/commands/tidy.md", "Tidy up.");
    judging["version"] = json!("2.0.0");
    write(
        "newer/speaks.wasm",
        &guest::hooked(&judging.to_string(), &with),
    );
    for (named, problem) in [
        ("other.wasm", "has a tool Speak, which another plugin has"),
        ("speaks", "judges calls, and the plugin that was named"),
    ] {
        let done = engine_with(&windlass, &["--plugin-dir", named]);
        let said = format!("{}{}", done.stdout, done.stderr);
        assert!(said.contains(problem), "{named}: {done:?}");
        assert!(!said.contains("\"init\""), "{named}: {done:?}");
        let without = ["--plugin-dir", named, "--no-plugins"];
        assert_eq!(engine(&windlass, &without).0.len(), 1, "{named}");
    }
    let (plugins, _) = engine(&windlass, &["--plugin-dir", "newer/speaks.wasm"]);
    assert_eq!(plugins, ["speaks"]);
    // A version of it that cannot be loaded any more.
    let lockfile = windlass
        .home()
        .join(".config/windlass/plugins/installed.json");
    let mut installed: Value = serde_json::from_slice(&fs::read(&lockfile).unwrap()).unwrap();
    installed["plugins"]["speaks"]["components"][0]["declaration"]["wit"] = json!("0.9.0");
    fs::write(&lockfile, installed.to_string()).unwrap();
    let done = engine_with(&windlass, &[]);
    assert!(done.stderr.contains("version 0.9.0"), "{done:?}");
    assert!(!done.stdout.contains("\"init\""), "{done:?}");
}

/// The plugins of a session of the engine, and what it says besides.
fn engine(windlass: &Windlass, more: &[&str]) -> (Vec<String>, String) {
    let done = engine_with(windlass, more);
    let lines = done.lines();
    let init = lines.iter().find(|line| line["subtype"] == "init");
    let init = init.unwrap_or_else(|| panic!("{done:?}"));
    let plugins = init["plugins"].as_array().unwrap().iter();
    let names = plugins.map(|plugin| plugin["name"].as_str().unwrap().to_owned());
    (names.collect(), done.stderr.clone())
}

/// A session of the engine.
fn engine_with(windlass: &Windlass, more: &[&str]) -> Done {
    let server = saying(["done"]);
    let args = [
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
        "--verbose",
    ];
    let mut command = windlass.command(&[&args, more].concat());
    command
        .env("ANTHROPIC_BASE_URL", server.url())
        .env("ANTHROPIC_API_KEY", "none");
    let prompt = json!({"type": "user", "message": {"role": "user", "content": "go"}});
    Done::of(&with_input(command, &format!("{prompt}\n")))
}

fn with_input(mut command: std::process::Command, input: &str) -> std::process::Output {
    use std::{io::Write as _, process::Stdio};
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn card_5_a_folder_has_one_digest_wherever_it_is_told() {
    let windlass = Windlass::new();
    windlass.write("notes/.claude-plugin/plugin.json", r#"{"name": "notes"}"#);
    windlass.write("notes/commands/greet.md", "Say hello.");
    let done = windlass.run(&["plugin", "add", "notes"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let json = |args: &[&str]| -> Value {
        let done = windlass.run(args);
        serde_json::from_str(&done.stdout).unwrap()
    };
    let told = || {
        let inspected = json(&["plugin", "inspect", "notes", "--json"]);
        let digest = inspected["digest"].as_str().unwrap().to_owned();
        assert_eq!(digest.len(), "sha256:".len() + 64, "{digest}");
        let listed = json(&["plugin", "list", "--installed", "--json"]);
        assert_eq!(listed[0]["digest"], digest.as_str(), "{listed}");
        for args in [&["plugin", "list"][..], &["plugin", "inspect", "notes"]] {
            let done = windlass.run(args);
            assert!(done.stdout.contains(&digest), "{digest}: {done:?}");
        }
        let lockfile = windlass
            .home()
            .join(".config/windlass/plugins/installed.json");
        let lockfile: Value = serde_json::from_slice(&fs::read(lockfile).unwrap()).unwrap();
        assert_eq!(lockfile["plugins"]["notes"]["digest"], digest.as_str());
        digest
    };
    let before = told();
    windlass.write("notes/commands/greet.md", "Say goodbye.");
    let done = windlass.run(&["plugin", "update", "notes"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_ne!(told(), before);
}
