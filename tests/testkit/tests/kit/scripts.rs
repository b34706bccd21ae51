//! Reading scripts: what is refused, and how the refusal reads.

use proptest::prelude::*;

use super::{body_text, hello, post};
use windlass_testkit::{Script, ScriptError, ScriptedModel};

fn fault(script: &str) -> ScriptError {
    Script::parse(script).expect_err(script)
}

#[test]
fn a_fault_names_exchange_field_and_remedy() {
    let error = fault(r#"{"exchanges": [{"respond": "ok"}, {"respond": {"contnet": []}}]}"#);
    assert_eq!(error.exchange, Some(2));
    assert_eq!(error.path, "respond.contnet");
    assert!(
        error
            .to_string()
            .starts_with("script, exchange 2, field `respond.contnet`: unknown field")
    );
    assert!(error.to_string().ends_with("use one of the names listed"));
}

#[test]
fn everything_that_makes_no_sense_is_refused_at_its_place() {
    let cases = [
        ("{", None, ""),
        ("{} x", None, ""),
        (r#"{"exchanges": []}"#, None, "exchanges"),
        (
            r#"{"exchanges": [{"respond": "x"}], "matching": "any"}"#,
            None,
            "matching",
        ),
        (
            r#"{"exchanges": [{"respond": "x"}], "match": "some"}"#,
            None,
            "match",
        ),
        (r#"{"exchanges": [{}]}"#, Some(1), ""),
        (r#"{"exchanges": [{"respond": 5}]}"#, Some(1), "respond"),
        (r#"{"exchanges": [{"respond": {}}]}"#, Some(1), "respond"),
        (
            r#"{"exchanges": [{"respond": {"text": "a", "cut": true}}]}"#,
            Some(1),
            "respond",
        ),
        (
            r#"{"exchanges": [{"respond": {"cut": false}}]}"#,
            Some(1),
            "respond.cut",
        ),
        (
            r#"{"exchanges": [{"respond": {"cut": true, "usage": {}}}]}"#,
            Some(1),
            "respond.usage",
        ),
        (
            r#"{"exchanges": [{"respond": {"text": "x", "status": 99}}]}"#,
            Some(1),
            "respond.status",
        ),
        (
            r#"{"exchanges": [{"respond": {"text": "x", "chunks": {"bytes": 0}}}]}"#,
            Some(1),
            "respond.chunks",
        ),
        (
            r#"{"exchanges": [{"respond": {"body": {"hex": "f"}}}]}"#,
            Some(1),
            "respond.body.hex",
        ),
        (
            r#"{"exchanges": [{"respond": {"body": {"hex": "+1"}}}]}"#,
            Some(1),
            "respond.body.hex",
        ),
        (
            r#"{"exchanges": [{"respond": {"body": {}}}]}"#,
            Some(1),
            "respond.body",
        ),
        (
            r#"{"exchanges": [{"respond": {"content": ["a", {"type": "tool_use"}]}}]}"#,
            Some(1),
            "respond.content[1].name",
        ),
        (
            r#"{"exchanges": [{"respond": {"content": [{"type": "text", "text": "x", "name": "y"}]}}]}"#,
            Some(1),
            "respond.content[0].name",
        ),
        (
            r#"{"exchanges": [{"respond": {"content": [{"type": "image"}]}}]}"#,
            Some(1),
            "respond.content[0].type",
        ),
        (
            r#"{"exchanges": [{"respond": {"content": [{"type": "raw", "block": 5}]}}]}"#,
            Some(1),
            "respond.content[0].block",
        ),
        (
            r#"{"exchanges": [{"respond": {"text": "x", "faults": [{"cut": true}]}}]}"#,
            Some(1),
            "respond.faults[0]",
        ),
        (
            r#"{"exchanges": [{"respond": {"text": "x", "faults": [{"after_events": 1}]}}]}"#,
            Some(1),
            "respond.faults[0]",
        ),
        (
            r#"{"exchanges": [{"respond": {"body": {"text": "12", "repeat": 4294967295}}}]}"#,
            Some(1),
            "respond.body.repeat",
        ),
        (
            r#"{"exchanges": [{"respond": {"content": [{"type": "text", "text": "12", "repeat": 4294967295}]}}]}"#,
            Some(1),
            "respond.content[0].repeat",
        ),
        (
            r#"{"exchanges": [{"repeat": 0, "respond": "x"}]}"#,
            Some(1),
            "repeat",
        ),
        (
            r#"{"exchanges": [{"expect": {"fields": {"a": 1}}, "respond": "x"}]}"#,
            Some(1),
            "expect.fields",
        ),
        (
            r#"{"exchanges": [{"expect": {"headers": {"a": 1}}, "respond": "x"}]}"#,
            Some(1),
            "expect.headers.a",
        ),
        (
            r#"{"variables": {"cwd": null}, "exchanges": [{"respond": "x"}]}"#,
            None,
            "variables.cwd",
        ),
    ];
    for (script, exchange, path) in cases {
        let error = fault(script);
        assert_eq!(
            (error.exchange, error.path.as_str()),
            (exchange, path),
            "{script}\n{error}"
        );
        assert!(!error.remedy.is_empty() && !error.problem.is_empty());
    }
}

#[test]
fn declared_variables_are_replaced_and_others_stay() {
    let script = r#"{
        "variables": {"cwd": null, "who": "world"},
        "exchanges": [{"respond": "${cwd} ${who} ${HOME} $cwd"}]
    }"#;
    let texts = |given: &[(&str, &str)]| {
        let script = Script::parse_with(script, given).expect("a script");
        body_text(&post(&mut ScriptedModel::new(script), &hello()))
    };
    let joined = |sent: &str| -> String {
        let parts: Vec<&str> = sent.split("\"text_delta\",\"text\":\"").skip(1).collect();
        parts
            .iter()
            .map(|p| p.split("\"}").next().expect("a text"))
            .collect()
    };
    assert_eq!(
        joined(&texts(&[("cwd", "/tmp/x")])),
        "/tmp/x world ${HOME} $cwd"
    );
    let odd = texts(&[("cwd", "C:\\a"), ("who", "\"q\"")]);
    assert!(odd.contains(r#"C:\\a \"q\""#), "values are escaped: {odd}");

    let unknown = Script::parse_with(script, &[("cwd", "/"), ("cdw", "/")]).expect_err("unknown");
    assert!(unknown.to_string().contains("declares no variable `cdw`"));
}

proptest! {
    #[test]
    fn nothing_that_is_read_panics(at in 0usize..400, with in ".{0,6}") {
        const SCRIPT: &str = r#"{"variables": {"v": "x"}, "match": "any", "exchanges": [{"name": "${v}", "repeat": 2,
            "expect": {"headers": {"a": true}, "fields": {"/a": 1}, "tool_results": [{"id": "x"}]},
            "respond": {"content": ["t", {"type": "tool_use", "name": "T", "input_text": "{"}],
            "chunks": {"bytes": 3}, "faults": [{"after_bytes": 9, "insert": {"hex": "ff"}}]}}]}"#;
        let mut script = SCRIPT.to_string();
        let at = at.min(script.len() - 1);
        script.replace_range(at..=at, &with);
        match Script::parse(&script) {
            Ok(script) => {
                let answer = post(&mut ScriptedModel::new(script), &hello());
                prop_assert!(!answer.is_empty());
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}
