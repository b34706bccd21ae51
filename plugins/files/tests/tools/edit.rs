//! Edit.

use serde_json::json;
use windlass_plugin::testing::MemoryTree;

use crate::Session;

/// A session that has read `a.txt` with this content.
fn session(content: &str) -> Session {
    let mut session = Session::new(MemoryTree::new().with_file("a.txt", content));
    session.ok("Read", json!({"file_path": "a.txt"}));
    session
}

fn edit(old: &str, new: &str) -> serde_json::Value {
    json!({"file_path": "/work/a.txt", "old_string": old, "new_string": new})
}

#[test]
fn tool_3_edit_replaces_a_unique_match() {
    let mut session = session("fn a() {}\nfn b() {}\nfn c() {}\n");
    let (text, output) = session.ok("Edit", edit("fn b() {}", "fn b() {\n    1\n}"));
    assert_eq!(
        session.content("a.txt"),
        "fn a() {}\nfn b() {\n    1\n}\nfn c() {}\n"
    );
    assert!(text.contains("2\tfn b() {\n3\t    1\n4\t}"), "{text}");
    assert_eq!(
        output,
        json!({
            "filePath": "/work/a.txt",
            "oldString": "fn b() {}",
            "newString": "fn b() {\n    1\n}",
            "originalFile": "fn a() {}\nfn b() {}\nfn c() {}\n",
            "structuredPatch": [{
                "oldStart": 1, "oldLines": 3, "newStart": 1, "newLines": 5,
                "lines": [" fn a() {}", "-fn b() {}", "+fn b() {", "+    1", "+}", " fn c() {}"],
            }],
            "userModified": false,
            "replaceAll": false,
        })
    );
}

#[test]
fn tool_3_edit_refuses_an_ambiguous_match() {
    let mut session = session("x = 1\nx = 1\n");
    let error = session.err("Edit", edit("x = 1", "x = 2"));
    assert!(error.contains("occurs 2 times"), "{error}");
    assert!(error.contains("replace_all"), "{error}");
    assert_eq!(session.content("a.txt"), "x = 1\nx = 1\n");
}

#[test]
fn tool_3_edit_replaces_all_matches_when_asked() {
    let mut session = session("x = 1\ny\nx = 1\n");
    let mut input = edit("x", "count");
    input["replace_all"] = json!(true);
    let (text, output) = session.ok("Edit", input);
    assert_eq!(session.content("a.txt"), "count = 1\ny\ncount = 1\n");
    assert!(text.contains("2 places"), "{text}");
    assert_eq!(output["replaceAll"], true);
}

#[test]
fn tool_3_edit_refuses_a_missing_or_useless_text() {
    let mut session = session("fn  a()\n{\n}\n");
    for (old, new, expected) in [
        ("fn z()", "", "was not found"),
        ("fn a() {", "", "other spaces or line breaks"),
        ("fn  a()", "fn  a()", "the same"),
        ("", "x", "old_string is empty"),
    ] {
        let error = session.err("Edit", edit(old, new));
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!(session.content("a.txt"), "fn  a()\n{\n}\n");
}

#[test]
fn tool_3_edit_refuses_a_file_that_was_not_read() {
    let mut session = Session::new(MemoryTree::new().with_file("a.txt", "one"));
    let error = session.err("Edit", edit("one", "two"));
    assert!(error.contains("has not been read"), "{error}");
    assert_eq!(session.content("a.txt"), "one");
}

#[test]
fn tool_3_edit_refuses_a_file_that_changed_since() {
    let mut session = session("one");
    session.tree().put("a.txt", "one and more");
    let error = session.err("Edit", edit("one", "two"));
    assert!(error.contains("changed since it was last read"), "{error}");
    session.ok("Read", json!({"file_path": "a.txt"}));
    session.ok("Edit", edit("one", "two"));
    assert_eq!(session.content("a.txt"), "two and more");
}

#[test]
fn tool_3_edit_follows_edit_without_another_read() {
    let mut session = session("one two three");
    session.ok("Edit", edit("one", "1"));
    session.ok("Edit", edit("two", "2"));
    assert_eq!(session.content("a.txt"), "1 2 three");
}

#[test]
fn tool_3_edit_keeps_carriage_returns() {
    let mut session = session("one\r\ntwo\r\nthree\r\n");
    session.ok("Edit", edit("one\ntwo", "1\n2\n2.5"));
    assert_eq!(session.content("a.txt"), "1\r\n2\r\n2.5\r\nthree\r\n");
}

#[test]
fn tool_3_edit_leaves_other_bytes_as_they_are() {
    let mut session =
        Session::new(MemoryTree::new().with_file("a.txt", b"\xef\xbb\xbfname: \xe9\nb\n"));
    session.ok("Read", json!({"file_path": "a.txt"}));
    session.ok("Edit", edit("b\n", "c\n"));
    let content = session.tree().content("a.txt").unwrap();
    assert_eq!(content, b"\xef\xbb\xbfname: \xe9\nc\n");
}

#[test]
fn tool_3_edit_works_on_a_file_of_which_a_part_was_read() {
    let lines: String = (1..=3000).map(|n| format!("line {n}\n")).collect();
    let mut session = Session::new(MemoryTree::new().with_file("a.txt", lines));
    session.ok(
        "Read",
        json!({"file_path": "a.txt", "offset": 2500, "limit": 10}),
    );
    let (text, _) = session.ok("Edit", edit("line 2501\n", "changed\n"));
    assert!(text.contains("2501\tchanged"), "{text}");
    assert!(!text.contains("line 2490"), "{text}");
}

#[test]
fn tool_3_edit_fills_an_empty_or_missing_file() {
    let mut session = Session::new(MemoryTree::new().with_file("empty", ""));
    session.ok("Read", json!({"file_path": "empty"}));
    let input = json!({"file_path": "empty", "old_string": "", "new_string": "text"});
    session.ok("Edit", input);
    assert_eq!(session.content("empty"), "text");
    session.ok("Edit", edit("", "new\n"));
    assert_eq!(session.content("a.txt"), "new\n");
    let input = json!({"file_path": "none", "old_string": "x", "new_string": "text"});
    assert!(session.err("Edit", input).contains("does not exist"));
}

#[test]
fn tool_22_edit_reports_changes_that_lie_apart_as_hunks() {
    let lines: String = (1..=50)
        .map(|n| format!("{n}{}\n", if n % 40 == 5 { " x" } else { "" }))
        .collect();
    let mut session = session(&lines);
    let mut input = edit(" x", "");
    input["replace_all"] = json!(true);
    let (_, output) = session.ok("Edit", input);
    let hunks = output["structuredPatch"].as_array().unwrap();
    assert_eq!(hunks.len(), 2);
    assert_eq!(hunks[1]["oldStart"], 42);
    assert_eq!(hunks[1]["lines"][3], "-45 x");
}

#[test]
fn tool_3_edit_keeps_its_answer_short() {
    let mut session = session(&format!(
        "{}needle{}",
        "x".repeat(50_000),
        "y".repeat(50_000)
    ));
    let (text, _) = session.ok("Edit", edit("needle", "pin"));
    assert!(text.len() < 3000, "{}", text.len());
    let content = session.content("a.txt");
    let (text, _) = session.ok("Edit", edit(&content, ""));
    assert!(text.contains("empty now"), "{text}");
}
