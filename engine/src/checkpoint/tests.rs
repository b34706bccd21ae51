use windlass_core::{Uuid, uuid_v4};

use super::*;
use crate::path::TextPath;

fn message(n: u128) -> Uuid {
    uuid_v4(n.to_be_bytes())
}

fn file(path: &str, before: Before) -> Record {
    Record::File {
        path: path.into(),
        before,
    }
}

fn content(digest: &str) -> Before {
    Before::Content {
        digest: digest.to_owned(),
        mode: Some(0o644),
    }
}

fn told() -> Vec<Record> {
    vec![
        Record::Message {
            message: message(1),
        },
        file("/w/old", content("aa")),
        Record::Message {
            message: message(2),
        },
        file("/w/old", content("bb")),
        file("/x/new", Before::Absent),
        file("/w/device", Before::NotKept),
    ]
}

#[test]
fn sess_3_an_index_is_read_as_it_was_written_and_a_torn_line_counts_for_nothing() {
    let mut text = Vec::new();
    for record in told() {
        text.extend(record.line().unwrap());
    }
    assert_eq!(
        text.split(|byte| *byte == b'\n').nth(1).unwrap(),
        br#"{"type":"file","path":"/w/old","before":{"was":"content","digest":"aa","mode":420}}"#
    );
    text.extend(&file("/w/torn", Before::Absent).line().unwrap()[..30]);
    let index = Index::parse(&text);
    assert_eq!(index.last_message(), Some(message(2)));
    assert!(index.has(&"/w/old".into()) && !index.has(&"/w/torn".into()));
    let at = |n| index.at(message(n));
    let old = (&TextPath::from("/w/old"), &content("aa"));
    assert_eq!(at(1).unwrap()[0], old, "the first of them is what it was");
    assert_eq!((at(1).unwrap().len(), at(2).unwrap().len()), (3, 3));
    assert_eq!(at(3), None);
    assert!(Index::parse(b"").is_empty());
}

#[test]
fn sess_3_a_line_of_the_transcript_names_what_was_kept() {
    let index = told()
        .into_iter()
        .fold(Index::default(), |mut index, record| {
            index.take(record);
            index
        });
    let times = index.files();
    let files = index.at(message(2)).unwrap();
    let files = files
        .iter()
        .map(|(path, before)| (*path, times[*path], *before));
    let line = snapshot_line(message(2), files, &"/w".into(), "then", true).unwrap();
    let line: serde_json::Value = line.decode().unwrap();
    let backups = serde_json::json!({
        "old": {"backupFileName": "bb", "version": 2, "backupTime": "then"},
        "/x/new": {"backupFileName": null, "version": 1, "backupTime": "then"},
    });
    assert_eq!(line["snapshot"]["trackedFileBackups"], backups);
    assert_eq!(line["isSnapshotUpdate"], true);
}

#[test]
fn api_5_lines_that_differ_are_counted() {
    assert_eq!(changed_lines(b"a\nb\nc\n", b"a\nx\nc\nd\n"), (2, 1));
    assert_eq!(changed_lines(b"", b"a\nb"), (2, 0));
    let many = "x\n".repeat(5_000);
    assert_eq!(changed_lines(many.as_bytes(), b"y\n"), (1, 5_000));
}
