//! Reads transcripts in the way the SDKs' session functions do.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{id, lines_of, now, raw, session, talk, text, writer};
use crate::{block_uuid, store::MemoryStore};

const WINDOW: usize = 64 * 1024;

/// The first or last value of a field in a text: listings are read without parsing the lines.
fn field(text: &str, key: &str, last: bool) -> Option<String> {
    let mark = format!("\"{key}\":\"");
    let found = if last {
        text.rfind(&mark)
    } else {
        text.find(&mark)
    };
    let rest = &text[found? + mark.len()..];
    Some(rest[..rest.find('"')?].to_owned())
}

/// The fields of a listing.
#[derive(Debug, PartialEq, Eq)]
struct Listed {
    summary: String,
    title: Option<String>,
    first_prompt: String,
    branch: Option<String>,
    cwd: Option<String>,
    created: Option<String>,
    tag: Option<String>,
}

fn listed(text: &str) -> Option<Listed> {
    let head = &text[..text.len().min(WINDOW)];
    let tail = &text[text.len().saturating_sub(WINDOW)..];
    if head.lines().next()?.contains("\"isSidechain\":true") {
        return None;
    }
    let first = head.lines().find(|line| {
        line.contains("\"type\":\"user\"")
            && !line.contains("\"tool_result\"")
            && !line.contains("\"isMeta\":true")
    })?;
    let first: Value = serde_json::from_str(first).ok()?;
    let first_prompt = first["message"]["content"].as_str()?.to_owned();
    let title = field(tail, "customTitle", true);
    let summary = title.clone().or(field(tail, "lastPrompt", true));
    let tag = tail
        .lines()
        .rev()
        .find(|line| line.starts_with("{\"type\":\"tag\""));
    Some(Listed {
        summary: summary.unwrap_or_else(|| first_prompt.clone()),
        title,
        first_prompt,
        branch: field(tail, "gitBranch", true),
        cwd: field(head, "cwd", false),
        created: field(head, "timestamp", false),
        tag: tag.and_then(|line| field(line, "tag", false)),
    })
}

#[test]
fn sess_2_a_listing_finds_prompt_branch_time_and_directory() {
    let store = MemoryStore::default();
    let mut writer = writer(&store);
    now(writer.persist(&talk().entries)).unwrap();
    now(writer.note_turn_end(None)).unwrap();
    let mut expected = Listed {
        summary: "second prompt".into(),
        title: None,
        first_prompt: "first prompt".into(),
        branch: Some("main".into()),
        cwd: Some("/workspace".into()),
        created: Some("2026-11-21T21:05:00.001Z".into()),
        tag: None,
    };
    assert_eq!(listed(&text(&store, session(), None)).unwrap(), expected);
    let title = json!({"customTitle": "A title", "type": "custom-title", "sessionId": session()});
    now(writer.append_line(raw(&title))).unwrap();
    expected.title = Some("A title".into());
    expected.summary = "A title".into();
    assert_eq!(listed(&text(&store, session(), None)).unwrap(), expected);
}

/// Follows `parentUuid` from the last leaf, and adds the other blocks of its responses and their results.
#[test]
fn sess_1_the_messages_are_found_along_the_chain() {
    let store = MemoryStore::default();
    let mut writer = writer(&store);
    now(writer.persist(&talk().entries)).unwrap();
    let lines = lines_of(&store, session(), None);
    let by_id: BTreeMap<&str, &Value> = lines
        .iter()
        .map(|line| (line["uuid"].as_str().unwrap(), line))
        .collect();
    let mut chain = Vec::new();
    let mut next = lines.last().map(|line| &line["uuid"]);
    while let Some(line) = next
        .and_then(Value::as_str)
        .and_then(|uuid| by_id.get(uuid))
    {
        chain.push(line["uuid"].clone());
        next = Some(&line["parentUuid"]);
    }
    chain.reverse();
    let expected = [
        id(1),
        block_uuid(id(2), 0),
        block_uuid(id(2), 1),
        block_uuid(id(2), 2),
        id(4),
        id(5),
        id(6),
        id(7),
    ];
    assert_eq!(chain, expected.map(|uuid| json!(uuid)));
    // Only the result of the first call is not in the chain; its parent is a line of the chain.
    let beside: Vec<&Value> = lines
        .iter()
        .filter(|line| !chain.contains(&line["uuid"]))
        .collect();
    assert_eq!(beside.len(), 1);
    assert!(chain.contains(&beside[0]["parentUuid"]));
}
