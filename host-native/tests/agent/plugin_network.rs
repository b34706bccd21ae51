//! What plugins reach over HTTP, and what they learn of secrets: never more than was granted, and never a secret.

#[cfg(target_os = "linux")]
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};
use std::{fs, thread};

use base64::{
    Engine as _,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD},
};
use secrecy::SecretString;
use serde_json::{Value, json};
use windlass::{
    core::{
        host::CancelSignal,
        tool::{Access, PluginGrant},
    },
    plugins::{
        CallLimits, ComponentGrant, Method, PluginHost, PluginHostConfig, Resolver, SecretSource,
        StateScope,
    },
};

use crate::{
    plugin_probe::{Log, Probe, Server, call, logging, reply, run, said},
    support::Model,
};

/// What a component is told that asks for something that it was not granted.
const REFUSED: &str = "F2 this component was not granted this origin with this method";

/// Asks for these origins, with all that is safe and sound.
fn asks(origins: &[&str]) -> Value {
    let origins: Vec<Value> = origins
        .iter()
        .map(|origin| json!({"origin": origin, "methods": ["GET", "POST"]}))
        .collect();
    json!({"grants": {"http": origins}})
}

fn grants(origins: &[&str], methods: &[Method]) -> ComponentGrant {
    let grant = ComponentGrant::default();
    origins.iter().fold(grant, |grant, origin| {
        grant.origin(origin.parse().unwrap(), methods.iter().copied())
    })
}

fn get() -> Probe {
    Probe::default().send("GET", &[("x-mine", "1")], "")
}

fn plain_host() -> PluginHost {
    PluginHost::new(PluginHostConfig::default())
}

#[test]
fn card_5_a_request_reaches_a_granted_origin_and_brings_its_answer() {
    let server = Server::saying("hello");
    let origin = server.origin();
    let post = Probe::default().send("POST", &[("x-mine", "1")], "some text");
    let grant = grants(&[&origin], &[Method::Post]);
    let plugin = post.granted(&plain_host(), &asks(&[&origin]), &grant);
    let answer = said(&plugin, &format!("{origin}/v1?q=1#part"));
    assert!(
        answer.starts_with("200\n") && answer.ends_with("hello"),
        "{answer}"
    );
    let request = server.end().remove(0);
    assert!(
        request.starts_with("POST /v1?q=1 HTTP/1.1\r\n"),
        "{request}"
    );
    assert!(
        request.contains("x-mine: 1\r\n") && request.ends_with("\r\n\r\nsome text"),
        "{request}"
    );
    assert!(request.contains("user-agent: windlass/"), "{request}");
    assert!(
        !request.to_lowercase().contains("authorization"),
        "{request}"
    );
}

/// Ways to name one place and mean another, and places that nobody may name.
#[test]
fn card_5_no_url_leads_anywhere_but_to_a_granted_origin() {
    let server = Server::saying("hello");
    let other = Server::saying("other");
    let (port, origin) = (server.port(), server.origin());
    let log = Log::default();
    let host = PluginHost::new(logging(&log));
    let named = [
        origin.as_str(),
        "https://example.com",
        "https://10.0.0.1:8443",
    ];
    let granted = [origin.as_str(), "https://example.com"];
    let plugin = get().granted(&host, &asks(&named), &grants(&granted, &[Method::Get]));
    assert!(said(&plugin, &origin).ends_with("hello"));
    let here = [
        // Another scheme, port, host or user; and the same host in other words.
        format!("https://127.0.0.1:{port}/"),
        format!("ws://127.0.0.1:{port}/"),
        format!("ftp://127.0.0.1:{port}/"),
        format!("http://127.0.0.1:{}/", other.port()),
        format!("http://localhost:{port}/"),
        format!("http://localhost.:{port}/"),
        format!("http://127.0.0.2:{port}/"),
        format!("http://127.0.0.1:{port}@example.com/"),
        format!("http://user@127.0.0.1:{port}/"),
        format!("http://user:word@127.0.0.1:{port}/"),
        format!("http://:@127.0.0.1:{port}@127.0.0.1:{}/", other.port()),
        format!("http://[::1]:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://[64:ff9b::7f00:1]:{port}/"),
        format!("http://0.0.0.0:{port}/"),
        format!("http://0:{port}/"),
    ];
    let elsewhere = [
        "https://example.com.evil.test/",
        "https://sub.example.com/",
        "https://example.com./",
        "https://example.com:8443/",
        "http://example.com/",
        "https://evil.test/@example.com",
        "https://evil.test#@example.com",
        "https://evil.test?.example.com",
        "https://xn--xample-2of.com/",
        "https://еxample.com/",
        "https://10.0.0.1:8443/",
        "https://10.0.0.1/",
        "https://172.16.0.1/",
        "https://192.168.0.1/",
        "https://100.64.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[fe80::1]/",
        "http://[fd00:ec2::254]/",
        "http://2852039166/latest/",
        "http://0xa9fea9fe/latest/",
        "http://0251.0376.0251.0376/",
        "file:///etc/passwd",
        "gopher://example.com/",
        "data:text/plain,x",
        "javascript:x",
        "unix:/run/docker.sock",
    ];
    for url in here.iter().map(String::as_str).chain(elsewhere) {
        assert_eq!(said(&plugin, url), REFUSED, "{url}");
    }
    for url in [
        "/v1/messages",
        "example.com",
        "//example.com/",
        "",
        "https://",
        "https://example.com /",
        " https://example.com/",
        "https://exa\u{1}mple.com/",
        "https://example.com\u{a0}.evil.test/",
    ] {
        let answer = said(&plugin, url);
        assert!(answer.starts_with("F2 "), "{url}: {answer}");
    }
    // Numbers that are this very address are read as it.
    for host in ["2130706433", "0x7f000001", "0177.0.0.1", "127.1"] {
        assert!(
            said(&plugin, &format!("http://{host}:{port}/")).ends_with("hello"),
            "{host}"
        );
    }
    assert!(
        log.text()
            .contains("refused a request to http://169.254.169.254: not granted")
    );
    assert_eq!(server.end().len(), 5);
    assert!(other.end().is_empty());
}

#[test]
fn card_5_a_name_that_leads_into_a_private_network_is_not_reached() {
    let log = Log::default();
    let origin = "https://intern.test";
    for address in [
        "127.0.0.1",
        "::1",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.0.1",
        "100.64.0.1",
        "169.254.169.254",
        "0.0.0.0",
        "fe80::1",
        "fd00:ec2::254",
        "::ffff:10.0.0.1",
        "64:ff9b::a00:1",
        "2002:7f00:1::1",
    ] {
        let config = PluginHostConfig {
            resolver: Resolver::new(move |name, port| {
                assert_eq!((name, port), ("intern.test", 443));
                // One that is public does not help.
                Ok(vec![
                    "8.8.8.8:443".parse().unwrap(),
                    (address.parse::<std::net::IpAddr>().unwrap(), port).into(),
                ])
            }),
            ..logging(&log)
        };
        let plugin = get().granted(
            &PluginHost::new(config),
            &asks(&[origin]),
            &grants(&[origin], &[Method::Get]),
        );
        assert_eq!(
            said(&plugin, origin),
            "F0 https://intern.test could not be reached",
            "{address}"
        );
    }
    // The component is told the same of a name that does not exist; the log knows.
    let config = PluginHostConfig {
        resolver: Resolver::new(|_, _| Ok(Vec::new())),
        ..logging(&log)
    };
    let plugin = get().granted(
        &PluginHost::new(config),
        &asks(&[origin]),
        &grants(&[origin], &[Method::Get]),
    );
    assert_eq!(
        said(&plugin, origin),
        "F0 https://intern.test could not be reached"
    );
    for reason in [
        "169.254.169.254, and it is local to the link",
        "it has no address",
    ] {
        assert!(log.text().contains(reason), "{}", log.text());
    }
}

#[test]
fn card_5_what_is_not_encrypted_stays_on_this_machine() {
    let server = Server::saying("hello");
    let origin = format!("http://localhost:{}", server.port());
    for (address, expected) in [
        ("127.0.0.1:1", "hello"),
        ("8.8.8.8:1", "could not be reached"),
        ("10.0.0.1:1", "could not be reached"),
    ] {
        let config = PluginHostConfig {
            resolver: Resolver::new(move |_, _| Ok(vec![address.parse().unwrap()])),
            ..PluginHostConfig::default()
        };
        let host = PluginHost::new(config);
        let plugin = get().granted(
            &host,
            &asks(&[&origin]),
            &grants(&[&origin], &[Method::Get]),
        );
        let answer = said(&plugin, &origin);
        assert!(answer.ends_with(expected), "{address}: {answer}");
    }
}

/// A resolver that answers one after the other, whoever asks, and how often it was asked.
#[cfg(target_os = "linux")]
fn answering(answers: &'static [&'static [&'static str]]) -> (PluginHost, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let asked = Arc::clone(&count);
    let resolver = Resolver::new(move |_, port| {
        let answer = answers[asked.fetch_add(1, Ordering::SeqCst)];
        let addresses = answer.iter().map(|address| {
            let address: std::net::IpAddr = address.parse().unwrap();
            (address, port).into()
        });
        Ok(addresses.collect())
    });
    let config = PluginHostConfig {
        resolver,
        ..PluginHostConfig::default()
    };
    (PluginHost::new(config), count)
}

/// Whoever answers for a name may answer otherwise as soon as its first answer was judged.
#[cfg(target_os = "linux")]
#[test]
fn card_5_a_name_is_looked_up_once_for_a_request_which_goes_to_what_was_judged() {
    let judged = Server::saying("judged");
    let port = judged.port();
    let elsewhere = Server::at(([127, 0, 0, 2], port).into(), |_| {
        reply("200 OK", &[], "elsewhere")
    });
    let origin = format!("http://localhost:{port}");
    let unreachable = format!("F0 {origin} could not be reached");
    let granted = |host: &PluginHost| {
        get().granted(host, &asks(&[&origin]), &grants(&[&origin], &[Method::Get]))
    };

    // The first lookup of a request is its only one; the next request has its own, and what comes of it is judged as well.
    let (host, asked) = answering(&[
        &["127.0.0.1"],
        &["127.0.0.2"],
        &["10.0.0.1"],
        &["127.0.0.1", "169.254.169.254"],
        &["127.0.0.1"],
    ]);
    let plugin = granted(&host);
    for (number, end) in ["judged", "elsewhere", &unreachable, &unreachable, "judged"]
        .into_iter()
        .enumerate()
    {
        let answer = said(&plugin, &origin);
        assert!(answer.ends_with(end), "{number}: {answer}");
        assert_eq!(asked.load(Ordering::SeqCst), number + 1, "{end}");
    }

    // Where nobody is at the address that was judged, it is not looked up again.
    let (host, asked) = answering(&[&["127.0.0.3"], &["127.0.0.2"]]);
    assert_eq!(said(&granted(&host), &origin), unreachable);
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    // The others that were judged with it are tried.
    let (host, asked) = answering(&[&["127.0.0.3", "127.0.0.1"], &["127.0.0.2"]]);
    assert!(said(&granted(&host), &origin).ends_with("judged"));
    assert_eq!(asked.load(Ordering::SeqCst), 1);

    assert_eq!(judged.end().len(), 3);
    assert_eq!(elsewhere.end().len(), 1);
}

#[test]
fn card_5_an_answer_leads_a_request_nowhere() {
    let target = Server::saying("inside");
    let to = format!("{}/secret", target.origin());
    let redirect = reply("302 Found", &[("location", &to)], "");
    let server = Server::answering(move |_| redirect.clone());
    let origin = server.origin();
    let plugin = get().granted(
        &plain_host(),
        &asks(&[&origin]),
        &grants(&[&origin], &[Method::Get]),
    );
    let answer = said(&plugin, &origin);
    assert!(
        answer.starts_with("302\n") && answer.contains(&format!("location:{to}")),
        "{answer}"
    );
    // A component that follows it by itself asks for an origin like any other.
    assert_eq!(said(&plugin, &to), REFUSED);
    assert!(target.end().is_empty());
}

#[test]
fn card_5_methods_and_headers_are_those_that_were_granted() {
    let server = Server::saying("hello");
    let origin = server.origin();
    let host = plain_host();
    let with = |method: &str, headers: &[(&str, &str)]| {
        let probe = Probe::default().send(method, headers, "");
        let plugin = probe.granted(
            &host,
            &asks(&[&origin]),
            &grants(&[&origin], &[Method::Get]),
        );
        said(&plugin, &origin)
    };
    for method in ["POST", "HEAD", "get", "CONNECT", "TRACE", "GET ", ""] {
        assert_eq!(with(method, &[]), REFUSED, "{method}");
    }
    for header in [
        ("host", "evil.test"),
        ("Connection", "upgrade"),
        ("Transfer-Encoding", "chunked"),
        ("content-length", "0"),
        ("proxy-authorization", "x"),
        ("upgrade", "websocket"),
        ("x-a", "1\r\nhost: evil.test"),
        ("x-a\r\nhost", "evil.test"),
        ("x a", "1"),
        ("", "1"),
    ] {
        let answer = with("GET", &[header]);
        assert!(answer.starts_with("F2 "), "{header:?}: {answer}");
    }
    assert!(with("GET", &[("x-long", &"a".repeat(4000))]).ends_with("hello"));
    assert_eq!(server.end().len(), 1);
}

#[test]
fn card_5_declared_and_not_granted_looks_like_never_heard_of() {
    let server = Server::saying("hello");
    let origin = server.origin();
    let host = plain_host();
    let none = get().granted(&host, &asks(&[&origin]), &ComponentGrant::default());
    let unasked = get().granted(&host, &asks(&[]), &ComponentGrant::default());
    let refused = said(&none, &origin);
    assert_eq!(refused, "F2 this component was granted no network");
    assert_eq!(said(&unasked, &origin), refused);
    assert_eq!(
        said(
            &host
                .load("probe", get().component(&asks(&[&origin])))
                .unwrap(),
            &origin
        ),
        refused
    );

    let secret = Probe::default()
        .available("TOKEN")
        .variable("PATH")
        .swap("k");
    let declared = json!({"grants": {
        "http": [origin], "env": ["PATH"], "state": "durable",
        "secrets": [{"name": "TOKEN", "description": "x", "audience": [origin]}],
    }});
    for asks in [&declared, &json!({})] {
        let plugin = secret.granted(&host, asks, &ComponentGrant::default());
        assert_eq!(said(&plugin, "x"), "0-E0");
    }
    assert!(server.end().is_empty());
}

#[test]
fn card_5_a_grant_of_what_was_never_declared_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("probe.wasm");
    fs::write(&path, get().component(&asks(&["https://a.example"]))).unwrap();
    let nothing = ComponentGrant::default();
    for (grant, word) in [
        (
            grants(&["https://b.example"], &[Method::Get]),
            "https://b.example",
        ),
        (
            grants(&["https://a.example"], &[Method::Delete]),
            "DELETE to https://a.example",
        ),
        (nothing.clone().secret("TOKEN", "TOKEN"), "`TOKEN`"),
        (nothing.clone().env("LANG"), "`LANG`"),
        (nothing.state(StateScope::Session), "session state"),
    ] {
        let model = Model::says(["nobody asks"]);
        let refused = model.agent().plugin_granted(&path, grant).build();
        let message = refused.unwrap_err().to_string();
        assert!(
            message.contains(word) && message.contains("probe.wasm"),
            "{message}"
        );
    }
}

#[test]
fn card_5_a_grant_can_be_written_down_without_any_secret() {
    let grant = ComponentGrant::from(PluginGrant::workspace(Access::Read))
        .origin("https://a.example".parse().unwrap(), [Method::Get])
        .secret("TOKEN", "MY_TOKEN")
        .env("LANG")
        .state(StateScope::Durable);
    let written = serde_json::to_value(&grant).unwrap();
    assert_eq!(
        written,
        json!({
            "directories": [{"path": "", "access": "read"}],
            "http": [{"origin": "https://a.example", "methods": ["GET"]}],
            "secrets": {"TOKEN": "MY_TOKEN"},
            "env": ["LANG"],
            "state": "durable",
        })
    );
    assert_eq!(
        serde_json::from_value::<ComponentGrant>(written).unwrap(),
        grant
    );
    serde_json::from_value::<ComponentGrant>(json!({"network": true})).unwrap_err();
}

#[test]
fn card_3_an_answer_that_is_too_long_is_not_taken() {
    let server = Server::saying(&"x".repeat(5000));
    let origin = server.origin();
    let mut asked = asks(&[&origin]);
    asked["limits"] = json!({"http_bytes": 6000});
    let twice = get().send("GET", &[], "");
    let plugin = twice.granted(&plain_host(), &asked, &grants(&[&origin], &[Method::Get]));
    let answer = said(&plugin, &origin);
    assert!(answer.contains(&"x".repeat(5000)), "{answer}");
    // All answers of a call together.
    let end = format!(
        "F3 the answer of {origin} is longer than the 1000 bytes that are left to this call"
    );
    assert!(answer.ends_with(&end), "{answer}");
    let long = Probe::default().send("POST", &[], &"y".repeat(3000));
    asked["limits"] = json!({"http_bytes": 2000});
    let plugin = long.granted(&plain_host(), &asked, &grants(&[&origin], &[Method::Post]));
    assert!(said(&plugin, &origin).starts_with("F2 the body is longer"));
}

#[test]
fn card_3_a_call_that_waits_for_a_server_ends_in_time_and_when_it_is_cancelled() {
    let cancel = CancelSignal::new();
    let at_request = cancel.clone();
    let server = Server::answering(move |request| {
        if request.starts_with("GET /cancel") {
            at_request.cancel();
        }
        Vec::new()
    });
    let origin = server.origin();
    let mut asked = asks(&[&origin]);
    asked["limits"] = json!({"timeout_ms": 300});
    let plugin = get().granted(&plain_host(), &asked, &grants(&[&origin], &[Method::Get]));
    let result = run(&plugin, &origin);
    assert!(
        result.is_error
            && result
                .joined_text()
                .contains("ran out of time after 300 ms"),
        "{result:?}"
    );

    let plugin = get().granted(
        &plain_host(),
        &asks(&[&origin]),
        &grants(&[&origin], &[Method::Get]),
    );
    let url = format!("{origin}/cancel");
    let result = plugin.call_blocking(&call(&url), &cancel);
    assert!(
        result.is_error && result.joined_text().contains("cancelled"),
        "{result:?}"
    );
    // Both connections were closed.
    assert_eq!(
        server
            .end()
            .iter()
            .filter(|request| *request == "gone")
            .count(),
        2
    );
}

#[tokio::test]
async fn card_3_a_request_can_be_sent_from_any_thread_and_its_host_be_dropped_there() {
    let server = Server::saying("hello");
    let origin = server.origin();
    let plugin = get().granted(
        &plain_host(),
        &asks(&[&origin]),
        &grants(&[&origin], &[Method::Get]),
    );
    // Blocks the thread of a runtime: nobody should do this, and it works.
    assert!(said(&plugin, &origin).ends_with("hello"));
    let result = plugin.call(call(&origin), CancelSignal::new()).await;
    assert!(result.joined_text().ends_with("hello"));
    drop(plugin);
    assert_eq!(server.end().len(), 2);
}

#[test]
fn card_3_floods_of_calls_and_lines_end() {
    let mut probe = Probe::default();
    let text = probe.text("a line");
    let flood = |step: &str| format!("(loop $l {step} (br $l))");
    let log = Log::default();
    let host = PluginHost::new(PluginHostConfig {
        limits: CallLimits {
            log: 60,
            ..CallLimits::default()
        },
        ..logging(&log)
    });
    let calls = probe.step(&flood(&format!("(call $log (i32.const 1) {text})")));
    let asked = json!({"limits": {"host_calls": 1000, "log_bytes": 100}});
    let plugin = calls.granted(&host, &asked, &ComponentGrant::default());
    let result = run(&plugin, "");
    assert!(
        result.is_error
            && result
                .joined_text()
                .contains("called the host more than 1000 times"),
        "{result:?}"
    );
    assert_eq!(
        log.lines(),
        10,
        "the host's limit is less than what is declared"
    );

    // What the host writes about refusals ends too.
    let log = Log::default();
    let host = PluginHost::new(logging(&log));
    let mut probe = Probe::default();
    let (method, url) = (probe.text("GET"), probe.text("https://evil.test/"));
    let send = format!(
        "(call $send {method} {url} (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 2048))"
    );
    let plugin = probe
        .step(&flood(&send))
        .granted(&host, &asked, &ComponentGrant::default());
    assert!(run(&plugin, "").is_error);
    assert_eq!(log.lines(), 100);
}

const SECRET: &str = "s3cr3t/Value+with=odd&chars";

/// A host that knows one secret.
fn secretive(log: &Log) -> PluginHost {
    PluginHost::new(PluginHostConfig {
        secrets: SecretSource::new(|wanted| {
            assert_eq!((wanted.component, wanted.name), ("probe", "TOKEN"));
            (wanted.reference == "MY_TOKEN").then(|| SecretString::from(SECRET))
        }),
        ..logging(log)
    })
}

/// Asks for these origins, and for a secret that is meant for the first.
fn asks_secret(origins: &[&str]) -> Value {
    let mut asks = asks(origins);
    asks["grants"]["secrets"] =
        json!([{"name": "TOKEN", "description": "Of a bot.", "audience": [origins[0]]}]);
    asks
}

/// The ways in which a server may repeat it.
fn notations() -> Vec<String> {
    let hex: String = SECRET.bytes().map(|byte| format!("{byte:02x}")).collect();
    let percent: String = SECRET
        .chars()
        .map(|c| match c.is_ascii_alphanumeric() {
            true => c.to_string(),
            false => format!("%{:02X}", u32::from(c)),
        })
        .collect();
    let mut all = vec![
        SECRET.to_owned(),
        hex.to_uppercase(),
        hex,
        percent.to_lowercase().replace("v", "V"),
        percent,
        BASE64_STANDARD.encode(format!("bot:{SECRET}")),
    ];
    for before in ["", "a", "ab"] {
        let text = format!("{before}{SECRET}");
        all.push(BASE64_STANDARD.encode(&text));
        all.push(BASE64_URL_SAFE_NO_PAD.encode(&text));
    }
    all
}

#[test]
fn card_5_a_secret_is_sent_and_never_seen() {
    let server = Server::answering(|_| {
        let body = format!("BEGIN {} END", notations().join(" | "));
        let headers: Vec<(String, String)> = notations()
            .into_iter()
            .enumerate()
            .map(|(number, text)| (format!("x-{number}"), text))
            .collect();
        let headers: Vec<(&str, &str)> = headers
            .iter()
            .map(|(n, v)| (n.as_str(), v.as_str()))
            .collect();
        reply("401 Unauthorized", &headers, &body)
    });
    let origin = server.origin();
    let log = Log::default();
    let host = secretive(&log);
    let probe = Probe::default()
        .available("TOKEN")
        .available("OTHER")
        .send_secret(&[], &[("authorization", "TOKEN", "Bearer ", None)])
        .send_secret(
            &[],
            &[
                ("authorization", "TOKEN", "Basic ", Some("bot")),
                ("x-key", "TOKEN", "", None),
            ],
        )
        // The server may repeat it in any later answer.
        .send("GET", &[], "");
    let grant = grants(&[&origin], &[Method::Get]).secret("TOKEN", "MY_TOKEN");
    let plugin = probe.granted(&host, &asks_secret(&[&origin]), &grant);
    let answer = said(&plugin, &origin);
    assert!(answer.starts_with("10401\n"), "{answer}");
    assert_eq!(answer.matches("END").count(), 3);
    assert!(
        answer.matches("[key]").count() >= 3 * 2 * notations().len(),
        "{answer}"
    );
    for text in notations() {
        assert!(!answer.contains(&text), "{text}: {answer}");
        // Not most of it either.
        assert!(
            !answer.contains(&text[5..text.len() - 5]),
            "{text}: {answer}"
        );
        assert!(!log.text().contains(&text));
    }
    let requests = server.end();
    assert!(
        requests[0].contains(&format!("authorization: Bearer {SECRET}\r\n")),
        "{}",
        requests[0]
    );
    let pair = BASE64_STANDARD.encode(format!("bot:{SECRET}"));
    assert!(
        requests[1].contains(&format!("authorization: Basic {pair}\r\n")),
        "{}",
        requests[1]
    );
    assert!(requests[1].contains(&format!("x-key: {SECRET}\r\n")));
    assert!(requests[0].contains("accept-encoding: identity\r\n"));
    assert!(!requests[2].contains(SECRET));
    assert!(!format!("{host:?} {plugin:?} {grant:?}").contains(SECRET));
}

#[test]
fn card_5_a_secret_goes_to_its_audience_and_nowhere_else() {
    let other = Server::saying("hello");
    let to = other.origin();
    let redirect = reply("307 Temporary Redirect", &[("location", &to)], "");
    let server = Server::answering(move |_| redirect.clone());
    let (origin, to) = (server.origin(), other.origin());
    let log = Log::default();
    let host = secretive(&log);
    let grant = grants(&[&origin, &to], &[Method::Get]).secret("TOKEN", "MY_TOKEN");
    let with = |headers: &[(&str, &str)], secrets: &[_], grant: &ComponentGrant, url: &str| {
        let probe = Probe::default().send_secret(headers, secrets);
        let plugin = probe.granted(&host, &asks_secret(&[&origin, &to]), grant);
        said(&plugin, url)
    };
    let bearer = [("authorization", "TOKEN", "Bearer ", None)];
    let refused = "F2 there is no secret `TOKEN` for this origin";
    assert_eq!(with(&[], &bearer, &grant, &to), refused);
    assert!(with(&[], &bearer, &grant, &origin).starts_with("307\n"));
    // Not granted, and granted by a name under which there is nothing: as if it were not there.
    let none = grants(&[&origin], &[Method::Get]);
    assert_eq!(with(&[], &bearer, &none, &origin), refused);
    let wrong = none.secret("TOKEN", "GONE");
    assert_eq!(with(&[], &bearer, &wrong, &origin), refused);
    for (headers, secrets) in [
        (vec![], ("host", "TOKEN", "", None)),
        (vec![], ("range", "TOKEN", "", None)),
        (vec![], ("x-a\r\nx-b", "TOKEN", "", None)),
        (vec![], ("x-a", "TOKEN", "a\r\nb: ", None)),
        (vec![], ("x-a", "TOKEN", "", Some("user:"))),
        (vec![], ("x-a", "OTHER", "", None)),
        (vec![("x-a", "mine")], ("x-a", "TOKEN", "", None)),
        (
            vec![("accept-encoding", "gzip")],
            ("x-a", "TOKEN", "", None),
        ),
        (vec![("range", "bytes=0-3")], ("x-a", "TOKEN", "", None)),
    ] {
        let answer = with(&headers, &[secrets], &grant, &origin);
        assert!(
            answer.starts_with("F2 "),
            "{headers:?} {secrets:?}: {answer}"
        );
    }
    assert_eq!(server.end().len(), 1);
    assert!(other.end().is_empty());
    assert!(
        log.text().contains("the secret `TOKEN` was not sent to"),
        "{}",
        log.text()
    );
}

#[test]
fn card_5_a_compressed_answer_to_a_secret_is_not_handed_on() {
    let server = Server::answering(|_| reply("200 OK", &[("content-encoding", "gzip")], "xyz"));
    let origin = server.origin();
    let probe = Probe::default().send_secret(&[], &[("x-key", "TOKEN", "", None)]);
    let grant = grants(&[&origin], &[Method::Get]).secret("TOKEN", "MY_TOKEN");
    let plugin = probe.granted(
        &secretive(&Log::default()),
        &asks_secret(&[&origin]),
        &grant,
    );
    let answer = said(&plugin, &origin);
    assert!(
        answer.starts_with("F2 the answer is compressed"),
        "{answer}"
    );
}

#[test]
fn card_5_a_secret_that_is_too_short_to_be_found_again_is_none() {
    let host = PluginHost::new(PluginHostConfig {
        secrets: SecretSource::new(|_| Some(SecretString::from("short"))),
        ..PluginHostConfig::default()
    });
    let origin = "http://127.0.0.1:1";
    let grant = grants(&[origin], &[Method::Get]).secret("TOKEN", "MY_TOKEN");
    let plugin =
        Probe::default()
            .available("TOKEN")
            .granted(&host, &asks_secret(&[origin]), &grant);
    assert_eq!(said(&plugin, ""), "0");
}

#[test]
fn card_5_plugins_at_once_do_not_get_each_others_answers() {
    let server =
        Server::answering(|request| reply("200 OK", &[], request.split(' ').nth(1).unwrap()));
    let origin = server.origin();
    let plugin = get().granted(
        &plain_host(),
        &asks(&[&origin]),
        &grants(&[&origin], &[Method::Get]),
    );
    let threads: Vec<_> = (0..4)
        .map(|number| {
            let (plugin, url) = (plugin.clone(), format!("{origin}/{number}"));
            thread::spawn(move || assert!(said(&plugin, &url).ends_with(&format!("/{number}"))))
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
}
