//! Read.

use serde_json::json;
use windlass_plugin::Content;
use windlass_plugin::testing::MemoryTree;

use crate::{Session, sha256};

/// A PNG of one pixel.
const PNG: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89";

#[test]
fn tool_1_read_numbers_lines() {
    let mut session = Session::new(MemoryTree::new().with_file("a.txt", "one\ntwo\n"));
    let (text, output) = session.ok("Read", json!({"file_path": "/work/a.txt"}));
    assert_eq!(text, "1\tone\n2\ttwo\n3\t");
    assert_eq!(
        output,
        json!({"type": "text", "file": {
            "filePath": "/work/a.txt", "content": "one\ntwo\n", "numLines": 3, "startLine": 1, "totalLines": 3,
        }})
    );
}

#[test]
fn tool_1_read_observes_the_whole_file_with_its_digest() {
    let mut session = Session::new(MemoryTree::new().with_file("a.txt", "one\ntwo"));
    session.ok("Read", json!({"file_path": "a.txt"}));
    session.ok("Read", json!({"file_path": "a.txt", "limit": 1}));
    let [whole, part] = &session.observed[..] else {
        panic!("two observations");
    };
    assert_eq!(whole.path, "/work/a.txt");
    assert_eq!(whole.digest, sha256(b"one\ntwo"));
    assert!(whole.whole);
    assert_eq!(part.digest, whole.digest);
    assert!(!part.whole);
}

#[test]
fn tool_1_read_shows_a_window_and_says_how_to_go_on() {
    let lines: String = (1..=10).map(|n| format!("line {n}\n")).collect();
    let mut session = Session::new(MemoryTree::new().with_file("a.txt", lines));
    let (text, output) = session.ok(
        "Read",
        json!({"file_path": "a.txt", "offset": 3, "limit": 2}),
    );
    assert!(text.starts_with("3\tline 3\n4\tline 4\n\n["), "{text}");
    assert!(text.contains("Lines 3 to 4 of 11"), "{text}");
    assert!(text.contains("offset 5"), "{text}");
    let file = &output["file"];
    assert_eq!(file["content"], "line 3\nline 4");
    assert_eq!(
        (&file["startLine"], &file["numLines"]),
        (&json!(3), &json!(2))
    );
    assert_eq!(file["totalLines"], 11);
}

#[test]
fn tool_1_read_shows_2000_lines_unless_told_otherwise() {
    let lines: String = (1..=3000).map(|n| format!("{n}\n")).collect();
    let mut session = Session::new(MemoryTree::new().with_file("a.txt", lines));
    let (text, output) = session.ok("Read", json!({"file_path": "a.txt"}));
    assert_eq!(output["file"]["numLines"], 2000);
    assert!(text.contains("\n2000\t2000\n"), "{text}");
    assert!(text.ends_with("offset 2001.]"), "{text}");
    let exactly: String = (1..=2000).map(|n| format!("{n}\n")).collect();
    session.tree().put("a.txt", exactly);
    let (text, _) = session.ok("Read", json!({"file_path": "a.txt"}));
    assert!(
        text.ends_with("2000\t2000"),
        "nothing is left to read: {text}"
    );
    assert!(session.observed.last().unwrap().whole);
}

#[test]
fn tool_1_read_cuts_long_lines_and_long_texts() {
    let mut session = Session::new(MemoryTree::new().with_file("a.txt", "ä".repeat(2100)));
    let (text, output) = session.ok("Read", json!({"file_path": "a.txt"}));
    assert!(
        text.starts_with(&format!("1\t{} [", "ä".repeat(2000))),
        "{text}"
    );
    assert!(text.contains("100 more characters"), "{text}");
    assert_eq!(output["file"]["content"], "ä".repeat(2100));
    assert!(!session.observed[0].whole);

    let wide = format!("{}\n", "x".repeat(1000)).repeat(500);
    session.tree().put("b.txt", wide);
    let (text, _) = session.ok("Read", json!({"file_path": "b.txt"}));
    assert!(text.len() < 110_000, "{}", text.len());
    assert!(text.contains("To go on, read with offset"), "{text}");
}

#[test]
fn tool_1_read_goes_through_files_larger_than_one_piece() {
    let lines: String = (1..=100_000).map(|n| format!("line {n}\n")).collect();
    assert!(lines.len() > 4 * 256 * 1024);
    let digest = sha256(lines.as_bytes());
    let mut session = Session::new(MemoryTree::new().with_file("a.log", lines));
    let input = json!({"file_path": "a.log", "offset": 99_999, "limit": 10});
    let (text, output) = session.ok("Read", input);
    assert_eq!(text, "99999\tline 99999\n100000\tline 100000\n100001\t");
    assert_eq!(output["file"]["totalLines"], 100_001);
    assert_eq!(session.observed[0].digest, digest);
}

#[test]
fn tool_1_read_says_that_a_file_is_empty_or_shorter() {
    let mut session = Session::new(
        MemoryTree::new()
            .with_file("empty", "")
            .with_file("a.txt", "one"),
    );
    let (text, output) = session.ok("Read", json!({"file_path": "empty"}));
    assert!(text.contains("empty"), "{text}");
    assert_eq!(output["file"]["totalLines"], 0);
    let (text, _) = session.ok("Read", json!({"file_path": "a.txt", "offset": 9}));
    assert!(text.contains("only 1 lines"), "{text}");
    assert!(!session.observed[1].whole);
}

#[test]
fn tool_1_read_hides_carriage_returns_and_byte_order_marks() {
    let mut session = Session::new(MemoryTree::new().with_file("a.txt", "\u{feff}one\r\ntwo\r\n"));
    let (text, output) = session.ok("Read", json!({"file_path": "a.txt"}));
    assert_eq!(text, "1\tone\n2\ttwo\n3\t");
    assert_eq!(output["file"]["content"], "one\ntwo\n");
}

#[test]
fn tool_1_read_refuses_what_it_cannot_show() {
    let mut session = Session::new(
        MemoryTree::new()
            .with_file("a.bin", b"\x7fELF\0\0")
            .with_file("a.pdf", "%PDF-1.7")
            .with_file("dir/a.txt", "text"),
    );
    for (input, expected) in [
        (json!({"file_path": "a.bin"}), "binary"),
        (
            json!({"file_path": "a.pdf", "pages": "1-2"}),
            "begins like a PDF, but is none",
        ),
        (json!({"file_path": "dir"}), "is a directory"),
        (json!({"file_path": "dir/a.txt", "pages": "1"}), "pages"),
        (
            json!({"file_path": "/etc/passwd"}),
            "outside the directories",
        ),
        (
            json!({"file_path": "../etc/passwd"}),
            "outside the directories",
        ),
        (json!({"file_path": ""}), "empty"),
        (json!({"path": "a.txt"}), "file_path"),
    ] {
        let error = session.err("Read", input);
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!(session.observed.len(), 0);
}

#[test]
fn tool_1_read_suggests_near_names() {
    let mut session = Session::new(
        MemoryTree::new()
            .with_file("src/main.rs", "")
            .with_file("src/Config.toml", "")
            .with_file("src/other.txt", ""),
    );
    for (asked, meant) in [
        ("src/mian.rs", "/work/src/main.rs"),
        ("src/main.py", "/work/src/main.rs"),
        ("src/config.toml", "/work/src/Config.toml"),
    ] {
        let error = session.err("Read", json!({"file_path": asked}));
        assert!(error.contains(&format!("Did you mean {meant}?")), "{error}");
    }
    let error = session.err("Read", json!({"file_path": "src/unlike"}));
    assert!(
        error.ends_with("/work/src/unlike does not exist."),
        "{error}"
    );
    let error = session.err("Read", json!({"file_path": "none/a.txt"}));
    assert!(error.contains("directory /work/none"), "{error}");
}

#[test]
fn tool_21_read_shows_images() {
    let mut session = Session::new(MemoryTree::new().with_file("a.png", PNG));
    let result = session.run("Read", &json!({"file_path": "a.png"}));
    let [Content::Image(image)] = &result.content[..] else {
        panic!("one image");
    };
    assert_eq!(image.media_type, "image/png");
    assert_eq!(image.data, PNG);
    let (_, output) = session.ok("Read", json!({"file_path": "a.png"}));
    assert_eq!(output["type"], "image");
    let file = &output["file"];
    assert!(file["base64"].as_str().unwrap().starts_with("iVBORw0KGgo"));
    assert_eq!(file["type"], "image/png");
    assert_eq!(file["originalSize"], PNG.len());
    assert_eq!(file["dimensions"]["originalWidth"], 2);
    assert_eq!(file["dimensions"]["displayHeight"], 1);
}

#[test]
fn tool_21_read_refuses_images_that_no_model_takes() {
    let mut large = PNG.to_vec();
    large.resize(4_000_000, 0);
    let mut session = Session::new(MemoryTree::new().with_file("a.png", large));
    let error = session.err("Read", json!({"file_path": "a.png"}));
    assert!(error.contains("more than a model takes"), "{error}");
}

#[test]
fn tool_21_read_shows_notebooks_as_cells() {
    let notebook = json!({
        "nbformat": 4, "nbformat_minor": 5, "metadata": {},
        "cells": [
            {"cell_type": "markdown", "id": "intro", "metadata": {}, "source": ["# Title\n", "text"]},
            {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": "print(1)", "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["1\n"]},
                {"output_type": "display_data", "metadata": {}, "data": {"image/png": "aGVsbG8="}},
                {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": []},
            ]},
        ],
    });
    let mut session = Session::new(MemoryTree::new().with_file("a.ipynb", notebook.to_string()));
    let (text, output) = session.ok("Read", json!({"file_path": "a.ipynb"}));
    assert!(
        text.contains("<cell id=\"intro\" type=\"markdown\">\n# Title\ntext\n</cell>"),
        "{text}"
    );
    assert!(text.contains("1\nValueError: no"), "{text}");
    assert_eq!(output["type"], "notebook");
    assert_eq!(output["file"]["cells"][0]["source"], "# Title\ntext");
    assert_eq!(output["file"]["cells"][1]["execution_count"], 1);
    let result = session.run("Read", &json!({"file_path": "a.ipynb"}));
    assert!(matches!(&result.content[1], Content::Image(image) if image.data == b"hello"));

    session.tree().put("b.ipynb", "{}");
    let error = session.err("Read", json!({"file_path": "b.ipynb"}));
    assert!(error.contains("offset 1"), "{error}");
    session.ok("Read", json!({"file_path": "b.ipynb", "offset": 1}));
}
