//! Bad input of every kind: a typed error that says where the fault is and what to do about it.

use std::sync::Arc;

use windlass_core::{
    RawJson, Session, Spec,
    agent::{AgentDefinition, AgentProfile},
    hook::{HookEvent, HookMatcher, HookOutput, Matcher},
    journal::Journal,
    permission::{
        Layer, Layered, PermissionUpdate, Rule, SessionPermissions, UpdateError, all_faults,
    },
    schema::Schema,
    session_request::SessionRequest,
};
use windlass_testkit::Script;

use crate::harness::{SEED, session_id};

/// Each text must name the place and the remedy.
fn each(kind: &str, cases: &[(&str, &[&str])], error: impl Fn(&str) -> String) {
    for (input, expected) in cases {
        let text = error(input);
        for words in *expected {
            assert!(
                text.contains(words),
                "{kind} {input:?}: no {words:?} in {text:?}"
            );
        }
    }
}

fn json(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

#[test]
fn malformed_rules_say_what_to_write() {
    let cases: [(&str, &[&str]); 9] = [
        ("(npm test)", &["`(npm test)`", "write it first"]),
        (
            "Bash(npm test",
            &["`Bash(npm test`", "not closed at the end"],
        ),
        ("Ba sh", &["`Ba sh`", "write it as the tool is called"]),
        ("Bash()", &["`Bash()`", "leave them out"]),
        ("Bash(:*)", &["`Bash(:*)`", "name the tool alone"]),
        ("Write(src/**)", &["`Write(src/**)`", "Edit(src/**)"]),
        ("WebFetch(example.com)", &["WebFetch(domain:example.com)"]),
        ("Note(x)", &["`Note(x)`", "name it alone"]),
        ("Read({a,b}{c,d}{e,f}{g,h}{i,j}{k,l}{m,n})", &["at most 64"]),
    ];
    each("rule", &cases, |text| {
        Rule::parse(text).unwrap_err().to_string()
    });

    // In settings all of them are named with their lists, and none of the file is used.
    let mut layer = Layer::default();
    layer.settings.allow = vec!["Bash(npm test".into(), "Read".into()];
    layer.settings.deny = vec!["Write(x)".into()];
    let faults = Layered::of(&[layer], &Spec::default().environment).unwrap_err();
    let text = all_faults(&faults);
    assert!(
        text.contains("options, permissions.allow") && text.contains("options, permissions.deny")
    );
    assert!(text.contains("Edit(x)"), "{text}");
}

#[test]
fn an_update_with_a_bad_part_changes_nothing() {
    let spec = Spec::default();
    let mut permissions = SessionPermissions::new(&spec.policy.permissions);
    let updates: Vec<PermissionUpdate> = json(
        r#"[{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"session"},
            {"type":"addDirectories","directories":["/"],"destination":"session"}]"#,
    )
    .decode()
    .unwrap();
    let error = permissions
        .apply(&spec.policy.permissions, &spec.environment, &updates)
        .unwrap_err();
    assert!(matches!(error, UpdateError::Directory(_)));
    assert!(
        error.to_string().contains("give the path of a directory"),
        "{error}"
    );
    assert_eq!(permissions.rules(&spec.policy.permissions).allow, []);
}

#[test]
fn malformed_schemas_say_where_and_what_would_be_right() {
    let cases: [(&str, &[&str]); 6] = [
        (
            r#"{"type":"objekt"}"#,
            &["at #/type", "one or several of object"],
        ),
        (
            r#"{"properties":[]}"#,
            &["at #/properties", "an object whose values are schemas"],
        ),
        (
            r#"{"properties":{"a/b":{"minimum":"1"}}}"#,
            &["#/properties/a~1b/minimum", "must be a number"],
        ),
        (r#"{"pattern":"(a"}"#, &["at #/pattern", "not closed"]),
        (
            r##"{"$ref":"#/$defs/none"}"##,
            &["at #/$ref", "leads to nothing within this schema"],
        ),
        (r#"[1]"#, &["a schema is an object"]),
    ];
    each("schema", &cases, |text| {
        Schema::read(text).unwrap_err().to_string()
    });
}

#[test]
fn malformed_hook_outputs_and_registrations_say_where_and_what_would_be_right() {
    let cases: [(&str, &[&str]); 7] = [
        ("[]", &["the answer", "must be a JSON object"]),
        (
            r#"{"continue":"no"}"#,
            &["continue", "must be true or false"],
        ),
        (r#"{"decison":"block"}"#, &["decison", "known are"]),
        (
            r#"{"decision":"maybe"}"#,
            &["decision", "is none of", "block"],
        ),
        (
            r#"{"continue":true,"continue":false}"#,
            &["continue", "leave one of the two out"],
        ),
        (
            r#"{"hookSpecificOutput":{"hookEventName":"Stop"}}"#,
            &["hookSpecificOutput.hookEventName", "must be \"PreToolUse\""],
        ),
        (
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"perhaps"}}"#,
            &[
                "hookSpecificOutput.permissionDecision",
                "is none of",
                "deny",
            ],
        ),
    ];
    each("hook output", &cases, |text| {
        HookOutput::parse(&json(text), HookEvent::PreToolUse)
            .unwrap_err()
            .to_string()
    });
    let cases: [(&str, &[&str]); 3] = [
        ("Edit|", &["`Edit|`", "for every tool write `*`"]),
        ("(Edit", &["`(Edit`", "character", "not closed"]),
        ("Edit,mcp__.*", &["`Edit,mcp__.*`", "write `|`"]),
    ];
    each("matcher", &cases, |text| {
        Matcher::parse(text).unwrap_err().to_string()
    });
    let cases: [(&str, &[&str]); 2] = [
        (
            r#"{"event":"Stop","hooks":[],"timeout":0}"#,
            &["timeout", "more than 0 seconds"],
        ),
        (r#"{"event":"Stopp","hooks":[]}"#, &["Stopp"]),
    ];
    each("registration", &cases, |text| {
        json(text).decode::<HookMatcher>().unwrap_err().to_string()
    });
}

#[test]
fn a_malformed_agent_says_what_would_be_right() {
    let definition: AgentDefinition =
        json(r#"{"description":"d","prompt":"p","tools":["Bash(ls)"]}"#)
            .decode()
            .unwrap();
    let error = AgentProfile::new("tester", definition)
        .unwrap_err()
        .to_string();
    for words in [
        "tester",
        "`tools`",
        "put what it must not do into disallowedTools",
    ] {
        assert!(error.contains(words), "{words} in {error}");
    }
}

#[test]
fn malformed_scripts_tasks_and_journals_say_where_and_what_to_do() {
    let cases: [(&str, &[&str]); 3] = [
        (
            r#"{"exchanges":[{"respond":{"contnt":[]}}]}"#,
            &["exchange 1", "contnt", "use one of the names listed"],
        ),
        (r#"{"exchanges":[{}]}"#, &["exchange 1", "respond"]),
        ("{", &["script", "correct the JSON there"]),
    ];
    each("script", &cases, |text| {
        Script::parse(text).unwrap_err().to_string()
    });

    let seed = "0".repeat(64);
    let with = |rest: &str| format!(r#"{{"seed":"{seed}"{rest}}}"#);
    for (task, expected) in [
        (
            "{}".to_owned(),
            &["`seed`", "line 1 column", "; add the field"][..],
        ),
        (
            r#"{"seed":"x"}"#.to_owned(),
            &["`seed`", "; draw 32 random bytes"],
        ),
        (
            with(r#","sped":{}"#),
            &["`sped`", "line 1 column", "; use one of the names listed"],
        ),
        (
            with(r#","prompt":7"#),
            &["`prompt`", "; write a text in quotes"],
        ),
        (
            with(r#","spec":{"max_tokens":"many"}"#),
            &["line 1 column", "; write the value in the form"],
        ),
        (
            with(r#","spec":{"provider":"other"}"#),
            &["`provider`", "\"other\"", "; correct it"],
        ),
        (
            with(r#","spec":{"permissions":{"allow":["Bash("]}}"#),
            &["`Bash(`", "; correct it"],
        ),
        (
            with(r#","spec":{"tool_search":"maybe"}"#),
            &["`maybe`", "auto:N%", "; correct it"],
        ),
    ] {
        let text = SessionRequest::parse(&task).unwrap_err().to_string();
        for words in expected {
            assert!(text.contains(words), "{task}: no {words:?} in {text:?}");
        }
    }

    let header = format!(r#"{{"windlass":"journal","version":1,"task":{{"seed":"{seed}"}}}}"#);
    let journal = |rest: &str| format!("{header}\n{rest}");
    for (text, expected) in [
        (
            String::new(),
            &["line 1", "it begins with a line such as"][..],
        ),
        (
            header.replace("\"version\":1", "\"version\":9"),
            &[
                "line 1",
                "version 9",
                "replay it with the version that wrote it",
            ],
        ),
        (
            header.replace(&seed, "x"),
            &["line 1", "`seed`", "draw 32 random bytes"],
        ),
        (
            journal("nonsense\n"),
            &["line 2", "take the file that it wrote"],
        ),
        (
            journal("{\"now\":"),
            &["line 2", "delete this line to replay what is before it"],
        ),
    ] {
        let error = Journal::parse(&text).unwrap_err().to_string();
        for words in expected {
            assert!(error.contains(words), "{text}: no {words:?} in {error:?}");
        }
    }
}

#[test]
fn sess_4_bytes_that_are_no_snapshot_say_where_and_what_to_do() {
    let whole = Session::new(Arc::new(Spec::default()), session_id(), SEED)
        .snapshot()
        .unwrap();
    let whole = String::from_utf8(whole).unwrap();
    let (header, state) = whole.split_once('\n').unwrap();
    let as_written = "restore the bytes as they were written";
    let cut_off = "it was cut off: restore an earlier one, or resume the transcript";
    for (text, expected) in [
        (
            String::new(),
            &["line 1", "hand in the bytes that `Session::snapshot` gave"][..],
        ),
        (
            whole.replace("snapshot", "journal"),
            &["line 1", "\"windlass\":\"snapshot\""],
        ),
        (
            whole.replacen("\"version\":2", "\"version\":99", 1),
            &[
                "line 1",
                "version 99",
                "open it with the version that wrote it",
            ],
        ),
        (
            format!("{header}\n"),
            &["line 1", "the state line is missing", as_written],
        ),
        (
            format!("{header}\nnonsense\n{state}"),
            &["line 2", as_written],
        ),
        (whole[..whole.len() - 20].to_owned(), &["line 2", cut_off]),
        (
            format!("{header}\n{{\"role\":\"user\",\"content\":[]}}\n{state}"),
            &["line 3", "does not belong to this history", as_written],
        ),
    ] {
        let error = Session::restore(Arc::new(Spec::default()), text.as_bytes())
            .unwrap_err()
            .to_string();
        for words in expected {
            assert!(error.contains(words), "{text}: no {words:?} in {error:?}");
        }
    }
}
