//! Registries that attack whoever installs a plugin from them.

use std::{
    fs,
    net::TcpListener,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use windlass::plugins::Inspection;

use crate::{
    hostile_registry::{HostileRegistry, Reply, header},
    plugin_install::{kept, plugin},
    registry::{CONFIG, LAYER, PASSWORD},
    support::{Done, Windlass},
};

/// How many bytes of an answer without an end may leave its server, most of them into buffers of the system.
const MOST: usize = 64 << 20;

/// The token that servers of tokens give out here.
const TOKEN: &str = "token-canary-of-the-registry";

/// A person who installs plugins, and trusts the authority of the servers.
struct Person {
    windlass: Windlass,
}

impl Person {
    fn new(authority: &str) -> Self {
        let windlass = Windlass::new();
        fs::write(windlass.home().join("authority.pem"), authority).unwrap();
        Self { windlass }
    }

    /// Adds a plugin, with or without a login.
    fn add(&self, registry: &HostileRegistry, name: &str, login: bool, more: &[&str]) -> Done {
        let source = format!("oci://{}/tools/{name}:1", registry.address);
        let named = ["--username", "ada", "--password-stdin"];
        let named = if login { &named[..] } else { &[] };
        let args = [&["plugin", "add", &source, "--yes"], named, more].concat();
        let mut command = self.windlass.command(&args);
        let authority = self.windlass.home().join("authority.pem");
        command.env("NODE_EXTRA_CA_CERTS", authority);
        let done = Done::with_input(command, format!("{PASSWORD}\n").as_bytes());
        let said = format!("{}{}", done.stdout, done.stderr);
        assert!(!said.contains(PASSWORD) && !said.contains(TOKEN), "{said}");
        done
    }

    /// The same, which fails with one sentence that has these parts, and installs nothing.
    #[track_caller]
    fn fails(
        &self,
        registry: &HostileRegistry,
        name: &str,
        login: bool,
        more: &[&str],
        parts: &[&str],
    ) {
        let before = kept(&self.windlass);
        let started = Instant::now();
        let done = self.add(registry, name, login, more);
        assert!(started.elapsed() < Duration::from_secs(60), "{name}");
        let complaint = done.complaint(3);
        for part in parts.iter().chain(&["Nothing was installed"]) {
            assert!(complaint.contains(part), "{name}: {complaint}");
        }
        assert_eq!(kept(&self.windlass), before, "{name}");
    }

    /// The same, which succeeds; the plugin is removed again.
    #[track_caller]
    fn succeeds(&self, registry: &HostileRegistry, name: &str, login: bool, more: &[&str]) {
        let done = self.add(registry, name, login, more);
        assert_eq!(done.code, Some(0), "{name}: {done:?}");
        let done = self.windlass.run(&["plugin", "remove", "speaks"]);
        assert_eq!(done.code, Some(0), "{done:?}");
    }
}

fn component() -> Vec<u8> {
    plugin("1.0.0", &json!({"env": ["LANGUAGE"]}))
}

/// A manifest of a layer with this digest, and what else its descriptor says.
fn manifest(digest: &str, size: usize, more: &Value) -> Reply {
    let mut layer = json!({"mediaType": LAYER, "digest": digest, "size": size});
    for (key, value) in more.as_object().into_iter().flatten() {
        layer[key] = value.clone();
    }
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": {"mediaType": CONFIG, "digest": Inspection::digest(b"{}"), "size": 2},
        "layers": [layer],
    });
    Reply::ok(manifest.to_string())
}

/// The paths of a manifest and of the blob with the component.
fn paths(name: &str) -> [String; 2] {
    let digest = Inspection::digest(&component());
    [
        format!("/v2/tools/{name}/manifests/1"),
        format!("/v2/tools/{name}/blobs/{digest}"),
    ]
}

/// Puts an artifact with the component into a registry; `guard` stands before what is answered.
fn put(registry: &HostileRegistry, name: &str, guard: impl Fn(Reply) -> Reply) {
    let bytes = component();
    let [to_manifest, to_blob] = paths(name);
    let reply = manifest(&Inspection::digest(&bytes), bytes.len(), &json!({}));
    registry.put(&to_manifest, guard(reply));
    registry.put(&to_blob, guard(Reply::ok(bytes)));
}

/// A listener without TLS. Nothing should ever connect to it.
struct Nobody(TcpListener);

impl Nobody {
    fn start() -> (Self, u16) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        (Self(listener), port)
    }

    #[track_caller]
    fn was_not_reached(&self) {
        let accepted = self.0.accept();
        let kind = accepted.map(drop).unwrap_err().kind();
        assert_eq!(kind, std::io::ErrorKind::WouldBlock);
    }
}

#[test]
fn card_5_a_registry_sends_no_login_elsewhere() {
    let ([registry, other], authority) = HostileRegistry::start();
    let person = Person::new(&authority);
    let (nobody, port) = Nobody::start();
    let realm = |realm: &str| format!(r#"Bearer realm="{realm}",service="s",scope="all""#);
    let elsewhere = format!("https://{}/token", other.address);
    for (name, realm) in [
        ("elsewhere", realm(&elsewhere)),
        ("plain", realm(&format!("http://localhost:{port}/token"))),
        ("own", realm(&format!("https://{}/token", registry.address))),
    ] {
        put(&registry, name, |reply| {
            Reply::IfTold("Bearer", realm.clone(), Box::new(reply))
        });
    }
    for server in [&registry, &other] {
        let answer = json!({"access_token": TOKEN}).to_string();
        server.put("/token", Reply::ok(answer));
    }
    let named = ["--auth-host", &other.address];

    // Nobody has named it: it hears nothing, of a login or of anything.
    for login in [true, false] {
        let flag = format!("--auth-host {}", other.address);
        person.fails(
            &registry,
            "elsewhere",
            login,
            &[],
            &[&flag, &elsewhere[..20]],
        );
        let wrong = ["--auth-host", "localhost"];
        person.fails(&registry, "elsewhere", login, &wrong, &[&flag]);
        // Whoever is named, nothing goes unencrypted.
        let plain = format!("localhost:{port}");
        let plain = ["--auth-host", plain.as_str()];
        person.fails(&registry, "plain", login, &plain, &["https://"]);
    }
    assert_eq!(other.requests(), [""; 0]);
    nobody.was_not_reached();
    let told = |requests: &[String]| -> Vec<String> {
        let values = requests.iter().filter_map(|it| header(it, "authorization"));
        values.map(str::to_owned).collect()
    };
    assert_eq!(told(&registry.requests()), [""; 0]);

    // A person has: it hears the login, and the registry the token.
    person.succeeds(&registry, "elsewhere", true, &named);
    let asked = other.requests();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(
        told(&asked)[0].starts_with("Basic ") && asked[0].contains("tools%2Felsewhere%3Apull"),
        "{asked:?}"
    );
    let bearer = format!("Bearer {TOKEN}");
    let heard = told(&registry.requests());
    assert_eq!(heard, [bearer.as_str(); 2]);
    // Without a login it hears who asks for what, and no more.
    person.succeeds(&registry, "elsewhere", false, &named);
    assert_eq!(told(&other.requests()), [""; 0]);

    // The registry itself gives tokens out unnamed.
    registry.requests();
    person.succeeds(&registry, "own", true, &[]);
    let heard = told(&registry.requests());
    assert_eq!(heard.len(), 3, "{heard:?}");
    assert!(heard[0].starts_with("Basic "), "{heard:?}");
    assert_eq!(heard[1..], [bearer.as_str(); 2]);
    assert_eq!(other.requests(), [""; 0]);
}

#[test]
fn card_5_an_answer_of_a_registry_without_an_end_is_cut_off() {
    let ([registry], authority) = HostileRegistry::start();
    let person = Person::new(&authority);
    let realm = format!(r#"Bearer realm="https://{}/token""#, registry.address);
    registry.put("/token", Reply::Endless("200 OK"));
    put(&registry, "token", |reply| {
        Reply::IfTold("Bearer", realm.clone(), Box::new(reply))
    });
    for (name, status) in [("refusal", "404 Not Found"), ("manifest", "200 OK")] {
        registry.put(&paths(name)[0], Reply::Endless(status));
    }
    for (name, status) in [
        ("failure", "500 Internal Server Error"),
        ("layer", "200 OK"),
    ] {
        put(&registry, name, |reply| reply);
        registry.put(&paths(name)[1], Reply::Endless(status));
    }
    for (name, problem) in [
        ("failure", "the registry failed (500)"),
        ("token", "more than 65536 bytes"),
        ("refusal", "check the repository"),
        ("manifest", "more than 4194304 bytes"),
        ("layer", "a layer has more than"),
    ] {
        person.fails(&registry, name, true, &[], &[problem]);
        let taken = registry.cut_off();
        assert!(taken < MOST, "{name}: {taken}");
    }
}

#[test]
fn card_5_a_manifest_leads_to_no_other_address() {
    let ([registry, other], authority) = HostileRegistry::start();
    let person = Person::new(&authority);
    let (nobody, port) = Nobody::start();
    let bytes = component();
    let digest = Inspection::digest(&bytes);
    other.put("/speaks.wasm", Reply::ok(bytes.clone()));
    registry.put("/elsewhere", Reply::ok(bytes.clone()));
    let urls = json!({"urls": [
        format!("https://{}/speaks.wasm", other.address),
        format!("http://localhost:{port}/speaks.wasm"),
        format!("https://{}/elsewhere", registry.address),
    ]});
    registry.put(&paths("urls")[0], manifest(&digest, bytes.len(), &urls));
    person.fails(&registry, "urls", true, &[], &["no such artifact"]);
    // Nor does its digest lead to another path.
    for strange in [
        "../../../../elsewhere",
        "sha256:/elsewhere",
        "?",
        "sha256:?a",
    ] {
        let reply = manifest(strange, bytes.len(), &json!({}));
        registry.put(&paths("path")[0], reply);
        person.fails(&registry, "path", true, &[], &["the digest of a layer"]);
    }
    let asked = registry.requests();
    assert!(
        asked
            .iter()
            .all(|request| request.starts_with("GET /v2/tools/")),
        "{asked:?}"
    );
    assert_eq!(other.requests(), [""; 0]);
    nobody.was_not_reached();
}

#[test]
fn card_5_a_redirect_of_a_registry_carries_no_login() {
    let ([registry, storage], authority) = HostileRegistry::start();
    let person = Person::new(&authority);
    let (nobody, port) = Nobody::start();
    let basic = |reply: Reply| Reply::IfTold("Basic", "Basic realm=\"r\"".into(), Box::new(reply));
    let leads = |name: &str, location: &str| {
        put(&registry, name, basic);
        let reply = basic(Reply::redirect(location));
        registry.put(&paths(name)[1], reply);
    };
    let at = |path: &str| format!("https://{}{path}", storage.address);
    storage.put("/speaks.wasm", Reply::ok(component()));
    storage.put("/private.wasm", basic(Reply::ok(component())));
    storage.put("/round", Reply::redirect("/round"));
    let back = format!("https://{}/back", registry.address);
    storage.put("/back", Reply::redirect(&back));
    registry.put("/back", basic(Reply::ok(component())));

    leads("storage", &at("/speaks.wasm"));
    person.succeeds(&registry, "storage", true, &[]);
    let heard = storage.requests();
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert_eq!(header(&heard[0], "authorization"), None, "{heard:?}");
    let told = registry.requests();
    assert!(
        told.iter().any(|it| header(it, "authorization").is_some()),
        "{told:?}"
    );

    let plain = format!("http://localhost:{port}/speaks.wasm");
    let named = format!("https://ada@{}/speaks.wasm", storage.address);
    let round = at("/round");
    for (name, location, problem) in [
        ("plain", plain.as_str(), "where nothing is fetched from"),
        ("named", &named, "where nothing is fetched from"),
        (
            "file",
            "file:///etc/passwd",
            "where nothing is fetched from",
        ),
        ("round", &round, "more than 5 other addresses"),
        // What a storage asks for, or whom it leads back to, gets no login either.
        ("private", &at("/private.wasm"), "docker login"),
        ("back", &at("/back"), "docker login"),
    ] {
        leads(name, location);
        person.fails(&registry, name, true, &[], &[problem]);
    }
    for request in storage.requests() {
        assert_eq!(header(&request, "authorization"), None, "{request}");
    }
    let told = registry.requests();
    let back = told.iter().find(|it| it.starts_with("GET /back ")).unwrap();
    assert_eq!(header(back, "authorization"), None, "{back}");
    nobody.was_not_reached();
}
