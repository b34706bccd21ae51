//! `windlass plugin add` from the web and from a registry.

use std::{fs, os::unix::fs::PermissionsExt as _};

use serde_json::{Value, json};
use windlass::plugins::Inspection;

use crate::{
    plugin_install::{declaration, hears, kept, plugin},
    registry::{CONFIG, LAYER, PASSWORD, Registry, SigningKey},
    support::{Done, Windlass},
    tls_files::TlsFiles,
};

/// Runs a command that trusts the server's authority.
fn trusting(windlass: &Windlass, server: &TlsFiles, args: &[&str]) -> Done {
    let authority = windlass.home().join("authority.pem");
    fs::write(&authority, &server.authority).unwrap();
    let mut command = windlass.command(args);
    command.env("NODE_EXTRA_CA_CERTS", authority);
    Done::of(&command.output().unwrap())
}

#[test]
fn card_5_a_file_of_the_web_is_installed_if_it_has_the_digest_that_was_named() {
    let windlass = Windlass::new();
    let server = TlsFiles::start();
    let bytes = plugin("1.0.0", &json!({"env": ["LANGUAGE"]}));
    server.put("/speaks.wasm", &bytes);
    server.put_cut("/cut.wasm", &bytes[..bytes.len() / 2], bytes.len());
    let digits = Inspection::digest(&bytes).replace("sha256:", "");
    let at = |path: &str| format!("{}{path}", server.origin);
    let run = |args: &[&str]| trusting(&windlass, &server, args);
    let with = |path: &str| format!("{}#sha256={digits}", at(path));
    let before = kept(&windlass);
    for (source, problem) in [
        (at("/speaks.wasm"), "names no digest"),
        (
            format!("{}#sha256={}", at("/speaks.wasm"), "0".repeat(64)),
            "another file than the one that was meant",
        ),
        (format!("{}#md5=1", at("/speaks.wasm")), "#sha256="),
        (with("/cut.wasm"), "could not be downloaded as a whole"),
        (with("/gone.wasm"), "404"),
    ] {
        let done = run(&["plugin", "add", &source]);
        assert!(done.complaint(3).contains(problem), "{source}: {done:?}");
        assert_eq!(kept(&windlass), before, "{source}");
    }
    let done = run(&[
        "plugin",
        "add",
        &with("/speaks.wasm"),
        "--ca-file",
        "gone.pem",
    ]);
    assert!(done.complaint(3).contains("in PEM form"), "{done:?}");
    // Nobody vouches for the server.
    let done = windlass.run(&["plugin", "add", &with("/speaks.wasm")]);
    assert!(
        done.complaint(3).contains("could not be downloaded") && done.stderr.contains("--ca-file"),
        "{done:?}"
    );
    assert_eq!(kept(&windlass), before);

    let done = run(&["plugin", "add", &with("/speaks.wasm"), "--yes"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    hears(&windlass, &[], "français");
    let done = run(&["plugin", "update"]);
    assert!(done.stdout.contains("is up to date"), "{done:?}");
    // What is there has changed: a person says that this is wanted, by its digest.
    let next = plugin(
        "1.1.0",
        &json!({"env": ["LANGUAGE"], "filesystem": "write"}),
    );
    server.put("/speaks.wasm", &next);
    let before = kept(&windlass);
    let done = run(&["plugin", "update"]);
    let digest = Inspection::digest(&next);
    assert!(done.complaint(3).contains(&digest), "{done:?}");
    assert_eq!(kept(&windlass), before);
    let done = run(&["plugin", "update", "speaks", "--digest", &digest]);
    assert!(done.stdout.contains("+ read and write files"), "{done:?}");
    hears(&windlass, &[], "-");
}

#[test]
fn card_5_a_component_of_a_registry_is_installed_and_its_signature_is_checked() {
    let windlass = Windlass::new();
    let registry = Registry::start();
    let bytes = plugin("1.0.0", &json!({"env": ["LANGUAGE"]}));
    let manifest = registry.push("tools/speaks:1", CONFIG, &[(&bytes, LAYER)]);
    registry.push(
        "tools/speaks:two",
        CONFIG,
        &[(&bytes, LAYER), (b"x", LAYER)],
    );
    registry.push(
        "tools/speaks:image",
        "application/vnd.oci.image.config.v1+json",
        &[(&bytes, LAYER)],
    );
    registry.push("tools/speaks:text", CONFIG, &[(b"hello", LAYER)]);
    let old = {
        let mut declaration = declaration("1.0.0", &json!({}));
        declaration["wit"] = json!("0.0.1");
        crate::guest::declared(&declaration.to_string(), "(i32.const 0)")
    };
    registry.push("tools/speaks:old", CONFIG, &[(&old, LAYER)]);
    let at = |name: &str| format!("oci://{}/tools/speaks{name}", registry.address);
    let add = |name: &str, more: &[&str]| {
        let source = at(name);
        windlass.run(&[&["plugin", "add", &source, "--plain-http"], more].concat())
    };
    let before = kept(&windlass);
    let zeros = format!("@sha256:{}", "0".repeat(64));
    for (name, problem) in [
        (":two", "2 layers"),
        (":image", "its config is"),
        (":text", "Nothing was installed"),
        (":old", "0.0.1"),
        (":gone", "check the repository and the tag"),
        (zeros.as_str(), "check the repository and the tag"),
    ] {
        let done = add(name, &[]);
        let complaint = done.complaint(3);
        assert!(complaint.contains(problem), "{name}: {complaint}");
        assert!(complaint.contains("Nothing was installed"), "{complaint}");
        assert_eq!(kept(&windlass), before, "{name}");
    }
    // Nothing listens, there is no name, or something else answers: why, and what to do.
    for (source, more, parts) in [
        (
            "oci://127.0.0.1:1/tools/speaks:1".to_owned(),
            &["--plain-http"][..],
            ["refused", "Check the address"],
        ),
        (
            format!("oci://{}/tools/speaks:1", registry.address),
            &[][..],
            ["speaks no TLS", "--plain-http"],
        ),
        (
            at(":1"),
            &["--plain-http", "--ca-file", "gone.pem"],
            ["gone.pem", "in PEM form"],
        ),
    ] {
        let done = windlass.run(&[&["plugin", "add", &source], more].concat());
        let complaint = done.complaint(3);
        for part in parts {
            assert!(complaint.contains(part), "{source}: {complaint}");
        }
        assert_eq!(kept(&windlass), before, "{source}");
    }
    let done = windlass.run(&[
        "plugin",
        "add",
        "oci://example.com/speaks:1",
        "--plain-http",
    ]);
    assert!(done.complaint(3).contains("on this machine"), "{done:?}");

    // Signatures: none, of somebody else, of something else, and the right one.
    let author = SigningKey::new();
    windlass.write("cosign.pub", &author.public());
    let signed = ["--key", "cosign.pub"];
    let unsigned = |name: &str| {
        let done = add(name, &signed);
        assert!(
            done.complaint(3).contains("is not signed by the key"),
            "{done:?}"
        );
        assert_eq!(kept(&windlass), before);
    };
    unsigned(":1");
    registry.sign("tools/speaks", &manifest, &manifest, &SigningKey::new());
    unsigned(":1");
    registry.sign("tools/speaks", &zeros[1..], &manifest, &author);
    unsigned(":1");
    registry.sign("tools/speaks", &manifest, &manifest, &author);
    let done = add(":1", &[&signed[..], &["--yes"]].concat());
    assert!(done.stdout.contains("signed by p256:"), "{done:?}");
    hears(&windlass, &[], "français");

    // The tag leads to another component: an update, if the author has signed it.
    let next = plugin("1.1.0", &json!({"env": ["LANGUAGE"], "state": "session"}));
    let manifest = registry.push("tools/speaks:1", CONFIG, &[(&next, LAYER)]);
    let before = kept(&windlass);
    let update = ["plugin", "update", "speaks", "--plain-http", "--yes"];
    let done = windlass.run(&update);
    assert!(
        done.complaint(3).contains("is not signed by the key"),
        "{done:?}"
    );
    assert_eq!(kept(&windlass), before);
    registry.sign("tools/speaks", &manifest, &manifest, &author);
    let done = windlass.run(&update);
    assert!(
        done.stdout.contains("+ remember while a session lasts"),
        "{done:?}"
    );
    hears(&windlass, &[], "français");

    let done = windlass.run(&["plugin", "remove", "speaks"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let done = add(&format!("@{manifest}"), &[]);
    assert!(done.stdout.contains("with nothing granted"), "{done:?}");
}

#[test]
fn card_5_a_registry_is_told_who_the_person_is_and_no_other_is() {
    let windlass = Windlass::new();
    let registry = Registry::private("ada");
    let bytes = plugin("1.0.0", &json!({"env": ["LANGUAGE"]}));
    registry.push("tools/speaks:1", CONFIG, &[(&bytes, LAYER)]);
    let source = format!("oci://{}/tools/speaks:1", registry.address);
    let add = ["plugin", "add", &source, "--plain-http", "--yes"];
    let docker = windlass.home().join("docker");
    fs::create_dir(&docker).unwrap();
    let programs = windlass.home().join("programs");
    fs::create_dir(&programs).unwrap();
    // A program for passwords: it says what it was asked, and what it knows.
    let program = |name: &str, lines: &str| {
        let path = programs.join(format!("docker-credential-{name}"));
        fs::write(
            &path,
            format!(
                "#!/bin/sh\nread server\necho \"$1 $server\" >> {}/asked\n{lines}\n",
                programs.display()
            ),
        )
        .unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    program(
        "knows",
        &format!("echo '{{\"ServerURL\":\"x\",\"Username\":\"ada\",\"Secret\":\"{PASSWORD}\"}}'"),
    );
    program(
        "forgot",
        "echo credentials not found in native keychain; exit 1",
    );
    program("breaks", &format!("echo {PASSWORD}; exit 1"));
    let run = |args: &[&str], config: &Value, input: &[u8]| {
        fs::write(docker.join("config.json"), config.to_string()).unwrap();
        let mut command = windlass.command(args);
        let path = std::env::var("PATH").unwrap();
        command
            .env("DOCKER_CONFIG", &docker)
            .env("PATH", format!("{}:{path}", programs.display()));
        let done = Done::with_input(command, input);
        let said = format!("{}{}", done.stdout, done.stderr);
        assert!(!said.contains(PASSWORD), "{said}");
        done
    };
    let base64 =
        |text: &str| base64::Engine::encode(&base64::engine::general_purpose::STANDARD, text);
    let here = registry.address.as_str();
    let known = base64(&format!("ada:{PASSWORD}"));
    let before = kept(&windlass);
    for (config, problem) in [
        (json!({}), "docker login"),
        // What is noted for others is for others.
        (
            json!({"auths": {"other.example.com": {"auth": known}}}),
            "Nothing was installed",
        ),
        (
            json!({"auths": {here: {"auth": base64("ada:wrong")}}}),
            "docker login",
        ),
        (json!({"auths": {here: {"auth": "ada"}}}), "base64"),
        (
            json!({"auths": {here: {"identitytoken": "t"}}}),
            "--username",
        ),
        (json!({"auths": PASSWORD}), "config.json"),
        (
            json!({"credsStore": "breaks"}),
            "docker-credential-breaks failed",
        ),
        (json!({"credsStore": "gone"}), "docker-credential-gone"),
        (json!({"credsStore": "../knows"}), "plain name"),
        (json!({"credsStore": "forgot"}), "Nothing was installed"),
    ] {
        let done = run(&add, &config, b"");
        assert!(done.complaint(3).contains(problem), "{config}: {done:?}");
        assert_eq!(kept(&windlass), before, "{config}");
    }
    let none = json!({});
    let named = [&add[..], &["--username", "ada", "--password-stdin"]].concat();
    let done = run(&named, &none, b"wrong\n");
    assert!(
        done.complaint(3).contains("Nothing was installed"),
        "{done:?}"
    );
    let done = run(&named, &none, b"");
    assert!(done.complaint(3).contains("no password"), "{done:?}");
    for (args, config, input) in [
        (
            &add[..],
            json!({"auths": {here: {"auth": known}}}),
            String::new(),
        ),
        (
            &add,
            json!({"auths": {format!("https://{here}/v1/"): {"username": "ada", "password": PASSWORD}}}),
            String::new(),
        ),
        (&add, json!({"credsStore": "knows"}), String::new()),
        (
            &add,
            json!({"credHelpers": {here: "knows"}, "credsStore": "breaks"}),
            String::new(),
        ),
        (
            &add,
            json!({"credsStore": "forgot", "auths": {here: {"auth": known}}}),
            String::new(),
        ),
        (&named, none, format!("{PASSWORD}\n")),
    ] {
        let done = run(args, &config, input.as_bytes());
        assert_eq!(done.code, Some(0), "{config}: {done:?}");
        hears(&windlass, &[], "français");
        assert_eq!(windlass.run(&["plugin", "remove", "speaks"]).code, Some(0));
    }
    let asked = fs::read_to_string(programs.join("asked")).unwrap();
    let line = format!("get {here}");
    assert!(asked.lines().all(|asked| asked == line), "{asked}");
}
