use super::{Document, Mapping, Problem};

fn fields(yaml: &str) -> Mapping {
    let text = format!("---\n{yaml}\n---\nbody");
    Document::parse(&text).unwrap().front.unwrap()
}

fn json(yaml: &str) -> String {
    fields(yaml).to_json().get().to_string()
}

fn fault(yaml: &str) -> (u32, Problem) {
    let text = format!("---\n{yaml}\n---\nbody");
    let error = Document::parse(&text).unwrap_err();
    (error.line, error.problem)
}

#[test]
fn a_file_without_fields_is_all_body() {
    for text in ["", "# Title\n", "--\nx: y\n", " ---\nx: y\n---\n"] {
        let file = Document::parse(text).unwrap();
        assert_eq!((file.front, file.body), (None, text));
    }
    let file = Document::parse("\u{feff}---\r\nname: a\r\n---\r\nText\r\n").unwrap();
    assert_eq!(file.front.unwrap().text("name"), Ok(Some("a")));
    assert_eq!(file.body, "Text\r\n");
    let empty = Document::parse("---\n---").unwrap();
    assert_eq!((empty.front, empty.body), (Some(Mapping::default()), ""));
    let open = Document::parse("---\nname: a\n").unwrap_err();
    assert_eq!((open.line, open.problem), (1, Problem::Unclosed));
}

#[test]
fn scalars_are_what_yaml_says_they_are() {
    for (yaml, expected) in [
        ("a: b", r#"{"a":"b"}"#),
        ("a:   b  # note", r#"{"a":"b"}"#),
        ("a: b#c", r#"{"a":"b#c"}"#),
        (
            "a: 12\nb: true\nc:\nd: ~\ne: null\nf: 1.50",
            r#"{"a":12,"b":true,"c":null,"d":null,"e":null,"f":1.50}"#,
        ),
        (
            "a: 1.2.3\nb: 0x1f\nc: yes\nd: -",
            r#"{"a":"1.2.3","b":"0x1f","c":"yes","d":"-"}"#,
        ),
        ("a: '12'\nb: \"true\"", r#"{"a":"12","b":"true"}"#),
        ("a: 'it''s # here'", r#"{"a":"it's # here"}"#),
        (
            r#"a: "x\n\"y\" \u00e4 \\" # note"#,
            r#"{"a":"x\n\"y\" ä \\"}"#,
        ),
        ("a: https://x.y/z", r#"{"a":"https://x.y/z"}"#),
        // Not valid YAML, but common.
        (
            r"a: Use it when: things break.\nuser: hello",
            r#"{"a":"Use it when: things break.\\nuser: hello"}"#,
        ),
        ("a: one\n  two\n\n  three", r#"{"a":"one two\nthree"}"#),
        ("a:\n  one\n  two", r#"{"a":"one two"}"#),
        ("a: \"one\n  two\n\n  three\"", r#"{"a":"one two\nthree"}"#),
        ("\"a b\": c\n'd': e", r#"{"a b":"c","d":"e"}"#),
        ("# note\n\na: b\n  # note\nc: d", r#"{"a":"b","c":"d"}"#),
    ] {
        assert_eq!(json(yaml), expected, "{yaml}");
    }
}

#[test]
fn blocks_keep_or_fold_their_lines() {
    for (yaml, expected) in [
        (
            "a: |\n  one\n\n   two\n  three\n\nb: c",
            r#"{"a":"one\n\n two\nthree\n","b":"c"}"#,
        ),
        (
            "a: |-\n  one: two # kept\n  - three",
            r#"{"a":"one: two # kept\n- three"}"#,
        ),
        ("a: |+\n  one\n\nb: c", r#"{"a":"one\n\n","b":"c"}"#),
        (
            "a: >-\n  one\n  two\n\n  three",
            r#"{"a":"one two\nthree"}"#,
        ),
        (
            "a: >\n  one\n    kept\n  two",
            r#"{"a":"one\n  kept\ntwo\n"}"#,
        ),
        ("a: |2\n    one\n  two", r#"{"a":"  one\ntwo\n"}"#),
        ("a: |\nb: c", r#"{"a":"","b":"c"}"#),
    ] {
        assert_eq!(json(yaml), expected, "{yaml}");
    }
}

#[test]
fn lists_and_fields_nest() {
    for (yaml, expected) in [
        ("a:\n  - b\n  - c", r#"{"a":["b","c"]}"#),
        ("a:\n- b\n- c\nd: e", r#"{"a":["b","c"],"d":"e"}"#),
        (
            "a: [b, 'c, d', Bash(x, y)]",
            r#"{"a":["b","c, d","Bash(x, y)"]}"#,
        ),
        (
            "a: [\n  b, # note\n  c,\n]\nd: e",
            r#"{"a":["b","c"],"d":"e"}"#,
        ),
        ("a: {b: c, d: [1, {e: f}], g}", ""),
        (
            "a: {b: c, d: [1, {e: f}], \"g\":}",
            r#"{"a":{"b":"c","d":[1,{"e":"f"}],"g":null}}"#,
        ),
        (
            "a:\n  b: c\n  d:\n    e: f\ng: h",
            r#"{"a":{"b":"c","d":{"e":"f"}},"g":"h"}"#,
        ),
        (
            "s:\n  - github\n  - files:\n      type: stdio\n      args: [\"-y\", x]\n      env:\n        A: b\n  - name: x\n    url: http://y",
            r#"{"s":["github",{"files":{"type":"stdio","args":["-y","x"],"env":{"A":"b"}}},{"name":"x","url":"http://y"}]}"#,
        ),
        (
            "a:\n  - - b\n    - c\n  -\n    d: e\n  -",
            r#"{"a":[["b","c"],{"d":"e"},null]}"#,
        ),
        ("a: []\nb: {}", r#"{"a":[],"b":{}}"#),
    ] {
        if expected.is_empty() {
            assert_eq!(fault(yaml), (2, Problem::NotAField), "{yaml}");
        } else {
            assert_eq!(json(yaml), expected, "{yaml}");
        }
    }
}

#[test]
fn what_cannot_be_read_is_said_with_its_line() {
    for (yaml, line, message) in [
        ("a: b\nnothing", 3, "no field"),
        ("- a", 2, "no field"),
        ("a: b\n  c: d", 3, "cannot hold `: `"),
        ("a:\n    b: c\n  d: e", 4, "indented like nothing"),
        ("a:\n\tb: c", 3, "use blanks"),
        ("a: \"b\nc: d", 2, "`\"` is never closed"),
        ("a: [b, c", 2, "`[` is never closed"),
        ("a: \"b\" c", 2, "`c` stands behind"),
        (r#"a: "\d""#, 2, r"`\d` means nothing"),
        ("a: *b", 2, "alias"),
        ("a: &b c", 2, "anchor"),
        ("a: !!str c", 2, "tag"),
        ("a: [*b]", 2, "alias"),
        ("a: b\nc: d\na: e", 4, "second time (first in line 2)"),
        ("a: [b: c]", 2, "cannot hold"),
        ("a: |x\n  b", 2, "stands behind"),
        ("a: b # note\n  c", 3, "indented like nothing"),
    ] {
        let (at, problem) = fault(yaml);
        assert_eq!(at, line, "{yaml}: {problem}");
        let said = problem.to_string();
        assert!(said.contains(message), "{yaml}: {said}");
    }
    let deep = format!("a: {}", "[".repeat(10_000));
    assert_eq!(fault(&deep).1, Problem::TooDeep { limit: 16 });
    let deep = format!("a:\n {}b", "- ".repeat(10_000));
    assert_eq!(fault(&deep).1, Problem::TooDeep { limit: 16 });
}

#[test]
fn fields_are_read_as_what_they_should_be() {
    let front = fields(
        "l: A, Bash(git add:*, git rm:*) B,\nm: [a, b]\nf: true\nq: 'true'\nn: 7\nnone:\nmap: {a: b}",
    );
    assert_eq!(
        front.list("l").unwrap().unwrap(),
        ["A", "Bash(git add:*, git rm:*)", "B"]
    );
    assert_eq!(front.list("m").unwrap().unwrap(), ["a", "b"]);
    assert_eq!(front.list("none"), Ok(None));
    assert_eq!(front.list("absent"), Ok(None));
    assert_eq!(
        (front.flag("f"), front.number("n")),
        (Ok(Some(true)), Ok(Some(7)))
    );
    let error = front.flag("q").unwrap_err().to_string();
    assert_eq!(error, "line 5: the field `q` must be true or false");
    assert!(front.text("map").is_err() && front.list("map").is_err() && front.number("f").is_err());
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "(---\n)?([-:#|>\\[\\]{}\"'\\\\, \n\ta-cä(]{0,60})(\n---\n)?") {
        if let Ok(file) = Document::parse(&text)
            && let Some(front) = file.front
        {
            let json = front.to_json();
            proptest::prop_assert!(windlass_core::json::RawObject::parse(json.get()).is_ok());
        }
    }
}

#[test]
fn words_in_brackets_one_behind_the_other_are_a_text() {
    let hint = |value: &str| {
        let text = format!("---\nargument-hint: {value}\n---\n");
        let fields = Document::parse(&text).unwrap().front.unwrap();
        fields
            .text("argument-hint")
            .map(|text| text.map(ToString::to_string))
    };
    for text in [
        "[issue] [priority]",
        "[a] <b>",
        "[pr-number] [--all | <name>]",
    ] {
        assert_eq!(hint(text).unwrap().as_deref(), Some(text));
    }
    assert!(hint("[a, b]").is_err(), "a list");
    let error = Document::parse("---\ntools: [Read] Grep\n---\n").unwrap_err();
    assert!(format!("{error}").contains("Grep"));
}

#[test]
fn words_for_yes_no_and_nothing_are_those_of_yaml() {
    assert_eq!(
        json("a: True\nb: TRUE\nc: False\nd: FALSE\ne: Null\nf: NULL\ng: tRUE\nh: 'True'"),
        r#"{"a":true,"b":true,"c":false,"d":false,"e":null,"f":null,"g":"tRUE","h":"True"}"#
    );
    let flags = fields("on: TRUE\noff: False\nnone: NULL\nother: yes");
    assert_eq!(flags.flag("on").unwrap(), Some(true));
    assert_eq!(flags.flag("off").unwrap(), Some(false));
    assert_eq!(flags.flag("none").unwrap(), None);
    assert!(flags.flag("other").is_err());
}

#[test]
fn quoted_names_of_fields_have_escapes() {
    assert_eq!(
        json("\"a\\\"b\": 1\n'it''s': 2\n\"\\u00e9\\\\\": 3\n'\\': 4"),
        r#"{"a\"b":1,"it's":2,"é\\":3,"\\":4}"#
    );
}

#[test]
fn a_comment_may_stand_behind_a_block() {
    assert_eq!(
        json("a: |\n    text\n  # of nobody\n # of nobody either\nb: 1"),
        r#"{"a":"text\n","b":1}"#
    );
    assert_eq!(
        json("a: >- # what it is\n    one\n    # two\n  # of nobody\nb: 1"),
        r##"{"a":"one # two","b":1}"##
    );
    assert_eq!(fault("a: |\n    text\n  more").1, Problem::Indentation);
}
