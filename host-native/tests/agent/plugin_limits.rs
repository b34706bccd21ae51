//! What exchanges of plugins cost: all that came counts, and nobody waits for what others look up.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::{Value, json};
use windlass::plugins::{ComponentGrant, Method, PluginHost, PluginHostConfig, Resolver};

use crate::plugin_probe::{Probe, Server, reply, run, said};

fn asks(origin: &str, http_bytes: usize) -> Value {
    json!({
        "grants": { "http": [{ "origin": origin, "methods": ["GET"] }] },
        "limits": { "http_bytes": http_bytes },
    })
}

fn grant(origin: &str) -> ComponentGrant {
    ComponentGrant::default().origin(origin.parse().unwrap(), [Method::Get])
}

#[test]
fn card_3_an_answer_that_breaks_off_or_is_too_long_counts_as_far_as_it_came() {
    let count = Arc::new(AtomicUsize::new(0));
    let requests = Arc::clone(&count);
    let server = Server::answering(move |_| match requests.fetch_add(1, Ordering::SeqCst) {
        // Says that it has more, and goes.
        0 => {
            let whole = reply("200 OK", &[], &"x".repeat(9_000));
            whole[..whole.len() - 5_000].to_vec()
        }
        1 => reply("200 OK", &[], &"y".repeat(7_000)),
        _ => reply("200 OK", &[], "z"),
    });
    let origin = server.origin();
    let three = Probe::default()
        .send("GET", &[], "")
        .send("GET", &[], "")
        .send("GET", &[], "");
    let host = PluginHost::new(PluginHostConfig::default());
    let plugin = three.granted(&host, &asks(&origin, 10_000), &grant(&origin));
    let answer = said(&plugin, &origin);
    let too_long = |left: usize| {
        format!(
            "F3 the answer of {origin} is longer than the {left} bytes that are left to this call"
        )
    };
    assert!(
        answer.starts_with(&format!("F1 the exchange with {origin} broke")),
        "{answer}"
    );
    assert!(
        answer.ends_with(&format!("{}{}", too_long(6_000), too_long(0))),
        "{answer}"
    );
}

#[test]
fn card_3_a_plugin_that_looks_up_slow_names_does_not_hold_up_others() {
    let server = Server::saying("hello");
    let quick = format!("http://localhost:{}", server.port());
    let slow = "https://slow.test";
    let hold = Arc::new(Mutex::new(()));
    let held = hold.lock().unwrap();
    let begun = Arc::new(AtomicUsize::new(0));
    let (waits, begins) = (Arc::clone(&hold), Arc::clone(&begun));
    let host = PluginHost::new(PluginHostConfig {
        resolver: Resolver::new(move |name, port| {
            if name == "slow.test" {
                begins.fetch_add(1, Ordering::SeqCst);
                drop(waits.lock());
            }
            Ok(vec![([127, 0, 0, 1], port).into()])
        }),
        ..PluginHostConfig::default()
    });
    let get = || Probe::default().send("GET", &[], "");
    let mut impatient = asks(slow, 1000);
    impatient["limits"]["timeout_ms"] = json!(500);
    // So that all of them run at one time.
    impatient["limits"]["memory_bytes"] = json!(4 << 20);
    let greedy = host.load("greedy", get().component(&impatient)).unwrap();
    let greedy = greedy.granted(&grant(slow)).unwrap();
    let other = get().granted(&host, &asks(&quick, 1000), &grant(&quick));
    let calls: Vec<_> = (0..20)
        .map(|_| {
            let greedy = greedy.clone();
            thread::spawn(move || run(&greedy, slow).joined_text())
        })
        .collect();
    for call in calls {
        let text = call.join().unwrap();
        assert!(text.contains("ran out of time"), "{text}");
    }
    // Nothing that it began has ended, and nothing of it stands in the way.
    assert_eq!(begun.load(Ordering::SeqCst), 2);
    assert!(said(&other, &quick).ends_with("hello"));
    drop(held);
    // With free hands it goes on.
    let patient = host.load("greedy", get().component(&asks(slow, 1000)));
    let patient = patient.unwrap().granted(&grant(slow)).unwrap();
    let answer = said(&patient, slow);
    assert!(answer.contains("could not be reached"), "{answer}");
}

#[test]
fn card_3_a_body_is_measured_before_it_is_put_together() {
    let origin = "http://127.0.0.1:1";
    let host = PluginHost::new(PluginHostConfig::default());
    let long = Probe::default().send("GET", &[], &"y".repeat(3_000));
    let plugin = long.granted(&host, &asks(origin, 2_000), &grant(origin));
    assert!(said(&plugin, origin).starts_with("F2 the body is longer"));
    let mut limits = asks(origin, 2_000);
    limits["limits"]["timeout_ms"] = json!(Duration::from_mins(1).as_millis());
    let short = Probe::default().send("GET", &[], "y");
    let plugin = short.granted(&host, &limits, &grant(origin));
    assert!(said(&plugin, origin).starts_with("F0 "));
}
