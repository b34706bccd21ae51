//! Sessions that are kept: in memory (Node), and in the storage of a browser (Chromium).

use std::path::Path;

use serde_json::{Value, json};

use crate::{chromium, node};

#[test]
fn card_4_sessions_are_kept_in_stores_and_go_on() {
    node::test("sessions.test.js");
}

#[test]
fn card_4_turns_go_on_where_a_page_or_process_ended() {
    node::test("unfinished-turns.test.js");
}

/// The page is loaded again in the middle of a session, which goes on then; another tab has it, and loses it when it is closed;
/// and the storage keeps the contract of stores.
#[test]
fn card_4_sessions_outlive_their_page_and_have_one_tab() {
    let report = chromium::report_of("/tests/sessions.html", &json!({}), Path::new("/nowhere"));
    let seen: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(seen["broken"], json!([]), "{seen}");
    assert_eq!(
        seen["afterReload"],
        json!({
            "isSame": true,
            "result": "7.",
            "sent": ["user: My number is 7.", "assistant: Noted.", "user: Which number?"],
            "listed": [true],
        }),
        "{seen}"
    );
    let two = &seen["twoTabs"];
    let told = two["whileOpen"].as_str().unwrap();
    assert!(told.contains("written by somebody else"), "{seen}");
    assert_eq!(two["afterwards"], "Mine.", "{seen}");
    let full = seen["full"].to_string();
    assert!(full.contains("storage") && full.contains("full"), "{seen}");
}
