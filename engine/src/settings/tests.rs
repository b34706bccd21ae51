use windlass_core::permission::PermissionUpdate;

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
        let problem = SourcedSettings::parse(Source::UserSettings, None, text).unwrap_err();
        assert!(problem.contains(wanted), "{problem}");
    }
    let deep = |levels: usize| format!("{{\"x\": {}{}}}", "[".repeat(levels), "]".repeat(levels));
    let read = |text: &str| SourcedSettings::parse(Source::UserSettings, None, text);
    assert!(read(&deep(99)).is_ok());
    assert!(read(&deep(100)).unwrap_err().contains("100 levels"));
    assert!(
        changed(&deep(100), |_| Ok(()))
            .unwrap_err()
            .contains("100 levels")
    );
    for empty in ["", " \n", "\u{feff}", "\u{feff}{}"] {
        assert_eq!(read(empty).unwrap().settings, Settings::default());
    }
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
