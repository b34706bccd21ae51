//! What people are told about rules: why, and which of them do nothing.

use serde_json::json;
use windlass_core::permission::{
    Fault, Fit, Layer, Layered, Mode, PermissionUpdate, PolicyContext, Source, Verdict, explain,
    judge, lint, misnamed,
};

use super::{Call, allow, deny, environment, layers::layer, parsed};

#[test]
fn an_explanation_names_every_rule_and_the_one_that_decides() {
    let environment = environment();
    let mut rules = allow(&["Bash(npm run:*)", "Read", "Bash(echo:*)"]);
    rules.deny = parsed(&["Bash(git push:*)"]);
    let of = |line: &str| {
        let call = Call::new("Bash", line);
        let policy = PolicyContext::new(&rules, Mode::Default, &environment);
        let explanation = explain(&policy, call.facts(), None);
        assert_eq!(explanation.decision, judge(&policy, call.facts(), None));
        explanation
    };
    let fits = |line| {
        of(line)
            .considered
            .iter()
            .map(|rule| rule.fit)
            .collect::<Vec<_>>()
    };
    use Fit::{Covers, OtherCall, OtherTool, Part, Perhaps};
    assert_eq!(fits("npm run x"), [OtherCall, Covers, OtherTool, OtherCall]);
    assert_eq!(
        fits("npm run x && make"),
        [OtherCall, Part, OtherTool, OtherCall]
    );
    assert_eq!(
        fits("git -C x push"),
        [Perhaps, OtherCall, OtherTool, OtherCall]
    );
    let both = of("npm run x && echo y");
    let deciding: Vec<bool> = both.considered.iter().map(|rule| rule.decides).collect();
    assert_eq!(deciding, [false, true, false, true]);
    let text = of("npm run x && make").to_string();
    for words in [
        "is asked about",
        "covers a part of the line",
        "Bash(npm run x && make)",
        "(options)",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    let data = serde_json::to_value(of("git push")).unwrap();
    assert_eq!(data["considered"][0]["decides"], true);
    assert_eq!(data["considered"][0]["rule"], "Bash(git push:*)");
    assert_eq!(data["decision"]["verdict"], "deny");
}

/// The complaints that users of such rules have.
#[test]
fn rules_that_do_nothing_are_found() {
    let tools = [
        "Bash", "Read", "Edit", "Write", "Grep", "WebFetch", "Task", "Note",
    ];
    for (allow, deny, fault, words) in [
        (
            &["Write(docs/**)"][..],
            &[] as &[&str],
            Fault::Invalid,
            "Edit(docs/**)",
        ),
        (&["Grep(docs/**)"], &[], Fault::Invalid, "Read(docs/**)"),
        (&["Bash(npm test"], &[], Fault::Invalid, "not closed"),
        (
            &["Bahs(npm test)"],
            &[],
            Fault::Invalid,
            "did you mean Bash",
        ),
        (&["bash"], &[], Fault::UnknownTool, "did you mean Bash"),
        (&["Quux"], &[], Fault::UnknownTool, "the tools are"),
        (
            &["Bash(command:rm *)"],
            &[],
            Fault::NeverMatches,
            "Bash(rm:*)",
        ),
        (&["Bash(cd:*)"], &[], Fault::Misleading, "needs its own"),
        (
            &["Bash(* --version)"],
            &[],
            Fault::Misleading,
            "every program",
        ),
        (
            &["Bash(npm test && make *)"],
            &[],
            Fault::NeverMatches,
            "command by command",
        ),
        (
            &["Bash(FOO=1 npm:*)"],
            &[],
            Fault::NeverMatches,
            "variables",
        ),
        (
            &["Bash(sudo apt:*)"],
            &[],
            Fault::NeverMatches,
            "always asked about",
        ),
        (
            &["Bash($X:*)"],
            &[],
            Fault::NeverMatches,
            "not the beginning",
        ),
        (
            &["Bash(timeout:*)"],
            &[],
            Fault::Misleading,
            "runs other commands",
        ),
        (
            &["Read(/Users/me/x)"],
            &[],
            Fault::Misleading,
            "Read(//Users/me/x)",
        ),
        (
            &["Read(/etc/hosts)"],
            &[],
            Fault::Misleading,
            "Read(//etc/hosts)",
        ),
        (&["Read(../x)"], &[], Fault::NeverMatches, "`..`"),
        (&["Read(~me/x)"], &[], Fault::NeverMatches, "`~/`"),
        (&["Read($HOME/x)"], &[], Fault::NeverMatches, "not expanded"),
        (&["Read(C:\\Users\\me)"], &[], Fault::NeverMatches, "`/`"),
        (&["mcp__*"], &[], Fault::Misleading, "name the server"),
        (
            &["mcp__github__.*"],
            &[],
            Fault::NeverMatches,
            "write mcp__github__*",
        ),
        (
            &["Bash(^git (push|pull).*$)"],
            &[],
            Fault::NeverMatches,
            "no regular expressions",
        ),
        (
            &["Bash(npm .*)"],
            &[],
            Fault::Misleading,
            "no regular expressions",
        ),
        (
            &["Read(^src/)"],
            &[],
            Fault::NeverMatches,
            "no regular expressions",
        ),
        (
            &["Read(src/.*\\.env)"],
            &[],
            Fault::NeverMatches,
            "no regular expressions",
        ),
        (&["Read(a|b)"], &[], Fault::NeverMatches, "Read({a,b})"),
        (&[], &["Read(//.env)"], Fault::Misleading, "Read(/.env)"),
    ] {
        let settings = json!({ "allow": allow, "deny": deny });
        let found = lint(&[layer(Source::UserSettings, true, &settings)], &tools);
        assert_eq!(found.len(), 1, "{allow:?}: {found:?}");
        assert_eq!(found[0].fault, fault, "{allow:?}: {found:?}");
        assert!(
            found[0].message.contains(words),
            "{allow:?}: {}",
            found[0].message
        );
        assert!(found[0].to_string().contains("user settings"));
    }
    let good = json!({
        "allow": ["Bash(npm run:*)", "Bash(git log *)", "Bash(git * main)", "Read(~/x/**)", "Read(//etc/hosts)",
            "Edit(/src/**)", "Read(*.{md,txt})", "WebFetch(domain:example.com)", "mcp__github", "Task(Explore)",
            "Bash(find . -name \\*.rs)"],
        "deny": ["Read(.env)", "Bash(rm:*)", "Bash(sudo:*)", "Edit(/.env)", "Edit(src/.*)", "Read(//home/me/.env)"],
    });
    let found = lint(&[layer(Source::UserSettings, true, &good)], &tools);
    assert_eq!(found, []);
}

/// Where a single `/` begins depends on the settings that a rule stands in: for a person's own it is not the project.
#[test]
fn a_pattern_that_begins_elsewhere_than_it_seems_is_found() {
    let of = |source, root: Option<&str>, rule: &str| {
        let settings = json!({ "deny": [rule] });
        let layer = Layer {
            root: root.map(ToOwned::to_owned),
            ..layer(source, true, &settings)
        };
        let environment = environment();
        let layered = Layered::of(std::slice::from_ref(&layer), &environment).unwrap();
        let policy = PolicyContext::new(&layered.rules, Mode::Default, &environment);
        let call = Call::new("Read", "/work/.env");
        let closed = judge(&policy, call.facts(), None).verdict == Verdict::Deny;
        (lint(&[layer], &[]), closed)
    };
    let (found, closed) = of(
        Source::UserSettings,
        Some("/home/me/.claude"),
        "Read(/.env)",
    );
    assert!(!closed, "it is about /home/me/.claude/.env");
    let [finding] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(finding.fault, Fault::Misleading);
    for words in [
        "/home/me/.claude",
        "Read(./.env)",
        "Read(.env)",
        "user settings",
    ] {
        assert!(finding.to_string().contains(words), "{words} in {finding}");
    }
    // What it says to write closes the file, and is not found fault with.
    for rule in ["Read(./.env)", "Read(.env)"] {
        assert_eq!(
            of(Source::UserSettings, Some("/home/me/.claude"), rule),
            (vec![], true),
            "{rule}"
        );
    }
    // In a project's settings it is the project's file that is meant.
    let project = of(Source::ProjectSettings, Some("/work"), "Read(/.env)");
    assert_eq!(project, (vec![], true));
    assert_eq!(of(Source::CliArg, None, "Read(/.env)"), (vec![], true));
}

/// What people complain of that is not the rule's fault: each is judged as they expect.
#[test]
fn complaints_that_no_rule_could_help_against_are_none_here() {
    let environment = environment();
    for (allowed, denied, line, expected) in [
        (
            &["Bash(echo *)"][..],
            &[] as &[&str],
            "echo x && rm y",
            Verdict::Ask,
        ),
        (&["Bash(cd:*)"], &[], "cd x && python3 y", Verdict::Ask),
        (
            &["Bash"],
            &["Bash(git push*)"],
            "git push --force",
            Verdict::Deny,
        ),
        (
            &["Bash"],
            &["Bash(git push*)"],
            "git -C p push",
            Verdict::Ask,
        ),
        (
            &["Bash"],
            &["Bash(git push*)"],
            "GIT_DIR=x git push",
            Verdict::Deny,
        ),
        (
            &["Bash"],
            &["Bash(git push*)"],
            "env A=1 git push",
            Verdict::Deny,
        ),
        (
            &["Bash(cargo build)", "Bash(cargo test:*)"],
            &[],
            "cargo build && cargo test -q",
            Verdict::Allow,
        ),
        (
            &["Bash(grep -c '\\*' x)"],
            &[],
            "grep -c '*' x",
            Verdict::Allow,
        ),
        (
            &["Bash(grep -c '\\*' x)"],
            &[],
            "grep -c 'secret' x",
            Verdict::Ask,
        ),
    ] {
        let mut rules = allow(allowed);
        rules.deny = parsed(denied);
        let policy = PolicyContext::new(&rules, Mode::Default, &environment);
        let call = Call::new("Bash", line);
        let verdict = judge(&policy, call.facts(), None).verdict;
        assert_eq!(verdict, expected, "{allowed:?}, {denied:?}: {line}");
    }
}

#[test]
fn rules_that_another_rule_decides_before_are_found() {
    for (stronger, weaker, expected) in [
        ("Bash", "Bash(npm test)", true),
        ("Bash(npm:*)", "Bash(npm run x:*)", true),
        ("Bash(npm:*)", "Bash(npm run *)", true),
        ("Bash(npm*)", "Bash(npmx:*)", true),
        ("Bash(git * main)", "Bash(git push main)", true),
        ("Bash(npm run:*)", "Bash(npm:*)", false),
        ("Bash(npm test)", "Bash(npm test:*)", false),
        ("Bash(git * main)", "Bash(git push *)", false),
        ("Read", "Read(/src/**)", true),
        ("Read(/src/**)", "Read(/src/a.rs)", true),
        ("Read(/src/**)", "Read(/src/deep/**)", true),
        ("Read(/src/**)", "Edit(/src/a.rs)", true),
        ("Edit(/src/**)", "Read(/src/a.rs)", false),
        ("Read(/src/a.rs)", "Read(/src/**)", false),
        ("Read(/src/**)", "Read(src/a.rs)", false),
        ("Read(*.rs)", "Read(a.rs)", true),
        ("Edit", "Write", true),
        ("mcp__github", "mcp__github__list", true),
        ("mcp__*", "mcp__github", true),
        ("mcp__github__list", "mcp__github", false),
        (
            "WebFetch(domain:example.com)",
            "WebFetch(domain:docs.example.com)",
            true,
        ),
        (
            "WebFetch(domain:docs.example.com)",
            "WebFetch(domain:example.com)",
            false,
        ),
        ("Skill(docs:*)", "Skill(docs:pdf)", true),
    ] {
        for (list, other) in [("deny", "allow"), ("deny", "ask"), ("ask", "allow")] {
            let settings = json!({ list: [stronger], other: [weaker] });
            let found = lint(&[layer(Source::CliArg, true, &settings)], &[]);
            let shadowed = found
                .iter()
                .any(|one| matches!(one.fault, Fault::ShadowedBy(_)) && one.name.rule == weaker);
            assert_eq!(
                shadowed, expected,
                "{list} {stronger}, {other} {weaker}: {found:?}"
            );
        }
        let settings = json!({ "allow": [weaker, stronger] });
        let found = lint(&[layer(Source::CliArg, true, &settings)], &[]);
        let covered = found
            .iter()
            .any(|one| matches!(one.fault, Fault::CoveredBy(_)) && one.name.rule == weaker);
        assert_eq!(covered, expected, "{stronger}, {weaker}: {found:?}");
    }
    let twice = json!({ "deny": ["Bash(rm:*)", "Bash(rm *)"] });
    assert_eq!(lint(&[layer(Source::CliArg, true, &twice)], &[]).len(), 1);
}

#[test]
fn perm_4_a_rule_that_forbids_and_is_misspelt_is_found_with_what_was_meant() {
    let tools = ["Bash", "Read", "Edit", "Write", "mcp__db__query", "Deploy"];
    let meant = |rule: &str| -> Option<Option<String>> {
        let found = misnamed(&deny(&[rule]), &tools);
        let mut ask = deny(&[]);
        ask.ask = parsed(&[rule]);
        assert_eq!(misnamed(&ask, &tools).len(), found.len(), "{rule}");
        // Who allows too little is asked.
        assert!(misnamed(&allow(&[rule]), &tools).is_empty(), "{rule}");
        found.into_iter().next().map(|it| it.meant)
    };
    for (rule, expected) in [
        ("bash", "Bash"),
        ("Bashh", "Bash"),
        ("Wrte", "Write"),
        ("Reed", "Read"),
        ("Webfetch", "WebFetch"),
        ("Deplo", "Deploy"),
    ] {
        assert_eq!(meant(rule), Some(Some(expected.to_owned())), "{rule}");
    }
    for known in [
        "Bash(rm:*)",
        "Agent",
        "KillBash",
        "WebFetch(domain:a.test)",
        "WebSearch",
        "NotebookEdit",
        "mcp__github",
        "mcp__db__drop",
        "Skill(docs)",
        "Deploy",
    ] {
        assert_eq!(meant(known), None, "{known}");
    }
    assert_eq!(meant("Teleport"), Some(None));
}

#[test]
fn perm_13_what_is_suggested_was_tried() {
    let environment = environment();
    let suggested = |deny: &[&str], line: &str| {
        let mut rules = allow(&[]);
        rules.deny = parsed(deny);
        let policy = PolicyContext::new(&rules, Mode::Default, &environment);
        let call = Call::new("Bash", line);
        explain(&policy, call.facts(), None).would_allow
    };
    let first = |deny: &[&str], line: &str| match suggested(deny, line).into_iter().next() {
        Some(PermissionUpdate::AddRules(change)) => change.rules.first().map(ToString::to_string),
        _ => None,
    };
    let line = |line: &str| Some(format!("Bash({line})"));
    assert_eq!(first(&[], "make"), line("make"));
    // A place is let be changed by its name.
    assert_eq!(first(&[], "touch .bashrc"), line("touch .bashrc"));
    for (deny, line) in [
        (&["Read(.env)"][..], "cat .env"),
        (&["Bash(git push:*)"], "git $x"),
        (&["Bash(rm:*)"], "f() { make; }; f"),
        (&[], "x=.bash; cd; touch .ssh/x"),
    ] {
        let none = suggested(deny, line);
        let is_for_line = |it: &PermissionUpdate| matches!(it, PermissionUpdate::AddRules(_));
        assert!(
            none.is_empty() || deny.is_empty() && none.iter().all(is_for_line),
            "{line}: {none:?}"
        );
    }
}
