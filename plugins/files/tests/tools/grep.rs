//! Grep.

use serde_json::{Value, json};
use windlass_plugin::testing::MemoryTree;

use crate::refusing::Refusing;
use crate::{Session, call};

fn session() -> Session {
    Session::new(
        MemoryTree::new()
            .with_file("a.rs", "use std;\nfn main() {\n    work();\n}\n")
            .with_file("src/b.rs", "fn work() {}\n\nfn Other() {}\n")
            .with_file("src/c.py", "def work():\n    pass\n")
            .with_file("src/data.bin", b"work\0work\n"),
    )
}

fn text(session: &mut Session, input: Value) -> String {
    session.ok("Grep", input).0
}

#[test]
fn tool_5_grep_lists_files_with_matches_newest_first() {
    let mut session = session();
    let (text, output) = session.ok("Grep", json!({"pattern": "work"}));
    assert_eq!(text, "Found 3 files\nsrc/c.py\nsrc/b.rs\na.rs");
    assert_eq!(
        output,
        json!({"mode": "files_with_matches", "numFiles": 3, "filenames": ["src/c.py", "src/b.rs", "a.rs"]})
    );
    let (text, output) = session.ok("Grep", json!({"pattern": "nowhere"}));
    assert_eq!(text, "No files found.");
    assert_eq!(output["numFiles"], 0);
}

#[test]
fn tool_5_grep_shows_content_with_line_numbers() {
    let mut session = session();
    let (text, output) = session.ok(
        "Grep",
        json!({"pattern": "fn \\w+", "output_mode": "content"}),
    );
    let expected = "a.rs:2:fn main() {\nsrc/b.rs:1:fn work() {}\nsrc/b.rs:3:fn Other() {}";
    assert_eq!(text, expected);
    assert_eq!(
        output,
        json!({
            "mode": "content", "numFiles": 2, "filenames": ["a.rs", "src/b.rs"],
            "content": expected, "numLines": 3,
        })
    );
    let input = json!({"pattern": "fn main", "output_mode": "content", "-n": false});
    assert_eq!(self::text(&mut session, input), "a.rs:fn main() {");
    let input = json!({"pattern": "nowhere", "output_mode": "content"});
    assert_eq!(self::text(&mut session, input), "No matches found.");
}

#[test]
fn tool_5_grep_counts() {
    let mut session = session();
    let (text, output) = session.ok("Grep", json!({"pattern": "fn", "output_mode": "count"}));
    assert_eq!(text, "a.rs:1\nsrc/b.rs:2\n\nFound 3 matches in 2 files.");
    assert_eq!(
        output,
        json!({
            "mode": "count", "numFiles": 2, "filenames": ["a.rs", "src/b.rs"],
            "content": "a.rs:1\nsrc/b.rs:2", "numMatches": 3,
        })
    );
}

#[test]
fn tool_5_grep_shows_context() {
    let lines: String = (1..=20).map(|n| format!("l{n}\n")).collect();
    let mut session = Session::new(MemoryTree::new().with_file("a", lines));
    let content = |mut input: Value| {
        input["output_mode"] = json!("content");
        text(&mut session, input)
    };
    let mut content = content;
    assert_eq!(
        content(json!({"pattern": "5$", "-A": 1})),
        "a:5:l5\na-6-l6\n--\na:15:l15\na-16-l16"
    );
    assert_eq!(
        content(json!({"pattern": "^l5", "-B": 2})),
        "a-3-l3\na-4-l4\na:5:l5"
    );
    assert_eq!(
        content(json!({"pattern": "^l5", "-C": 1})),
        "a-4-l4\na:5:l5\na-6-l6"
    );
    assert_eq!(
        content(json!({"pattern": "^l5", "context": 1})),
        "a-4-l4\na:5:l5\na-6-l6"
    );
    assert_eq!(
        content(json!({"pattern": "^l5", "context": 1, "-A": 0})),
        "a-4-l4\na:5:l5"
    );
    assert_eq!(
        content(json!({"pattern": "^l5", "-A": 1, "-n": false})),
        "a:l5\na-l6"
    );
}

#[test]
fn tool_5_grep_separates_the_contexts_of_files() {
    let mut session = Session::new(
        MemoryTree::new()
            .with_file("a", "x\ny\n")
            .with_file("b", "x\ny\n"),
    );
    let input = json!({"pattern": "x", "output_mode": "content", "-A": 1});
    assert_eq!(text(&mut session, input), "a:1:x\na-2-y\n--\nb:1:x\nb-2-y");
}

#[test]
fn tool_5_grep_ignores_case_when_asked() {
    let mut session = session();
    assert_eq!(
        text(&mut session, json!({"pattern": "other"})),
        "No files found."
    );
    let input = json!({"pattern": "other", "-i": true});
    assert_eq!(text(&mut session, input), "Found 1 file\nsrc/b.rs");
}

#[test]
fn tool_5_grep_narrows_by_glob_and_type() {
    let mut session = session();
    for (field, value, expected) in [
        ("glob", "*.py", "Found 1 file\nsrc/c.py"),
        (
            "glob",
            "*.{rs,py}",
            "Found 3 files\nsrc/c.py\nsrc/b.rs\na.rs",
        ),
        ("glob", "*.py, a.*", "Found 2 files\nsrc/c.py\na.rs"),
        ("glob", "!*.rs", "Found 1 file\nsrc/c.py"),
        ("glob", "src/**", "Found 2 files\nsrc/c.py\nsrc/b.rs"),
        ("type", "py", "Found 1 file\nsrc/c.py"),
        ("type", "rust", "Found 2 files\nsrc/b.rs\na.rs"),
    ] {
        let mut input = json!({"pattern": "work"});
        input[field] = json!(value);
        assert_eq!(text(&mut session, input), expected, "{field} {value}");
    }
    let error = session.err("Grep", json!({"pattern": "x", "type": "klingon"}));
    assert!(error.contains("no file type `klingon`"), "{error}");
    let error = session.err("Grep", json!({"pattern": "x", "glob": "[a"}));
    assert!(error.contains("malformed"), "{error}");
    let huge = json!({"pattern": "((a{1,1000}){1,1000}){1,1000}"});
    let error = session.err("Grep", huge);
    assert!(error.contains("size limit"), "{error}");
}

#[test]
fn tool_5_grep_limits_and_skips() {
    let tree = MemoryTree::new();
    for n in 0..10 {
        tree.put(&format!("{n}.txt"), "x\nx\n");
    }
    let mut session = Session::new(tree);
    let (text, output) = session.ok(
        "Grep",
        json!({"pattern": "x", "output_mode": "content", "head_limit": 3, "offset": 1}),
    );
    assert!(
        text.starts_with("0.txt:2:x\n1.txt:1:x\n1.txt:2:x\n["),
        "{text}"
    );
    assert!(text.contains("set offset 4"), "{text}");
    assert_eq!(output["numLines"], 3);
    assert_eq!(output["appliedLimit"], 3);
    assert_eq!(output["appliedOffset"], 1);

    let (_, output) = session.ok(
        "Grep",
        json!({"pattern": "x", "head_limit": 2, "offset": 1}),
    );
    assert_eq!(output["filenames"], json!(["8.txt", "7.txt"]));
    assert_eq!(output["appliedLimit"], 2);

    let input = json!({"pattern": "x", "output_mode": "count", "head_limit": 1, "offset": 9});
    let (text, output) = session.ok("Grep", input);
    assert_eq!(text, "9.txt:2\n\nFound 2 matches in 1 file.");
    assert_eq!(output.get("appliedLimit"), None);

    let (text, _) = session.ok(
        "Grep",
        json!({"pattern": "x", "output_mode": "content", "head_limit": 0}),
    );
    assert_eq!(text.lines().count(), 20);
}

#[test]
fn tool_5_grep_limits_by_itself() {
    let tree = MemoryTree::new();
    tree.put("a.txt", "x\n".repeat(300));
    tree.put("b.txt", format!("{}\n", "x".repeat(450)).repeat(300));
    let mut session = Session::new(tree);
    let (_, output) = session.ok("Grep", json!({"pattern": "x", "output_mode": "content"}));
    assert_eq!(output["numLines"], 250);
    assert_eq!(output["appliedLimit"], 250);
    let (text, output) = session.ok(
        "Grep",
        json!({"pattern": "x", "path": "b.txt", "output_mode": "content", "head_limit": 0}),
    );
    assert!(text.len() < 50_000, "{}", text.len());
    let shown = output["numLines"].as_u64().unwrap();
    assert!(text.contains(&format!("set offset {shown}")), "{text}");
}

#[test]
fn tool_5_grep_matches_across_lines_when_asked() {
    let mut session = session();
    let input = json!({"pattern": "main.*?work", "multiline": true, "output_mode": "content"});
    assert_eq!(
        text(&mut session, input),
        "a.rs:2:fn main() {\na.rs:3:    work();"
    );
    let error = session.err("Grep", json!({"pattern": "a\\nb"}));
    assert!(error.contains("set multiline"), "{error}");
}

#[test]
fn tool_5_grep_searches_one_file_by_name() {
    let mut session = session();
    let input = json!({"pattern": "work", "path": "/work/src/b.rs", "output_mode": "content"});
    assert_eq!(text(&mut session, input), "src/b.rs:1:fn work() {}");
    let error = session.err("Grep", json!({"pattern": "work", "path": "none"}));
    assert!(error.contains("/work/none does not exist"), "{error}");
}

#[test]
fn tool_5_grep_explains_an_invalid_expression() {
    let error = session().err("Grep", json!({"pattern": "fn main("}));
    assert_eq!(
        error,
        "The pattern `fn main(` is not a valid regular expression: unclosed group."
    );
    let error = session().err("Grep", json!({"pattern": "main() {"}));
    assert!(error.contains("written \\{"), "{error}");
}

#[test]
fn tool_5_grep_skips_binary_files_wherever_the_zero_is() {
    let mut late = b"work\n".repeat(60_000);
    late.extend_from_slice(b"\0\n");
    let mut session = session();
    session.tree().put("late.bin", late);
    let (_, output) = session.ok("Grep", json!({"pattern": "work", "output_mode": "count"}));
    assert_eq!(output["filenames"], json!(["a.rs", "src/b.rs", "src/c.py"]));
}

#[test]
fn tool_5_grep_respects_gitignore_and_skips_version_control() {
    let mut session = session();
    session.tree().put(".gitignore", "src/\n");
    session.tree().put(".git/HEAD", "work");
    assert_eq!(
        text(&mut session, json!({"pattern": "work"})),
        "Found 1 file\na.rs"
    );
    // A directory that is named is searched.
    let input = json!({"pattern": "work", "path": "src", "glob": "*.py"});
    assert_eq!(text(&mut session, input), "Found 1 file\nsrc/c.py");
}

#[test]
fn tool_5_grep_searches_large_files_piece_by_piece() {
    let mut large = "filler\n".repeat(100_000);
    large.push_str("needle\n");
    let mut session = Session::new(MemoryTree::new().with_file("a.log", large));
    let input = json!({"pattern": "needle", "output_mode": "content"});
    assert_eq!(text(&mut session, input), "a.log:100001:needle");
}

#[test]
fn tool_5_grep_cuts_long_lines() {
    let line = format!("needle{}", "x".repeat(10_000));
    let mut session = Session::new(MemoryTree::new().with_file("a.min.js", line));
    let text = text(
        &mut session,
        json!({"pattern": "needle", "output_mode": "content"}),
    );
    assert!(text.len() < 600, "{}", text.len());
    assert!(text.ends_with("[the line goes on]"), "{text}");
}

#[test]
fn tool_4_tool_5_glob_and_grep_say_what_they_could_not_search() {
    let tree = MemoryTree::new()
        .with_file("a.txt", "work")
        .with_file("closed/b.txt", "work");
    let workspace = Refusing::new(tree).into_workspace();
    for (tool, pattern) in [("Glob", "*.txt"), ("Grep", "work")] {
        let result =
            windlass_files::call(&call(tool, &json!({"pattern": pattern})), &workspace).unwrap();
        let text = crate::text(&result);
        assert!(
            text.contains("a.txt\n[1 directory could not be listed"),
            "{text}"
        );
    }
}
