//! Rules that change, and what is suggested.

use serde_json::json;
use windlass_core::{
    permission::{
        Destination, Mode, PathFact, PermissionUpdate, PolicyContext, Rule, RuleValue, Rules,
        SessionPermissions, Verdict, first_rule, judge, suggestions,
    },
    spec::PermissionPolicy,
    tool::{Access, PluginGrant},
};

use super::{Call, allow, environment, parsed};

fn update(json: &serde_json::Value) -> PermissionUpdate {
    let update: PermissionUpdate = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(
        serde_json::to_value(&update).unwrap(),
        *json,
        "read and written alike"
    );
    update
}

#[test]
fn perm_6_updates_change_rules_mode_and_directories_for_their_destination() {
    let policy = PermissionPolicy {
        rules: Rules {
            allow: parsed(&["Read"]),
            ..Rules::default()
        },
        ..PermissionPolicy::default()
    };
    let environment = environment();
    let mut permissions = SessionPermissions::new(&policy);
    let mut apply = |json: serde_json::Value| {
        permissions
            .apply(&policy, &environment, &[update(&json)])
            .unwrap();
        let rules = permissions.rules(&policy);
        let texts = |list: &[Rule]| {
            list.iter()
                .map(Rule::to_string)
                .collect::<Vec<_>>()
                .join(" ")
        };
        format!(
            "{} | {} | {} | {}",
            texts(&rules.allow),
            texts(&rules.deny),
            permissions.directories(&environment).join(" "),
            permissions.mode().name()
        )
    };
    let rules = |kind: &str, rules: serde_json::Value, behavior: &str, destination: &str| json!({"type": kind, "rules": rules, "behavior": behavior, "destination": destination});
    let npm = json!([{"toolName": "Bash", "ruleContent": "npm:*"}]);
    assert_eq!(
        apply(rules("addRules", npm.clone(), "allow", "localSettings")),
        "Read Bash(npm:*) |  | /extra | default"
    );
    assert_eq!(
        apply(rules("addRules", npm.clone(), "allow", "localSettings")),
        "Read Bash(npm:*) |  | /extra | default",
        "twice is once"
    );
    assert_eq!(
        apply(rules(
            "addRules",
            json!([{"toolName": "Edit"}]),
            "deny",
            "session"
        )),
        "Read Bash(npm:*) | Edit | /extra | default"
    );
    assert_eq!(
        apply(rules(
            "replaceRules",
            json!([{"toolName": "Grep"}, {"toolName": "Glob"}]),
            "allow",
            "localSettings"
        )),
        "Read Grep Glob | Edit | /extra | default"
    );
    assert_eq!(
        apply(rules(
            "removeRules",
            json!([{"toolName": "Grep"}]),
            "allow",
            "session"
        )),
        "Read Grep Glob | Edit | /extra | default",
        "only where it lies"
    );
    assert_eq!(
        apply(rules(
            "removeRules",
            json!([{"toolName": "Grep"}]),
            "allow",
            "localSettings"
        )),
        "Read Glob | Edit | /extra | default"
    );
    assert_eq!(
        apply(json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"})),
        "Read Glob | Edit | /extra | acceptEdits"
    );
    assert_eq!(
        apply(
            json!({"type": "addDirectories", "directories": ["/a", "b/../c"], "destination": "cliArg"})
        ),
        "Read Glob | Edit | /extra /a /work/c | acceptEdits"
    );
    assert_eq!(
        apply(
            json!({"type": "removeDirectories", "directories": ["/extra"], "destination": "userSettings"})
        ),
        "Read Glob | Edit | /a /work/c | acceptEdits"
    );
    let again = SessionPermissions::restore(
        &policy,
        &environment,
        permissions.mode(),
        permissions.updates(),
    );
    assert_eq!(
        again.unwrap(),
        permissions,
        "mode and updates are all the state there is"
    );
}

#[test]
fn perm_6_updates_are_applied_all_or_none() {
    let policy = PermissionPolicy::default();
    let environment = environment();
    let mut permissions = SessionPermissions::new(&policy);
    let good = PermissionUpdate::allow_in_session(vec![RuleValue::tool("Note")]);
    for bad in [
        PermissionUpdate::allow_in_session(vec![RuleValue::some("Write", "x")]),
        PermissionUpdate::allow_in_session(vec![RuleValue::tool("Bash(x)")]),
        PermissionUpdate::SetMode {
            mode: Mode::BypassPermissions,
            destination: Destination::Session,
        },
        update(&json!({"type": "addDirectories", "directories": ["/"], "destination": "session"})),
        update(
            &json!({"type": "addDirectories", "directories": ["../.."], "destination": "session"}),
        ),
    ] {
        let before = permissions.clone();
        let both = [good.clone(), bad.clone()];
        assert!(
            permissions.apply(&policy, &environment, &both).is_err(),
            "{bad:?}"
        );
        assert_eq!(permissions, before);
    }
    for bad in [
        json!({"type": "addRules", "rules": [{"toolName": "A", "ruleContent": null}], "behavior": "allow", "destination": "session"}),
        json!({"type": "addRules", "rules": [], "behavior": "maybe", "destination": "session"}),
        json!({"type": "addRules", "rules": [], "behavior": "allow", "destination": "policySettings"}),
        json!({"type": "setMode", "mode": "auto-ish", "destination": "session"}),
        json!({"type": "other"}),
    ] {
        assert!(
            serde_json::from_value::<PermissionUpdate>(bad.clone()).is_err(),
            "{bad}"
        );
    }
}

#[test]
fn perm_13_each_suggestion_lets_the_call_run_unasked() {
    let environment = environment();
    for (tool, what) in [
        ("Bash", "npm run build --prod"),
        ("Bash", "echo 'a b' && make | tee x"),
        ("Bash", "find . -name '*.rs'"),
        ("Bash", "sudo reboot"),
        ("Bash", "touch made.txt"),
        ("Bash", "touch /etc/x"),
        ("Read", "/work/src/a"),
        ("Read", "/etc/hosts"),
        ("Read", "/hosts"),
        ("Edit", "/work/src/a"),
        ("Edit", "/etc/[id]/hosts"),
        ("Write", "/hosts"),
        ("WebFetch", "https://example.com/a"),
        ("WebFetch", "not an address"),
        ("Task", "Explore"),
        ("Skill", "pdf"),
        ("mcp__github__list", ""),
        ("Note", ""),
    ] {
        let call = Call::new(tool, what);
        let policy = PermissionPolicy::default();
        let context = PolicyContext::new(&policy.rules, Mode::Default, &environment);
        let decision = judge(&context, call.facts(), None);
        assert_eq!(decision.verdict, Verdict::Ask, "{tool} {what}");
        let updates = suggestions(&context, call.facts(), &decision);
        assert!(!updates.is_empty(), "{tool} {what}");
        let mut permissions = SessionPermissions::new(&policy);
        permissions.apply(&policy, &environment, &updates).unwrap();
        let after = PolicyContext {
            directories: permissions.directories(&environment),
            ..PolicyContext::new(permissions.rules(&policy), permissions.mode(), &environment)
        };
        let decision = judge(&after, call.facts(), None);
        assert_eq!(
            decision.verdict,
            Verdict::Allow,
            "{tool} {what}: {updates:?}"
        );
    }
    let rules = Rules {
        ask: parsed(&["Note"]),
        ..Rules::default()
    };
    let call = Call::new("Note", "");
    let context = PolicyContext::new(&rules, Mode::Default, &environment);
    let decision = judge(&context, call.facts(), None);
    assert_eq!(
        suggestions(&context, call.facts(), &decision),
        [],
        "no rule would help"
    );
}

/// A rule of the tool itself says nothing of other tools, and is all that lets one run that may send what it reads.
#[test]
fn perm_13_for_a_tool_of_a_plugin_a_rule_of_its_own_is_suggested() {
    let environment = environment();
    let policy = PermissionPolicy::default();
    let context = PolicyContext::new(&policy.rules, Mode::Default, &environment);
    for (access, sends) in [
        (Access::Read, false),
        (Access::Read, true),
        (Access::Write, false),
    ] {
        for path in ["/data/a.csv", "/work/a.csv"] {
            let mut call = Call::new("Count", path);
            let grant = PluginGrant::workspace(access).directory("/data", access);
            call.tool.grant = Some(grant);
            call.tool.annotations.open_world = sends;
            call.paths = vec![PathFact {
                path: path.into(),
                access,
                written: path.into(),
            }];
            let decision = judge(&context, call.facts(), None);
            if decision.verdict == Verdict::Allow {
                continue;
            }
            let updates = suggestions(&context, call.facts(), &decision);
            let folder = path.rsplit_once('/').unwrap().0;
            let rule = first_rule(&updates).unwrap();
            assert_eq!(rule, format!("Count(/{folder}/**)"), "{access:?} {sends}");
            // The folder itself is searched, too.
            call.paths[0].path = folder.into();
            let rules = allow(&[&rule]);
            let after = PolicyContext::new(&rules, Mode::Default, &environment);
            let decision = judge(&after, call.facts(), None);
            assert_eq!(
                decision.verdict,
                Verdict::Allow,
                "{access:?} {sends} {rule}"
            );
        }
    }
}

#[test]
fn perm_13_a_single_command_of_a_known_kind_suggests_its_beginning_too() {
    let environment = environment();
    let rules = Rules::default();
    let of = |line: &str| {
        let call = Call::new("Bash", line);
        let context = PolicyContext::new(&rules, Mode::Default, &environment);
        let decision = judge(&context, call.facts(), None);
        let mut found = Vec::new();
        for update in suggestions(&context, call.facts(), &decision) {
            if let PermissionUpdate::AddRules(change) = update {
                found.extend(change.rules.iter().map(RuleValue::to_string));
            }
        }
        found
    };
    assert_eq!(of("git log -1"), ["Bash(git log -1)", "Bash(git log:*)"]);
    assert_eq!(
        of("npm run a b"),
        ["Bash(npm run a b)", "Bash(npm run a:*)"]
    );
    assert_eq!(of("npm run"), ["Bash(npm run)"]);
    assert_eq!(of("git -C x log"), ["Bash(git -C x log)"]);
    assert_eq!(
        of("rm x y"),
        ["Bash(rm x y)"],
        "not a program with subcommands"
    );
    assert_eq!(of("git log && git diff"), ["Bash(git log && git diff)"]);
    assert_eq!(
        of("echo 'a*'"),
        ["Bash(echo 'a\\*')"],
        "a star in quotes stays one"
    );
}
