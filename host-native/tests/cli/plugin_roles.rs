//! Directories by role on the command line: what is asked for, how it is granted, and what a changed component asks for.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use crate::{
    guest,
    support::{Done, Windlass, model},
    terminal::Terminal,
};

const DESCRIPTION: &str = "where the .sqlite files are";

/// A plugin whose tool says where the directory of the role `database` is, or `-`.
fn plugin(version: &str, roles: &Value) -> Vec<u8> {
    let declaration = json!({
        "name": "ask", "version": version, "wit": "0.1.0",
        "tools": [{"name": "Where", "description": "Says where.", "input_schema": {"type": "object"}}],
        "grants": {"directories": roles},
    });
    guest::saying(&declaration.to_string(), "directory:database")
}

fn role(name: &str, access: &str) -> Value {
    json!({"role": name, "access": access, "description": DESCRIPTION})
}

/// A folder with the component `ask.wasm` and directories.
fn ground(roles: &Value) -> Windlass {
    let windlass = Windlass::new();
    for directory in ["data", "a=b", "database=x"] {
        fs::create_dir(at(&windlass, directory)).unwrap();
    }
    put(&windlass, "1.0.0", roles);
    windlass
}

fn put(windlass: &Windlass, version: &str, roles: &Value) {
    fs::write(at(windlass, "ask.wasm"), plugin(version, roles)).unwrap();
}

fn at(windlass: &Windlass, name: &str) -> PathBuf {
    let workspace = windlass.workspace.path().canonicalize().unwrap();
    workspace.join(name)
}

fn grant(windlass: &Windlass, more: &[&str]) -> Done {
    windlass.run(&[&["plugin", "grant", "ask.wasm", "--yes"], more].concat())
}

/// What it asks for and has.
fn looked_at(windlass: &Windlass) -> Done {
    windlass.run(&["plugin", "grant", "ask.wasm"])
}

/// A session in which the tool says this.
fn hears(windlass: &Windlass, more: &[&str], result: &str) {
    let script = json!({"exchanges": [
        {"respond": {"content": [{"type": "tool_use", "name": "Where", "input": {}}]}},
        {"expect": {"tool_results": [{"contains": result, "is_error": false}]}, "respond": "done"},
    ]});
    let server = model(&script.to_string());
    let args = ["-p", "go", "--allowedTools", "Where"];
    let mut command = windlass.command(&[&args, more].concat());
    command
        .env("ANTHROPIC_BASE_URL", server.url())
        .env("ANTHROPIC_API_KEY", "none");
    let done = Done::of(&command.output().unwrap());
    assert_eq!(done.code, Some(0), "{result}: {done:?}");
    server.verify().unwrap();
}

#[test]
fn card_5_a_person_grants_a_directory_for_a_role() {
    let windlass = ground(&json!([role("database", "write")]));
    let loaded = ["--plugin-dir", "ask.wasm"];
    let asked = format!("read and write the directory `database`: {DESCRIPTION}");
    let done = looked_at(&windlass);
    assert!(done.stdout.contains(&asked), "{done:?}");
    hears(&windlass, &loaded, "-");
    let data = at(&windlass, "data").display().to_string();
    let with_equals = at(&windlass, "a=b").display().to_string();
    for (dir, place, has) in [
        ("database=data", &data, "to read and write"),
        ("database=data=read", &data, "to read"),
        ("database=a=b=read", &with_equals, "to read"),
    ] {
        let done = grant(&windlass, &["--workspace", "none", "--dir", dir]);
        let line = format!(" the directory `database`: {place} {has}\n");
        assert!(done.stdout.contains(&line), "{done:?}");
        hears(&windlass, &loaded, place);
    }
    let listed = windlass.run(&["plugin", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let kept = listed.as_object().unwrap().values().next().unwrap();
    let roles = json!({"database": {"path": with_equals, "access": "read"}});
    assert_eq!(kept["grant"]["roles"], roles);

    // A path that begins like a role is one when it begins with `./`: of the files that it names, this component asks for none.
    let done = grant(&windlass, &["--dir", "./database=x"]);
    let refused = "it is granted files, for which it does not ask";
    assert!(done.complaint(3).contains(refused), "{done:?}");
    hears(&windlass, &loaded, &with_equals);
}

#[test]
fn card_5_a_granted_directory_that_became_a_link_is_not_reached_and_can_be_taken_back() {
    use std::os::unix::fs::symlink;
    let windlass = Windlass::new();
    let declaration = json!({
        "name": "ask", "version": "1.0.0", "wit": "0.1.0",
        "tools": [{"name": "Where", "description": "Says where.", "input_schema": {"type": "object"}}],
        "grants": {"filesystem": "write"},
    });
    let bytes = guest::saying(&declaration.to_string(), "LANGUAGE");
    fs::write(at(&windlass, "ask.wasm"), bytes).unwrap();
    fs::create_dir(at(&windlass, "data")).unwrap();
    let done = grant(&windlass, &["--workspace", "none", "--dir", "data=write"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    // As another program could do in a working directory.
    fs::remove_dir(at(&windlass, "data")).unwrap();
    symlink("/etc", at(&windlass, "data")).unwrap();
    let mut command = windlass.command(&["-p", "go", "--plugin-dir", "ask.wasm"]);
    command.env("ANTHROPIC_API_KEY", "none");
    let done = Done::of(&command.output().unwrap());
    let complaint = done.complaint(3);
    assert!(
        complaint.contains("a link leads from there to /etc"),
        "{complaint}"
    );
    // By the path by which it was granted, whatever is there now.
    let revoke = ["plugin", "revoke", "ask", "--dir", "data", "--yes"];
    let done = windlass.run(&revoke);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(!done.stdout.contains("data"), "{done:?}");
    hears(&windlass, &["--plugin-dir", "ask.wasm"], "-");
    // What no grant opens is not granted.
    let own = windlass.home().join(".config/windlass/plugins");
    let done = grant(&windlass, &["--dir", own.to_str().unwrap()]);
    assert!(
        done.complaint(3).contains("belongs to windlass itself"),
        "{done:?}"
    );
}

#[test]
fn card_5_a_directory_that_is_missing_is_asked_about_at_a_terminal() {
    let windlass = ground(&json!([role("database", "read")]));
    let mut terminal = Terminal::run(&windlass, &["plugin", "add", "ask.wasm"]);
    let shown = terminal.wait_for("y/N > ");
    assert!(shown.contains("without a directory `database`"), "{shown}");
    terminal.type_in("\n");
    assert_eq!(terminal.exit_code(), Some(3));
    let lockfile = windlass
        .home()
        .join(".config/windlass/plugins/installed.json");
    assert!(!lockfile.exists());
}

#[test]
fn card_5_a_directory_that_is_not_there_or_not_asked_for_is_granted_to_no_role() {
    let windlass = ground(&json!([role("database", "read")]));
    windlass.write("file.txt", "no directory");
    for (dirs, problem) in [
        (&["database=gone"][..], "gone"),
        (&["database=file.txt"], "file.txt"),
        (&["logs=data"], "asks for no directory `logs`"),
        (&["database=data=write"], "asks to read it"),
        (&["database=data", "database=a=b"], "is there twice"),
    ] {
        let mut args = vec!["--workspace", "none"];
        args.extend(dirs.iter().flat_map(|dir| ["--dir", dir]));
        let done = grant(&windlass, &args);
        assert_eq!(done.code, Some(3), "{done:?}");
        assert!(done.stderr.contains(problem), "{problem}: {done:?}");
    }
    let kept = windlass.home().join(".config/windlass/plugins/grants.json");
    assert!(!kept.exists());
}

#[test]
fn card_5_a_component_that_asks_for_another_role_shows_it_and_has_none() {
    let windlass = ground(&json!([role("database", "read")]));
    grant(
        &windlass,
        &["--workspace", "none", "--dir", "database=data"],
    );
    let loaded = ["--plugin-dir", "ask.wasm"];
    hears(
        &windlass,
        &loaded,
        &at(&windlass, "data").display().to_string(),
    );
    put(
        &windlass,
        "1.1.0",
        &json!([role("database", "write"), role("logs", "write")]),
    );
    let done = looked_at(&windlass);
    for line in [
        "+ read and write the directory `database`",
        "+ read and write the directory `logs`",
        "- read the directory `database`",
    ] {
        assert!(done.stdout.contains(line), "{line}: {done:?}");
    }
    hears(&windlass, &loaded, "-");
}

#[test]
fn card_5_a_plugin_is_installed_with_directories_for_its_roles() {
    let windlass = ground(&json!([role("database", "read"), role("logs", "write")]));
    let add = |more: &[&str]| windlass.run(&[&["plugin", "add", "ask.wasm"], more].concat());
    for (dir, problem) in [("cache=data", "names no role"), ("data", "names no role")] {
        let done = add(&["--yes", "--dir", dir]);
        assert_eq!(done.code, Some(3), "{done:?}");
        assert!(done.stderr.contains(problem), "{done:?}");
    }
    let listed = windlass.run(&["plugin", "list", "--installed"]);
    assert_eq!(listed.stdout, "no plugin is installed\n");
    let done = add(&["--yes", "--dir", "database=data"]);
    let data = at(&windlass, "data").display().to_string();
    for line in [
        format!("read the directory `database`: {DESCRIPTION}"),
        format!("  with the directory `database`: {data} to read\n"),
        "  without a directory `logs`: --dir logs=PATH names one\n".to_owned(),
    ] {
        assert!(done.stdout.contains(&line), "{line}: {done:?}");
    }
    hears(&windlass, &[], &data);
    let done = windlass.run(&["plugin", "inspect", "ask"]);
    let line = format!("the directory `database`: {data} to read\n");
    assert!(done.stdout.contains(&line), "{done:?}");
    assert!(!done.stdout.contains("the directory `logs`: /"), "{done:?}");

    // A yes alone gives no directory.
    windlass.run(&["plugin", "remove", "ask"]);
    add(&["--yes"]);
    hears(&windlass, &[], "-");
}

#[test]
fn card_5_check_says_for_which_roles_a_component_wants_directories() {
    let windlass = ground(&json!([role("database", "read")]));
    let done = windlass.run(&["plugin", "check", "ask.wasm"]);
    let line = format!("  directory database (reading): {DESCRIPTION}\n");
    assert!(done.stdout.contains(&line), "{done:?}");
    let done = windlass.run(&["plugin", "check", "--json", "ask.wasm"]);
    let checked: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(checked["directories"], json!([role("database", "read")]));
}

#[test]
fn card_5_a_test_of_a_plugin_gives_its_roles_folders_of_the_test_and_no_others() {
    let windlass = ground(&json!([role("database", "read")]));
    let component = at(&windlass, "ask.wasm");
    let test = |directories: Value, contains: &str| {
        let call = json!({"tool": "Where", "input": {}, "expect": {"contains": contains}});
        let test = json!({"directories": directories, "calls": [call]});
        windlass.write("tests/a.json", &test.to_string());
        windlass.run(&["plugin", "test", "--component", component.to_str().unwrap()])
    };
    let done = test(json!({}), "-");
    assert_eq!(done.code, Some(0), "{done:?}");
    let done = test(json!({"database": "some/data"}), "/some/data");
    assert_eq!(done.code, Some(0), "{done:?}");
    for outside in ["../data", "/etc", "some/../../data"] {
        let done = test(json!({"database": outside}), "-");
        assert_eq!(done.code, Some(3), "{done:?}");
        assert!(
            done.stderr.contains("is no path below the workspace"),
            "{done:?}"
        );
    }
    let done = test(json!({"logs": "data"}), "-");
    assert!(done.stderr.contains("the role `logs`"), "{done:?}");
}
