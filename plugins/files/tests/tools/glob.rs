//! Glob.

use serde_json::json;
use windlass_plugin::testing::MemoryTree;

use crate::Session;

fn found(session: &mut Session, pattern: &str) -> Vec<String> {
    let (_, output) = session.ok("Glob", json!({"pattern": pattern}));
    serde_json::from_value(output["filenames"].clone()).unwrap()
}

#[test]
fn tool_4_glob_lists_the_newest_first() {
    let tree = MemoryTree::new()
        .with_file("old.rs", "")
        .with_file("src/newest.rs", "")
        .with_file("src/other.txt", "");
    tree.put("middle.rs", "");
    tree.put("src/newest.rs", "");
    let mut session = Session::new(tree);
    let (text, output) = session.ok("Glob", json!({"pattern": "**/*.rs"}));
    assert_eq!(text, "src/newest.rs\nmiddle.rs\nold.rs");
    assert_eq!(
        output,
        json!({
            "durationMs": 0, "numFiles": 3, "truncated": false,
            "filenames": ["src/newest.rs", "middle.rs", "old.rs"],
        })
    );
}

#[test]
fn tool_4_glob_knows_the_usual_patterns() {
    let mut session = Session::new(
        MemoryTree::new()
            .with_file("a.ts", "")
            .with_file("src/b.tsx", "")
            .with_file("src/deep/c.ts", "")
            .with_file("src/deep/d1.js", ""),
    );
    for (pattern, expected) in [
        ("*.ts", vec!["src/deep/c.ts", "a.ts"]),
        ("/*.ts", vec!["a.ts"]),
        ("src/*.tsx", vec!["src/b.tsx"]),
        ("**/*.{ts,tsx}", vec!["src/deep/c.ts", "src/b.tsx", "a.ts"]),
        (
            "src/**",
            vec!["src/deep/d1.js", "src/deep/c.ts", "src/b.tsx"],
        ),
        ("src/**/c.ts", vec!["src/deep/c.ts"]),
        ("**/deep/?[0-9].js", vec!["src/deep/d1.js"]),
        ("/work/src/deep/*.ts", vec!["src/deep/c.ts"]),
        ("./a.ts", vec!["a.ts"]),
        ("none/*.ts", vec![]),
        ("*.py", vec![]),
    ] {
        assert_eq!(found(&mut session, pattern), expected, "{pattern}");
    }
    let (text, _) = session.ok("Glob", json!({"pattern": "*.py"}));
    assert_eq!(text, "No files found.");
}

#[test]
fn tool_4_glob_shows_at_most_100_files() {
    let tree = MemoryTree::new().with_page(7);
    for n in 0..150 {
        tree.put(&format!("{n:03}.txt"), "");
    }
    let mut session = Session::new(tree);
    let (text, output) = session.ok("Glob", json!({"pattern": "*.txt"}));
    assert_eq!(output["numFiles"], 100);
    assert_eq!(output["truncated"], true);
    assert_eq!(output["filenames"][0], "149.txt");
    assert!(text.contains("100 of 150"), "{text}");
}

#[test]
fn tool_4_glob_searches_a_directory() {
    let mut session = Session::new(
        MemoryTree::new()
            .with_file("a/x.rs", "")
            .with_file("b/x.rs", ""),
    );
    let (text, _) = session.ok("Glob", json!({"pattern": "*.rs", "path": "/work/a"}));
    assert_eq!(text, "a/x.rs");
    for (path, expected) in [
        ("/work/none", "no directory /work/none"),
        ("/work/a/x.rs", "no directory"),
        ("/etc", "outside the directories"),
    ] {
        let error = session.err("Glob", json!({"pattern": "*.rs", "path": path}));
        assert!(error.contains(expected), "{error}");
    }
    let error = session.err("Glob", json!({"pattern": "[a"}));
    assert!(error.contains("malformed"), "{error}");
    let nested = ["{a,".repeat(5000), "}".repeat(5000)].concat();
    let error = session.err("Glob", json!({"pattern": nested}));
    assert!(error.contains("more than 50 deep"), "{error}");
}

#[test]
fn tool_4_glob_respects_gitignore() {
    let mut session = Session::new(
        MemoryTree::new()
            .with_file(".git/config", "")
            .with_file(".git/info/exclude", "private.txt\n")
            .with_file(".gitignore", "target/\n*.log\n!keep.log\n")
            .with_file("target/out.txt", "")
            .with_file("a.log", "")
            .with_file("keep.log", "")
            .with_file("private.txt", "")
            .with_file(".env", "")
            .with_file("sub/.gitignore", "/local\n")
            .with_file("sub/local", "")
            .with_file("sub/deep/local", "")
            .with_file("sub/deep/b.log", ""),
    );
    let mut all = found(&mut session, "**");
    all.sort();
    assert_eq!(
        all,
        [
            ".env",
            ".gitignore",
            "keep.log",
            "sub/.gitignore",
            "sub/deep/local"
        ]
    );
    // Rules of the directories above count too.
    let (_, output) = session.ok("Glob", json!({"pattern": "*", "path": "sub/deep"}));
    assert_eq!(output["filenames"], json!(["sub/deep/local"]));
    // What is asked for by name is searched.
    assert_eq!(found(&mut session, "target/*.txt"), ["target/out.txt"]);
}

#[test]
fn tool_4_glob_starts_afresh_in_a_nested_repository_and_prefers_ignore_files() {
    let mut session = Session::new(
        MemoryTree::new()
            .with_file(".gitignore", "*.txt\n")
            .with_file("a.txt", "")
            .with_file("vendor/.git", "gitdir: elsewhere")
            .with_file("vendor/b.txt", "")
            .with_file("vendor/.gitignore", "c.md\n")
            .with_file("vendor/.ignore", "!c.md\nd.md\n")
            .with_file("vendor/c.md", "")
            .with_file("vendor/d.md", ""),
    );
    let mut all = found(&mut session, "*.{txt,md}");
    all.sort();
    assert_eq!(all, ["vendor/b.txt", "vendor/c.md"]);
}
