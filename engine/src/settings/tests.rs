use windlass_core::{
    permission::{Layered, PermissionUpdate},
    spec::Environment,
};

use super::*;

fn of(source: Source, text: &str) -> SourcedSettings {
    SourcedSettings::parse(source, None, text).unwrap()
}

#[test]
fn settings_are_an_object_that_is_not_too_deep() {
    for (text, wanted) in [
        ("{\n  \"model\": ,\n}", "line 2"),
        ("[]", "object"),
        (r#"{"model": 5}"#, "string"),
    ] {
        let fault = SourcedSettings::parse(Source::UserSettings, None, text).unwrap_err();
        let problem = fault.to_string();
        assert!(problem.contains(wanted), "{problem}");
    }
    let deep = |levels: usize| format!("{{\"x\": {}{}}}", "[".repeat(levels), "]".repeat(levels));
    let read = |text: &str| SourcedSettings::parse(Source::UserSettings, None, text);
    assert!(read(&deep(99)).is_ok());
    assert!(read(&deep(100)).unwrap_err().problem.contains("100 levels"));
    assert!(
        changed(&deep(100), |_| Ok(()))
            .unwrap_err()
            .contains("100 levels")
    );
    for empty in ["", " \n", "\u{feff}", "\u{feff}{}"] {
        assert_eq!(read(empty).unwrap().settings, Settings::default());
    }
}

/// Every error has the line and key of its cause in the file.
#[test]
fn conf_1_what_is_wrong_is_named_with_its_line_and_key() {
    for (text, line, key, words) in [
        (
            "\n{\"permissions\":\n {\"deny\": \"Bash\"}}",
            3,
            "permissions.deny",
            "string",
        ),
        (
            "{\"permissions\": {\"deny\": [\"Read\",\n3]}}",
            2,
            "permissions.deny[1]",
            "permission rule",
        ),
        (
            "{\"permissions\": {\"deny\": [\n{\"rul\": \"x\"}]}}",
            2,
            "permissions.deny[0]",
            "rul",
        ),
        (
            "{\n\"permissions\": {\n\"defaultMode\": \"foo\"\n}\n}",
            3,
            "permissions.defaultMode",
            "`plan`",
        ),
        ("{\n\n\"model\": 3}", 3, "model", "string"),
        (
            "{\"model\": \"x\",\n\"model\": \"y\"}",
            2,
            "model",
            "duplicate",
        ),
        ("{\"env\": {\"A\": 1,\n\"B\": {}}}", 2, "env.B", "a text"),
        (
            "{\"permissions\": {\n\"denny\": []}}",
            2,
            "permissions.denny",
            "`permissions.deny`",
        ),
        ("{\n\"Sandbox\": {}}", 2, "Sandbox", "`sandbox`"),
        (
            "{\"sandbox\": {\n\"network\": {\n\"deniedDomain\": []}}}",
            3,
            "sandbox.network.deniedDomain",
            "deniedDomains",
        ),
        // Arrays are not read by position.
        (
            "{\n\"permissions\": [[\"Bash\"], [], []]}",
            2,
            "permissions",
            "object",
        ),
        ("{\n\"sandbox\": [true]}", 2, "sandbox", "object"),
        (
            "{\"sandbox\":\n{\"network\":\n[[]]}}",
            2,
            "sandbox.network",
            "object",
        ),
        ("{\n\"hooks\": []}", 2, "hooks", "object"),
        (
            "{\"hooks\": {\n\"PreToolUze\": []}}",
            2,
            "hooks.PreToolUze",
            "`PreToolUse`",
        ),
        (
            "{\"hooks\": {\"Stop\": [\n{\"matcher\": \"(\", \"hooks\": []}]}}",
            2,
            "hooks.Stop[0].matcher",
            "matcher",
        ),
        (
            "{\"hooks\": {\"Stop\": [\n{\"matcher\": \"x\"}]}}",
            2,
            "hooks.Stop[0]",
            "`hooks`",
        ),
        (
            "{\"hooks\": {\"Stop\": [{\"hooks\": [\n{\"type\": \"comand\"}]}]}}",
            2,
            "hooks.Stop[0].hooks[0].type",
            "`command`",
        ),
        (
            "{\"hooks\": {\"Stop\": [{\"hooks\": [\n{\"type\": \"command\"}]}]}}",
            2,
            "hooks.Stop[0].hooks[0]",
            "`command`",
        ),
        (
            "{\"hooks\": {\"Stop\": [{\"hooks\": [\n[\"command\", \"x\"]]}]}}",
            2,
            "hooks.Stop[0].hooks[0]",
            "object",
        ),
        // Invalid JSON: the error names the last key that was read.
        (
            "{\"permissions\": {\n\"deny\": [\"Bash\"",
            2,
            "permissions.deny[0]",
            "EOF",
        ),
        (
            "{\"model\": \"x\"\n\"agent\": \"y\"}",
            2,
            "model",
            "expected `,`",
        ),
        ("{\"\u{1b}[1m\": ", 1, "\u{fffd}[1m", "control character"),
        ("[]", 1, "", "object"),
    ] {
        let fault = SourcedSettings::parse(Source::LocalSettings, None, text).unwrap_err();
        assert_eq!(
            (fault.line, fault.key.0.as_str()),
            (line, key),
            "{text}: {fault}"
        );
        assert!(fault.to_string().contains(words), "{text}: {fault}");
        let place = format!("line {line}");
        assert!(fault.to_string().starts_with(&place), "{text}: {fault}");
    }
}

#[test]
fn conf_1_a_rule_that_cannot_be_used_is_named_with_its_line_and_key() {
    let text = "{\"permissions\": {\n\"deny\": [\"Read\",\n\"Bash(rm\"]}}";
    let path = Some("/p/.claude/settings.local.json".into());
    let local = SourcedSettings::parse(Source::LocalSettings, path, text).unwrap();
    let loaded = LoadedSettings::new(vec![local], "/p".into(), "/u".into());
    let faults = Layered::of(&loaded.layers(false), &Environment::default()).unwrap_err();
    let said = loaded.complaint(&faults[0]);
    let wanted =
        "/p/.claude/settings.local.json: line 3, `permissions.deny[1]`: permission rule `Bash(rm`";
    assert!(said.starts_with(wanted), "{said}");
}

#[test]
fn rules_with_a_single_slash_begin_where_their_file_belongs() {
    let loaded = LoadedSettings::new(
        vec![
            of(Source::PolicySettings, "{}"),
            of(Source::LocalSettings, r#"{"model": "local"}"#),
            of(Source::UserSettings, r#"{"model": "user"}"#),
        ],
        "C:/project".into(),
        "/home/u/.claude".into(),
    );
    let roots: Vec<_> = (loaded.layers(true).into_iter())
        .map(|layer| layer.root)
        .collect();
    let wanted = [None, Some("C:/project"), Some("/home/u/.claude")];
    assert_eq!(roots, wanted.map(|root| root.map(str::to_owned)));
    assert_eq!(loaded.model(), Some("local"));
}

#[test]
fn perm_6_a_change_of_a_text_leaves_the_rest_as_it_is() {
    let add = |rule: &str| -> PermissionUpdate {
        let rule = format!(
            r#"{{"type":"addRules","rules":[{{"toolName":"Bash","ruleContent":"{rule}"}}],"behavior":"allow","destination":"userSettings"}}"#
        );
        serde_json::from_str(&rule).unwrap()
    };
    let updates = [add("ls"), add("ls")];
    check_rules(&updates).unwrap();
    let after = changed("\u{feff}{\"b\": 1.50, \"a\": null}", |settings| {
        change_permissions(settings, &updates)
    });
    let wanted = "{\n  \"b\": 1.50,\n  \"a\": null,\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(ls)\"\n    ]\n  }\n}\n";
    assert_eq!(after.unwrap(), wanted);
    let refused = changed(r#"{"permissions": {"allow": "x"}}"#, |settings| {
        change_permissions(settings, &updates)
    });
    assert!(refused.unwrap_err().contains("permissions.allow"));
}
