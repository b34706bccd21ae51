//! Write.

use serde_json::json;
use windlass_plugin::testing::MemoryTree;

use crate::refusing::Refusing;
use crate::{Session, call, sha256};

#[test]
fn tool_2_write_creates_a_file_and_its_directories() {
    let mut session = Session::new(MemoryTree::new());
    let input = json!({"file_path": "/work/a/b/new.txt", "content": "one\n"});
    let (text, output) = session.ok("Write", input);
    assert!(text.contains("Created /work/a/b/new.txt"), "{text}");
    assert_eq!(session.content("a/b/new.txt"), "one\n");
    assert_eq!(
        output,
        json!({
            "type": "create", "filePath": "/work/a/b/new.txt", "content": "one\n",
            "structuredPatch": [], "originalFile": null,
        })
    );
}

#[test]
fn tool_22_write_overwrites_what_was_read() {
    let mut session = Session::new(MemoryTree::new().with_file("a.txt", "one\ntwo\n"));
    session.ok("Read", json!({"file_path": "a.txt"}));
    let (_, output) = session.ok(
        "Write",
        json!({"file_path": "a.txt", "content": "one\n2\n"}),
    );
    assert_eq!(session.content("a.txt"), "one\n2\n");
    assert_eq!(output["type"], "update");
    assert_eq!(output["originalFile"], "one\ntwo\n");
    assert_eq!(
        output["structuredPatch"],
        json!([{"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": [" one", "-two", "+2"]}])
    );
}

#[test]
fn tool_2_write_refuses_to_overwrite_what_was_not_read() {
    let mut session = Session::new(MemoryTree::new().with_file("a.txt", "one"));
    let error = session.err("Write", json!({"file_path": "a.txt", "content": "two"}));
    assert!(error.contains("has not been read"), "{error}");
    assert_eq!(session.content("a.txt"), "one");
}

#[test]
fn tool_2_write_refuses_to_overwrite_what_changed_since() {
    let mut session = Session::new(MemoryTree::new().with_file("a.txt", "one"));
    session.ok("Read", json!({"file_path": "a.txt"}));
    session.tree().put("a.txt", "changed by somebody");
    let error = session.err("Write", json!({"file_path": "a.txt", "content": "two"}));
    assert!(error.contains("changed since it was last read"), "{error}");
    assert_eq!(session.content("a.txt"), "changed by somebody");
}

#[test]
fn tool_2_write_knows_what_it_wrote() {
    let mut session = Session::new(MemoryTree::new());
    session.ok("Write", json!({"file_path": "a.txt", "content": "one"}));
    assert_eq!(session.observed[0].digest, sha256(b"one"));
    assert!(session.observed[0].whole);
    session.ok("Write", json!({"file_path": "a.txt", "content": "two"}));
    assert_eq!(session.content("a.txt"), "two");
}

#[test]
fn tool_2_write_refuses_directories_and_paths_through_files() {
    let mut session = Session::new(MemoryTree::new().with_file("dir/a.txt", "one"));
    for (path, expected) in [
        ("dir", "is a directory"),
        ("dir/a.txt/b", "a part of the path is a file"),
        ("/etc/passwd", "outside the directories"),
    ] {
        let error = session.err("Write", json!({"file_path": path, "content": "x"}));
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn tool_2_write_says_that_a_tree_may_only_be_read() {
    let workspace = Refusing::new(MemoryTree::new()).into_workspace();
    let input = json!({"file_path": "a.txt", "content": "x"});
    let error = windlass_files::call(&call("Write", &input), &workspace).unwrap_err();
    assert!(error.to_string().contains("may only be read"), "{error}");
}
