//! Where rules come from.

use serde_json::json;
use windlass_core::permission::{
    Fit, Layer, LayerError, Layered, Mode, PermissionSettings, PolicyContext, Source, Verdict,
    explain, judge,
};

use super::{Call, environment};

pub(crate) fn layer(source: Source, trusted: bool, settings: &serde_json::Value) -> Layer {
    Layer {
        source,
        root: None,
        trusted,
        settings: serde_json::from_value(settings.clone()).unwrap(),
    }
}

#[test]
fn perm_17_rules_come_from_their_sources_and_the_cause_names_them() {
    let layers = [
        layer(
            Source::PolicySettings,
            false,
            &json!({"deny": ["Bash(curl:*)"]}),
        ),
        layer(
            Source::UserSettings,
            false,
            &json!({"allow": ["Bash(git:*)"], "defaultMode": "plan"}),
        ),
    ];
    let layered = Layered::of(&layers, &environment()).unwrap();
    assert_eq!(layered.mode, Some(Mode::Plan));
    let environment = environment();
    let of = |line| {
        let call = Call::new("Bash", line);
        let context = PolicyContext::new(&layered.rules, Mode::Default, &environment);
        judge(&context, call.facts(), None)
    };
    assert_eq!(of("curl x").verdict, Verdict::Deny);
    assert!(of("curl x").cause.explain().contains("policy settings"));
    assert!(of("git log").cause.explain().contains("user settings"));
    let none = Layered::of(&[], &environment).unwrap();
    assert_eq!(none, Layered::default(), "no source, no rules");
}

#[test]
fn perm_18_what_an_untrusted_folder_allows_does_not_count() {
    let settings = json!({
        "allow": ["Bash(ls:*)"],
        "ask": ["Bash(git:*)"],
        "deny": ["Bash(rm:*)"],
        "defaultMode": "acceptEdits",
        "additionalDirectories": ["/other"],
    });
    let environment = environment();
    for (trusted, source, counts) in [
        (false, Source::ProjectSettings, false),
        (false, Source::LocalSettings, false),
        (true, Source::ProjectSettings, true),
        (false, Source::UserSettings, true),
    ] {
        let layered = Layered::of(&[layer(source, trusted, &settings)], &environment).unwrap();
        assert_eq!(layered.mode.is_some(), counts);
        assert_eq!(layered.directories.is_empty(), !counts);
        let context = PolicyContext::new(&layered.rules, Mode::Default, &environment);
        let of = |line| judge(&context, Call::new("Bash", line).facts(), None).verdict;
        assert_eq!(of("ls") == Verdict::Allow, counts, "{source:?} {trusted}");
        assert_eq!(of("rm x"), Verdict::Deny);
        assert_eq!(of("git x"), Verdict::Ask);
        let call = Call::new("Bash", "ls");
        let fit = explain(&context, call.facts(), None)
            .considered
            .last()
            .map(|rule| rule.fit);
        let expected = if counts { Fit::Covers } else { Fit::Untrusted };
        assert_eq!(fit, Some(expected));
    }
}

/// Files are shared with programs that know other rules: what cannot be used and would only allow keeps nobody from working.
#[test]
fn perm_17_a_rule_to_allow_in_a_file_that_cannot_be_used_allows_nothing() {
    let rules = json!({"allow": ["Write(src/**)", "Bash(ls:*)"], "defaultMode": "auto"});
    let of = |source| Layered::of(&[layer(source, true, &rules)], &environment());
    for source in [
        Source::UserSettings,
        Source::ProjectSettings,
        Source::LocalSettings,
    ] {
        let layered = of(source).unwrap();
        assert_eq!(layered.rules.allow.len(), 1);
        assert_eq!(layered.mode, Some(Mode::Auto));
        let said = layered.unusable[0].to_string();
        assert!(said.contains("Edit(src/**)"), "{said}");
    }
    assert!(of(Source::CliArg).is_err() && of(Source::PolicySettings).is_err());
    let denied = json!({"deny": ["Write(src/**)"]});
    let denied = layer(Source::ProjectSettings, true, &denied);
    assert!(Layered::of(&[denied], &environment()).is_err());
    let mode = serde_json::from_value::<PermissionSettings>(json!({"defaultMode": "plam"}));
    assert!(mode.unwrap_err().to_string().contains("acceptEdits"));
}

#[test]
fn perm_3_rules_about_skills_with_arguments_and_tools_of_others_are_read() {
    let rules = json!({"deny": ["Skill(deploy *)", "PowerShell(rm:*)", "SlashCommand(/x:*)"]});
    let layered = Layered::of(&[layer(Source::UserSettings, true, &rules)], &environment());
    let rules = layered.unwrap().rules;
    assert!(rules.denies_subject("Skill", "deploy"));
    assert!(!rules.denies_subject("Skill", "deployed"));
}

#[test]
fn examples_in_rules_are_checked_when_they_are_loaded() {
    let load = |entry: serde_json::Value| {
        let settings: PermissionSettings =
            serde_json::from_value(json!({ "allow": [entry.clone()] })).unwrap();
        assert_eq!(
            serde_json::to_value(&settings).unwrap(),
            json!({ "allow": [entry] })
        );
        let layer = Layer {
            settings,
            ..Layer::default()
        };
        Layered::of(&[layer], &environment())
    };
    for entry in [
        json!({"rule": "Bash(npm run:*)", "match": ["npm run a", "cd x && npm run b"], "not_match": ["npm runner", "npm run a; rm b"]}),
        json!({"rule": "Read(~/notes/**)", "match": ["~/notes/a", "/home/me/notes/b"], "not_match": ["notes/a"]}),
        json!({"rule": "WebFetch(domain:example.com)", "match": ["https://example.com/a"], "not_match": ["https://example.org"]}),
        json!({"rule": "mcp__github", "match": ["mcp__github__list"], "not_match": ["mcp__git__list"]}),
        json!({"rule": "Task(Explore)", "match": ["Explore"], "not_match": ["Plan"]}),
    ] {
        let loaded = load(entry.clone());
        assert!(loaded.is_ok(), "{entry} {loaded:?}");
    }
    let faults = load(json!({"rule": "Bash(npm run:*)", "match": ["npm test"], "not_match": []}))
        .unwrap_err();
    let text = faults[0].to_string();
    assert!(matches!(faults[0], LayerError::Example { .. }));
    assert!(
        text.contains("Bash(npm run:*)") && text.contains("`npm test`"),
        "{text}"
    );
    let faults = load(json!({"rule": "Bash(npm run:*)", "match": [], "not_match": ["npm run x"]}))
        .unwrap_err();
    assert!(faults[0].to_string().contains("not_match"));
    assert!(
        load(json!("Bash(")).unwrap_err()[0]
            .to_string()
            .contains("permissions.allow")
    );
    assert!(serde_json::from_value::<PermissionSettings>(json!({"allow": [7]})).is_err());
    assert!(
        serde_json::from_value::<PermissionSettings>(
            json!({"allow": [{"rule": "X", "matches": []}]})
        )
        .is_err()
    );
}
