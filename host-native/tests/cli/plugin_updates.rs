//! What an update changes of what a plugin may do, and what is said of it.

use std::{collections::BTreeSet, fs};

use secrecy::SecretString;
use serde_json::{Value, json};
use windlass::plugins::{
    GrantFile, Inspection, Origin, PluginHost, PluginHostConfig, SecretSource,
};

use crate::{
    guest::{self, Hooked},
    plugin_install::{kept, plugin},
    plugin_probe::{Probe, Server, said},
    support::{Done, Windlass},
    terminal::Terminal,
    tls_files::TlsFiles,
};

fn put(windlass: &Windlass, file: &str, bytes: &[u8]) {
    fs::write(windlass.workspace.path().join(file), bytes).unwrap();
}

fn done(windlass: &Windlass, args: &[&str]) -> Done {
    let done = windlass.run(&[&["plugin"], args].concat());
    assert_eq!(done.code, Some(0), "{args:?}: {done:?}");
    done
}

/// A component that sends a secret to the address in its input, and may send it to these servers.
fn sending(version: &str, audience: &[&str], origins: &[String; 2]) -> Vec<u8> {
    let bearer = [("authorization", "TOKEN", "Bearer ", None)];
    let asks = json!({
        "version": version,
        "grants": {
            "http": origins.each_ref().map(|origin| json!({"origin": origin, "methods": ["GET"]})),
            "secrets": [{"name": "TOKEN", "description": "Of a bot.", "audience": audience}],
        },
    });
    Probe::default().send_secret(&[], &bearer).component(&asks)
}

/// What the component says that sends the secret to this address, with what it was granted for good.
fn sent(windlass: &Windlass, bytes: &[u8], to: &str) -> String {
    let host = PluginHost::new(PluginHostConfig {
        secrets: SecretSource::new(|_| Some(SecretString::from("s3cr3t-value"))),
        ..PluginHostConfig::default()
    });
    let plugin = host.load("probe", bytes.to_vec()).unwrap();
    let kept = grants(windlass).read().unwrap();
    let granted = &kept.components[&Inspection::digest(bytes)].grant;
    said(&plugin.granted(granted).unwrap(), to)
}

fn grants(windlass: &Windlass) -> GrantFile {
    let folder = windlass.home().join(".config/windlass/plugins");
    GrantFile::at(folder.join("grants.json"))
}

#[test]
fn card_5_an_update_sends_a_secret_nowhere_that_it_was_not_granted_for() {
    for is_old in [false, true] {
        let servers = [Server::saying("one"), Server::saying("two")];
        let origins = servers.each_ref().map(Server::origin);
        let [first, second] = origins.each_ref().map(String::as_str);
        let windlass = Windlass::new();
        put(&windlass, "p.wasm", &sending("1.0.0", &[first], &origins));
        done(&windlass, &["add", "p.wasm", "--yes"]);
        let granted = format!("the secret TOKEN, from the variable TOKEN, for {first}\n");
        for args in [&["inspect", "probe"][..], &["list"], &["grant", "probe"]] {
            let shown = done(&windlass, args).stdout;
            assert!(shown.contains(&granted), "{args:?}: {shown}");
        }
        if is_old {
            // As an older version of windlass kept it.
            let forget = |kept: &mut windlass::plugins::KeptGrants| {
                let all = kept.components.values_mut();
                all.for_each(|kept| kept.grant.audiences.clear());
            };
            grants(&windlass).change(forget).unwrap();
        }

        let both = sending("2.0.0", &[first, second], &origins);
        put(&windlass, "p.wasm", &both);
        let shown = done(&windlass, &["update", "probe", "--yes"]).stdout;
        for part in ["which has what it had", "TOKEN is sent nowhere that is new"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        let shown = done(&windlass, &["inspect", "probe"]).stdout;
        assert!(shown.contains(&granted), "{shown}");
        let refused = "F2 there is no secret `TOKEN` for this origin";
        assert_eq!(sent(&windlass, &both, second), refused);
        assert!(sent(&windlass, &both, first).starts_with("200\n"));

        // What is granted beside it changes nothing of that; a person who grants the secret anew does.
        let more = format!("{second}=GET");
        done(&windlass, &["grant", "probe", "--http", &more, "--yes"]);
        assert_eq!(sent(&windlass, &both, second), refused);
        done(
            &windlass,
            &["grant", "probe", "--secret", "TOKEN=TOKEN", "--yes"],
        );
        assert!(sent(&windlass, &both, second).starts_with("200\n"));
    }
}

#[test]
fn card_5_what_a_version_does_not_ask_for_is_not_granted_to_the_one_after_it() {
    let servers = [Server::saying("one"), Server::saying("two")];
    let origins = servers.each_ref().map(Server::origin);
    let [first, second] = origins.each_ref().map(String::as_str);
    let windlass = Windlass::new();
    let audience = |bytes: &[u8]| -> BTreeSet<Origin> {
        let kept = grants(&windlass).read().unwrap();
        let granted = &kept.components[&Inspection::digest(bytes)].grant;
        granted.audiences["TOKEN"].clone()
    };
    put(
        &windlass,
        "p.wasm",
        &sending("1.0.0", &[first, second], &origins),
    );
    done(&windlass, &["add", "p.wasm", "--yes"]);
    for (version, asked) in [("2.0.0", vec![first]), ("3.0.0", vec![first, second])] {
        let bytes = sending(version, &asked, &origins);
        put(&windlass, "p.wasm", &bytes);
        done(&windlass, &["update", "probe", "--yes"]);
        let only = BTreeSet::from([first.parse().unwrap()]);
        assert_eq!(audience(&bytes), only, "{version}");
    }
    done(
        &windlass,
        &["revoke", "probe", "--secret", "TOKEN", "--yes"],
    );
    let kept = grants(&windlass).read().unwrap();
    let mut kept = kept.components.values();
    assert!(kept.all(|kept| kept.grant.audiences.is_empty()));
}

/// A component with a tool and a judge.
fn judging(version: &str, tool: &Value, hook: &Value) -> Vec<u8> {
    let mut declaration = json!({
        "name": "rules", "version": version, "wit": "0.1.0",
        "tools": [{"name": "Look", "description": "Looks.", "input_schema": {"type": "object"}}],
        "hooks": [{"name": "judges", "event": "PreToolUse", "kind": "judge"}],
    });
    for (place, more) in [("tools", tool), ("hooks", hook)] {
        for (key, value) in more.as_object().unwrap() {
            declaration[place][0][key] = value.clone();
        }
    }
    let functions = Hooked {
        call: Some("(call $text (i32.const 4096) (i32.const 1))"),
        judge: Some("(call $pass)"),
        text: "x",
        ..Hooked::default()
    };
    guest::hooked(&declaration.to_string(), &functions)
}

#[test]
fn card_5_an_update_shows_what_a_hook_runs_for_and_what_a_tool_does() {
    let windlass = Windlass::new();
    let paths = json!([{"field": "from", "access": "read"}, {"field": "to", "access": "write"}]);
    let first = judging(
        "1.0.0",
        &json!({"paths": paths}),
        &json!({"matcher": "Write"}),
    );
    put(&windlass, "rules.wasm", &first);
    let lines = [
        "offer the tool Look, which reads the file in `from` and writes the file in `to`",
        "run the judge judges at PreToolUse of Write",
    ];
    for args in [
        &["add", "rules.wasm"][..],
        &["inspect", "rules"],
        &["grant", "rules"],
    ] {
        let shown = done(&windlass, args).stdout;
        for line in lines {
            let is_it = |said: &str| said.trim() == line;
            assert!(shown.lines().any(is_it), "{args:?}: {line}: {shown}");
        }
    }
    let lockfile = windlass
        .home()
        .join(".config/windlass/plugins/installed.json");
    // What an older version of windlass noted is no difference between two versions of the plugin.
    let mut installed: Value = serde_json::from_slice(&fs::read(&lockfile).unwrap()).unwrap();
    installed["plugins"]["rules"]["asks"] = json!(["offer the tool Look"]);
    fs::write(&lockfile, installed.to_string()).unwrap();

    let second = judging(
        "2.0.0",
        &json!({"paths": paths}),
        &json!({"timeout_ms": 60_000}),
    );
    put(&windlass, "rules.wasm", &second);
    let shown = done(&windlass, &["update", "rules"]).stdout;
    let differs = |shown: &str, mark: &str| -> Vec<String> {
        let marked = shown.lines().filter_map(|line| {
            let rest = line.strip_prefix("  ")?.strip_prefix(mark)?;
            rest.strip_prefix(' ').map(str::to_owned)
        });
        marked.collect()
    };
    assert_eq!(
        differs(&shown, "+"),
        ["run the judge judges at PreToolUse, for at most 60000 ms"]
    );
    assert_eq!(differs(&shown, "-"), [lines[1]]);

    let third = judging(
        "3.0.0",
        &json!({"annotations": {"readOnly": true}}),
        &json!({"timeout_ms": 60_000}),
    );
    put(&windlass, "rules.wasm", &third);
    let shown = done(&windlass, &["update", "rules"]).stdout;
    assert_eq!(
        differs(&shown, "+"),
        ["offer the tool Look (declared read-only)"]
    );
    assert_eq!(differs(&shown, "-"), [lines[0]]);
}

#[test]
fn card_5_each_update_is_told_on_a_line_of_its_own() {
    let windlass = Windlass::new();
    put(&windlass, "speaks.wasm", &plugin("1.0.0", &json!({})));
    done(&windlass, &["add", "speaks.wasm"]);
    for name in ["apart", "broken"] {
        windlass.write(&format!("{name}/commands/tidy.md"), "Tidy up.");
        done(&windlass, &["add", name]);
        fs::remove_dir_all(windlass.workspace.path().join(name)).unwrap();
    }
    put(&windlass, "speaks.wasm", &plugin("1.1.0", &json!({})));
    let done = windlass.run(&["plugin", "update"]);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(done.stdout.contains("\nupdated speaks"), "{done:?}");
    let failed: Vec<&str> = done.stderr.lines().collect();
    assert_eq!(failed.len(), 2, "{done:?}");
    for (line, name) in failed.iter().zip(["apart", "broken"]) {
        assert!(line.contains(&format!("{name}: ")), "{done:?}");
        assert!(line.contains("there is no such file or folder"), "{done:?}");
    }
    assert!(!done.stdout.contains("apart") && !done.stderr.contains("\\n"));
}

#[test]
fn card_5_an_update_says_which_files_of_a_folder_are_others() {
    let windlass = Windlass::new();
    let hooks = json!({"hooks": {"Stop": [{"hooks": [
        {"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/run.sh"},
    ]}]}});
    windlass.write("notes/hooks/hooks.json", &hooks.to_string());
    windlass.write("notes/run.sh", "true");
    windlass.write("notes/old.sh", "true");
    let done = windlass.run(&["plugin", "add", "notes", "--yes"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    // The same hook, which runs something else.
    windlass.write("notes/run.sh", "something else");
    windlass.write("notes/new.sh", "true");
    fs::remove_file(windlass.workspace.path().join("notes/old.sh")).unwrap();
    let mut terminal = Terminal::run(&windlass, &["plugin", "update", "notes"]);
    let shown = terminal.wait_for("y/N > ");
    for line in ["+ new.sh", "~ run.sh", "- old.sh"] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    terminal.type_in("\n");
    terminal.exit_code();
}

#[test]
fn card_5_an_update_does_not_go_back_to_a_version_that_was_signed_before() {
    let windlass = Windlass::new();
    let server = TlsFiles::start();
    let pair = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
    windlass.write("author.pub", &pair.pk.to_box().unwrap().into_string());
    windlass.write("authority.pem", &server.authority);
    let publish = |version: &str| {
        let bytes = plugin(version, &json!({}));
        let signature = minisign::sign(None, &pair.sk, bytes.as_slice(), None, None).unwrap();
        server.put("/speaks.wasm", &bytes);
        server.put("/speaks.wasm.minisig", signature.into_string().as_bytes());
        Inspection::digest(&bytes)
    };
    let source = format!("{}/speaks.wasm", server.origin);
    let run = |args: &[&str]| windlass.run(&[args, &["--ca-file", "authority.pem"]].concat());
    publish("1.10.0");
    let done = run(&["plugin", "add", &source, "--key", "author.pub"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let before = kept(&windlass);
    let old = publish("1.9.0");
    let done = run(&["plugin", "update", "speaks"]);
    let complaint = done.complaint(3);
    assert!(complaint.contains("older than 1.10.0"), "{complaint}");
    assert_eq!(kept(&windlass), before);
    let done = run(&["plugin", "update", "speaks", "--digest", &old]);
    assert_eq!(done.code, Some(0), "{done:?}");
    publish("1.9.1");
    let done = run(&["plugin", "update", "speaks"]);
    assert_eq!(done.code, Some(0), "{done:?}");
}

/// A component with these limits, a limit of time of its tool, and a secret with this description.
fn limited(version: &str, limits: &Value, tool_ms: u32, about: &str) -> Vec<u8> {
    let declaration = json!({
        "name": "speaks", "version": version, "wit": "0.1.0", "limits": limits,
        "tools": [{
            "name": "Speak", "description": "Speaks.", "input_schema": {"type": "object"},
            "timeout_ms": tool_ms,
        }],
        "grants": {
            "http": [{"origin": "https://api.example.com", "methods": ["GET"]}],
            "secrets": [{
                "name": "TOKEN", "description": about, "audience": ["https://api.example.com"],
            }],
        },
    });
    guest::saying(&declaration.to_string(), "LANGUAGE")
}

#[test]
fn card_5_a_change_of_limits_and_of_what_a_secret_is_said_to_be_is_shown() {
    let first = limited(
        "1.0.0",
        &json!({"memory_bytes": 64 << 20, "log_bytes": 10}),
        3_000,
        "Of a bot.",
    );
    let second = limited(
        "2.0.0",
        &json!({"memory_bytes": 500 << 20, "http_bytes": 9, "log_bytes": 10}),
        100_000,
        "Of the admin.",
    );
    let lines = [
        "  + use at most 524288000 bytes of memory",
        "  + move at most 9 bytes over HTTP",
        "  + run the tool Speak for at most 100000 ms",
        "  + use the secret TOKEN, said to be: Of the admin.",
        "  - use at most 67108864 bytes of memory",
        "  - run the tool Speak for at most 3000 ms",
        "  - use the secret TOKEN, said to be: Of a bot.",
    ];
    let differs = |shown: &str| -> Vec<String> {
        let marked = |line: &&str| line.starts_with("  + ") || line.starts_with("  - ");
        shown.lines().filter(marked).map(str::to_owned).collect()
    };
    // The file itself, granted something as it was, and then another one.
    let windlass = Windlass::new();
    put(&windlass, "speaks.wasm", &first);
    let grant = ["grant", "speaks.wasm", "--http", "https://api.example.com"];
    done(&windlass, &[&grant[..], &["--yes"]].concat());
    put(&windlass, "speaks.wasm", &second);
    let shown = done(&windlass, &["grant", "speaks.wasm"]).stdout;
    assert_eq!(differs(&shown), lines, "{shown}");
    // Of one that an older version of windlass granted something, nothing is known and nothing said.
    let forget = |kept: &mut windlass::plugins::KeptGrants| {
        let all = kept.components.values_mut();
        all.for_each(|kept| kept.details = None);
    };
    grants(&windlass).change(forget).unwrap();
    let shown = done(&windlass, &["grant", "speaks.wasm"]).stdout;
    assert_eq!(differs(&shown), Vec::<String>::new(), "{shown}");

    // One that is installed: who installs it is not shown all of that.
    let windlass = Windlass::new();
    put(&windlass, "speaks.wasm", &first);
    let shown = done(&windlass, &["add", "speaks.wasm", "--yes"]).stdout;
    assert!(!shown.contains("at most"), "{shown}");
    put(&windlass, "speaks.wasm", &second);
    let shown = done(&windlass, &["update", "speaks", "--yes"]).stdout;
    assert_eq!(differs(&shown), lines, "{shown}");
}
