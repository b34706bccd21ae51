//! Commands that the operating system confines.

use serde_json::json;
use windlass_core::{
    RawJson,
    permission::{
        Behavior, CallSubject, Cause, CommandConfinement, Decision, HookVerdict, Mode,
        PolicyContext, Rules, Verdict, judge,
    },
};

use super::{allow, environment, parsed, tool};

fn confinement() -> CommandConfinement {
    CommandConfinement::new(true, true, ["docker", "npm run deploy"]).unwrap()
}

fn decide(
    confinement: &CommandConfinement,
    rules: &Rules,
    mode: Mode,
    (line, outside): (&str, bool),
    hook: Option<&HookVerdict>,
) -> Decision {
    let environment = environment();
    let policy = PolicyContext {
        confinement: Some(confinement),
        ..PolicyContext::new(rules, mode, &environment)
    };
    let bash = tool("Bash");
    let input = json!({"command": line, "dangerouslyDisableSandbox": outside});
    let subject = CallSubject::of(&bash, &RawJson::parse(input.to_string()).unwrap(), "/w");
    judge(&policy, subject.facts(&bash, &[]), hook)
}

#[test]
fn conf_10_a_confined_line_runs_unasked_whatever_it_is() {
    let none = Rules::default();
    for line in [
        "make",
        "f() { x; }; f",
        "a $(b) <(c)",
        "eval \"$x\"",
        "docker ps; make",
    ] {
        for mode in [Mode::Default, Mode::AcceptEdits, Mode::DontAsk] {
            let decision = decide(&confinement(), &none, mode, (line, false), None);
            assert_eq!(
                (decision.verdict, decision.cause),
                (Verdict::Allow, Cause::Confined),
                "{line}"
            );
        }
    }
    let decision = decide(&confinement(), &none, Mode::Plan, ("make", false), None);
    assert_eq!(decision.verdict, Verdict::Deny);
    let asks = CommandConfinement::new(false, true, [""; 0]).unwrap();
    let decision = decide(&asks, &none, Mode::Default, ("make", false), None);
    assert_eq!(decision.verdict, Verdict::Ask);
}

#[test]
fn conf_10_rules_and_hooks_that_deny_or_ask_come_first() {
    let mut rules = Rules {
        deny: parsed(&["Bash(rm:*)"]),
        ask: parsed(&["Bash(git push:*)"]),
        ..Rules::default()
    };
    let verdict = |rules: &Rules, line, hook: Option<Behavior>| {
        let hook = hook.map(|behavior| HookVerdict {
            behavior,
            reason: None,
        });
        decide(
            &confinement(),
            rules,
            Mode::Default,
            (line, false),
            hook.as_ref(),
        )
        .verdict
    };
    assert_eq!(verdict(&rules, "rm x", None), Verdict::Deny);
    assert_eq!(verdict(&rules, "make; rm x", None), Verdict::Deny);
    assert_eq!(verdict(&rules, "git push", None), Verdict::Ask);
    // What cannot be read may be what they mean.
    assert_eq!(verdict(&rules, "f() { x; }; f", None), Verdict::Ask);
    rules = Rules::default();
    assert_eq!(verdict(&rules, "make", Some(Behavior::Deny)), Verdict::Deny);
    assert_eq!(verdict(&rules, "make", Some(Behavior::Ask)), Verdict::Ask);
}

#[test]
fn conf_10_excluded_is_a_line_of_which_every_command_is() {
    let none = Rules::default();
    for (line, excluded) in [
        ("docker ps", true),
        ("docker", true),
        ("docker build . && docker run x", true),
        ("docker ps | docker inspect -", true),
        ("npm run deploy --now", true),
        ("npm run build", false),
        ("dockerd", false),
        ("docker ps; make", false),
        ("docker ps $(make)", false),
        ("docker ps && echo done", false),
        ("PATH=x docker ps", false),
        ("./docker ps", false),
        ("sudo docker ps", false),
        ("sh -c 'docker ps'", false),
        ("docker ps <(make)", false),
        ("f() { docker; }; f", false),
        ("", false),
    ] {
        let decision = decide(&confinement(), &none, Mode::Default, (line, false), None);
        // Nothing lets an excluded command run unasked; everything else is confined.
        let expected = if excluded {
            Verdict::Ask
        } else {
            Verdict::Allow
        };
        assert_eq!(decision.verdict, expected, "{line}");
    }
    let rules = allow(&["Bash(docker ps:*)"]);
    let decision = decide(
        &confinement(),
        &rules,
        Mode::Default,
        ("docker ps", false),
        None,
    );
    assert_eq!(decision.verdict, Verdict::Allow);
    CommandConfinement::new(true, true, ["*"]).expect_err("a pattern for everything");
}

#[test]
fn conf_10_a_call_that_asks_to_run_outside_is_judged_like_any_other_or_refused() {
    let none = Rules::default();
    let rules = allow(&["Bash(make)"]);
    let verdict = |confinement: &CommandConfinement, rules: &Rules, mode| {
        decide(confinement, rules, mode, ("make", true), None).verdict
    };
    assert_eq!(verdict(&confinement(), &none, Mode::Default), Verdict::Ask);
    assert_eq!(verdict(&confinement(), &none, Mode::DontAsk), Verdict::Deny);
    assert_eq!(
        verdict(&confinement(), &rules, Mode::Default),
        Verdict::Allow
    );
    assert_eq!(
        verdict(&confinement(), &none, Mode::BypassPermissions),
        Verdict::Allow
    );
    let never = CommandConfinement::new(true, false, [""; 0]).unwrap();
    for mode in [Mode::Default, Mode::DontAsk, Mode::BypassPermissions] {
        assert_eq!(verdict(&never, &rules, mode), Verdict::Deny);
    }
}
