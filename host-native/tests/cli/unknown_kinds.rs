//! What a model server sends that this version does not know.

use crate::support::{Windlass, model};

/// The order of the fields and the spelling of the numbers are the server's.
const BLOCK: &str = r#"{"type":"hologram","zeta":1.50,"alpha":[1,{"b":2,"a":1e2}]}"#;
const EVENT: &str = r#"{"type":"aurora","zeta":1.50,"alpha":[]}"#;

#[test]
fn loop_21_blocks_and_events_of_an_unknown_kind_come_through_byte_for_byte() {
    let insert = format!("event: aurora\ndata: {EVENT}\n\n");
    let insert = serde_json::to_string(&insert).unwrap();
    let script = format!(
        r#"{{"exchanges": [
            {{"respond": {{
                "content": [
                    {{"type": "raw", "block": {BLOCK}}},
                    {{"type": "tool_use", "name": "Glob", "input": {{"pattern": "*"}}}}
                ],
                "faults": [{{"after_events": 1, "insert": {insert}}}]
            }}}},
            {{"respond": "Done."}}
        ]}}"#
    );
    let server = model(&script);
    let done = Windlass::asking(&server).run(&[
        "-p",
        "go",
        "--output-format",
        "stream-json",
        "--include-partial-messages",
    ]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let of = |kind: &'static str| {
        let mut lines = done.stdout.lines();
        move |text: &str| lines.any(|line| line.contains(kind) && line.contains(text))
    };
    assert!(of("\"type\":\"assistant\"")(BLOCK), "{}", done.stdout);
    assert!(of("\"type\":\"stream_event\"")(EVENT), "{}", done.stdout);
    // It goes back to the server as it came.
    let sent = String::from_utf8(server.requests()[1].body.to_vec()).unwrap();
    assert!(sent.contains(BLOCK), "{sent}");
}
