//! Secrets of plugins that a server has kept, and those that lie in the environment: nobody finds them there.

use secrecy::SecretString;
use serde_json::{Value, json};
use windlass::plugins::{
    ComponentGrant, Method, PluginHost, PluginHostConfig, SecretSource, StateScope,
};

use crate::plugin_probe::{Probe, Server, reply, said};
#[cfg(unix)]
use crate::support::{Model, calls, done_after};

const SECRET: &str = "s3cr3t/Value+with=odd&chars";

fn host() -> PluginHost {
    PluginHost::new(PluginHostConfig {
        secrets: SecretSource::new(|wanted| {
            (wanted.reference == "MY_TOKEN").then(|| SecretString::from(SECRET))
        }),
        ..PluginHostConfig::default()
    })
}

fn asks(origin: &str) -> Value {
    json!({ "grants": {
        "http": [{ "origin": origin, "methods": ["GET"] }],
        "secrets": [{ "name": "TOKEN", "description": "Of a bot.", "audience": [origin] }],
        "env": ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME"],
    }})
}

fn without_secret(origin: &str) -> ComponentGrant {
    ComponentGrant::default().origin(origin.parse().unwrap(), [Method::Get])
}

fn with_secret(origin: &str) -> ComponentGrant {
    without_secret(origin).secret("TOKEN", "MY_TOKEN")
}

#[test]
fn card_5_a_secret_that_a_server_kept_is_found_before_the_plugin_has_used_it() {
    let server = Server::answering(|_| reply("200 OK", &[("x-kept", SECRET)], SECRET));
    let origin = server.origin();
    let probe = Probe::default().send("GET", &[], "");
    let plugin = probe.granted(&host(), &asks(&origin), &with_secret(&origin));
    let answer = said(&plugin, &origin);
    assert!(!answer.contains(SECRET), "{answer}");
    assert!(
        answer.contains("x-kept:[key]") && answer.ends_with("[key]"),
        "{answer}"
    );
    assert!(server.end()[0].contains("accept-encoding: identity\r\n"));
}

#[test]
fn card_5_a_plugin_with_a_secret_gets_no_answer_compressed_or_in_parts() {
    let server = Server::saying("hello");
    let origin = server.origin();
    let host = host();
    let get = |headers: &[(&str, &str)], grant: &ComponentGrant, origin: &str| {
        let probe = Probe::default().send("GET", headers, "");
        said(&probe.granted(&host, &asks(origin), grant), origin)
    };
    for name in [
        "accept-encoding",
        "Accept-Encoding",
        "range",
        "if-range",
        "a-im",
        "accept-charset",
    ] {
        let asked = [(name, "bytes=0-3")];
        let answer = get(&asked, &with_secret(&origin), &origin);
        assert!(
            answer.starts_with("F2 a component with secrets cannot set"),
            "{name}: {answer}"
        );
        // Who has no secret may.
        assert!(get(&asked, &without_secret(&origin), &origin).ends_with("hello"));
    }
    assert_eq!(server.end().len(), 6);

    // Nor does it get one that comes unasked.
    for (status, headers, fault) in [
        (
            "200 OK",
            [("content-encoding", "gzip")],
            "F2 the answer is compressed",
        ),
        (
            "200 OK",
            [("content-encoding", "identity, br")],
            "F2 the answer is compressed",
        ),
        (
            "404 Not Found",
            [("content-encoding", "deflate")],
            "F2 the answer is compressed",
        ),
        (
            "206 Partial Content",
            [("x-y", "z")],
            "F2 the answer is a part",
        ),
        ("226 IM Used", [("im", "diffe")], "F2 the answer is a part"),
        (
            "200 OK",
            [("content-range", "bytes 0-3/27")],
            "F2 the answer is a part",
        ),
    ] {
        let server = Server::answering(move |_| reply(status, &headers, "s3cr"));
        let origin = server.origin();
        let answer = get(&[], &with_secret(&origin), &origin);
        assert!(answer.starts_with(fault), "{headers:?}: {answer}");
        assert!(get(&[], &without_secret(&origin), &origin).ends_with("s3cr"));
    }
}

#[test]
fn card_5_no_plugin_reads_a_variable_that_one_was_granted_as_a_secret() {
    let origin = "http://127.0.0.1:1";
    // Variables that are there wherever tests run.
    let (secret, other) = ("CARGO_MANIFEST_DIR", "CARGO_PKG_NAME");
    let host = PluginHost::new(PluginHostConfig::default());
    let probe = Probe::default().variable(secret).variable(other);
    let grant = without_secret(origin).env(secret).env(other);
    let reads = probe.granted(&host, &asks(origin), &grant);
    let before = said(&reads, "");
    assert!(before.len() > "-windlass".len(), "{before}");
    let uses = Probe::default().granted(
        &host,
        &asks(origin),
        &without_secret(origin)
            .secret("TOKEN", secret)
            .state(StateScope::None),
    );
    assert_eq!(said(&reads, ""), "-windlass");
    drop(uses);
}

#[cfg(unix)]
#[tokio::test]
async fn card_5_no_command_is_given_the_variable_of_a_granted_secret() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("probe.wasm");
    let origin = "http://127.0.0.1:1";
    std::fs::write(&path, Probe::default().component(&asks(origin))).unwrap();
    let grant = without_secret(origin).secret("TOKEN", "CARGO_MANIFEST_DIR");
    // Run by the host as it was judged, by bash as it is written, and in what a command sets for others.
    let commands = [
        "echo \"[$CARGO_MANIFEST_DIR]\"",
        "printenv CARGO_MANIFEST_DIR; echo '[]'",
        "eval 'echo \"[$CARGO_MANIFEST_DIR]\"'",
    ];
    for command in commands {
        let model = Model::of(json!([
            calls(&[("Bash", json!({ "command": command }))]),
            done_after("[]", false),
        ]));
        let agent = model
            .agent()
            .tools(["Bash"])
            .allowed_tools(["Bash"])
            .plugin_granted(&path, grant.clone())
            .cwd(folder.path())
            .build()
            .unwrap();
        agent.run("go").await.unwrap();
        model.verify();
        let answer = model.requests().pop().unwrap().to_string();
        assert!(!answer.contains(env!("CARGO_MANIFEST_DIR")), "{command}");
    }
}
