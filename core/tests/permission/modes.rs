//! Modes, and the order in which everything has its say.

use windlass_core::{
    permission::{
        Behavior, CallFacts, Cause, HookVerdict, Mode, Narrowing, PolicyContext, Rule, Rules,
        SessionPermissions, UpdateError, Verdict, judge,
    },
    spec::{Environment, PermissionPolicy},
};

use super::{Call, accepting_edits, allow, environment, parsed, verdict};

#[test]
fn perm_2_accept_edits_runs_plain_file_commands_in_the_workspace() {
    let mut rules = allow(&["Bash(npm test)"]);
    rules.deny = parsed(&["Edit(locked/**)"]);
    for (line, expected) in [
        ("mkdir -p a/b", Verdict::Allow),
        ("touch a /extra/b", Verdict::Allow),
        ("rm -rf build", Verdict::Allow),
        ("mv a b && cp -r b c", Verdict::Allow),
        ("mkdir a && npm test > a/log", Verdict::Allow),
        ("echo text > a", Verdict::Allow),
        ("mkdir -p a && printf '%s\\n' text >> a/b", Verdict::Allow),
        ("echo \"$HOME\" > a", Verdict::Ask),
        ("echo text > ../a", Verdict::Ask),
        ("echo text > .git/config", Verdict::Ask),
        ("find . | xargs echo > a", Verdict::Ask),
        ("cat b > a", Verdict::Ask),
        ("rm -rf .", Verdict::Ask),
        ("rm -rf /work", Verdict::Ask),
        ("rm -rf ../x", Verdict::Ask),
        ("cp /etc/passwd a", Verdict::Ask),
        ("cp a /etc/passwd", Verdict::Ask),
        ("rm *.o", Verdict::Allow),
        ("rm $X", Verdict::Ask),
        ("rm --no-preserve-root a", Verdict::Ask),
        ("cp -L a b", Verdict::Ask),
        ("cp -rL a b", Verdict::Ask),
        ("cp -H a b", Verdict::Ask),
        ("mkdir a && make", Verdict::Ask),
        ("X=1 mkdir a", Verdict::Ask),
        ("./mkdir a", Verdict::Ask),
        ("mv locked open", Verdict::Ask),
        ("cp -r locked open", Verdict::Ask),
        ("rm -rf locked", Verdict::Ask),
        ("rm locked/key", Verdict::Deny),
        ("ls", Verdict::Ask),
        ("true", Verdict::Ask),
    ] {
        let call = Call::new("Bash", line);
        assert_eq!(
            verdict(&rules, Mode::AcceptEdits, &call),
            expected,
            "{line}"
        );
        assert_eq!(verdict(&rules, Mode::Auto, &call), expected, "{line}");
        let plain = verdict(&rules, Mode::Default, &call);
        assert_ne!(plain, Verdict::Allow, "{line}");
    }
}

#[test]
fn perm_2_auto_accepts_edits_in_the_workspace_and_leaves_the_rest_to_rules_and_people() {
    let none = Rules::default();
    let rules = allow(&["Bash(make:*)", "Task"]);
    for (tool, what, unasked, by_rule) in [
        ("Edit", "/work/a", Verdict::Allow, Verdict::Allow),
        ("Edit", "/extra/a", Verdict::Allow, Verdict::Allow),
        ("Edit", "/etc/a", Verdict::Ask, Verdict::Ask),
        ("Bash", "mkdir a", Verdict::Allow, Verdict::Allow),
        ("Bash", "make all", Verdict::Ask, Verdict::Allow),
        ("Bash", "curl x", Verdict::Ask, Verdict::Ask),
        ("Task", "", Verdict::Ask, Verdict::Allow),
        ("mcp__calc__add", "", Verdict::Ask, Verdict::Ask),
        (
            "Edit",
            "/work/.claude/settings.json",
            Verdict::Ask,
            Verdict::Ask,
        ),
        (
            "Edit",
            "/work/.git/hooks/pre-commit",
            Verdict::Ask,
            Verdict::Ask,
        ),
        ("Edit", "/work/.mcp.json", Verdict::Ask, Verdict::Ask),
        (
            "Bash",
            "touch .git/hooks/pre-push",
            Verdict::Ask,
            Verdict::Ask,
        ),
    ] {
        let call = Call::new(tool, what);
        for mode in [Mode::Auto, Mode::AcceptEdits] {
            assert_eq!(verdict(&none, mode, &call), unasked, "{mode:?} {what}");
            assert_eq!(verdict(&rules, mode, &call), by_rule, "{mode:?} {what}");
        }
    }
}

#[test]
fn perm_4_more_files_than_are_looked_at_are_asked_about_while_rules_close_files() {
    let line = |count: usize| format!("cat {}", vec!["a"; count].join(" "));
    let mut rules = allow(&["Bash(cat:*)"]);
    let of = |rules: &_, count| verdict(rules, Mode::Default, &Call::new("Bash", &line(count)));
    assert_eq!(of(&rules, 65), Verdict::Allow);
    rules.deny = parsed(&["Read(.env)"]);
    assert_eq!(of(&rules, 64), Verdict::Allow);
    assert_eq!(of(&rules, 65), Verdict::Ask);
}

#[test]
fn perm_2_plan_mode_changes_nothing_and_lets_plans_be_made() {
    let rules = allow(&["Edit", "Bash", "Read", "TodoWrite", "Task"]);
    for (tool, expected) in [
        ("Read", Verdict::Allow),
        ("Edit", Verdict::Deny),
        ("Bash", Verdict::Deny),
        ("mcp__x__y", Verdict::Deny),
        ("TodoWrite", Verdict::Allow),
        ("Task", Verdict::Allow),
        ("ExitPlanMode", Verdict::Ask),
        ("AskUserQuestion", Verdict::Ask),
    ] {
        let call = Call::new(tool, "/work/a");
        assert_eq!(verdict(&rules, Mode::Plan, &call), expected, "{tool}");
    }
}

#[test]
fn perm_2_bypass_needs_leave_and_is_not_for_root() {
    let set = |allow_bypass, is_root| {
        let policy = PermissionPolicy {
            allow_bypass,
            ..PermissionPolicy::default()
        };
        let environment = Environment {
            is_root,
            ..environment()
        };
        let mut permissions = SessionPermissions::new(&policy);
        let done = permissions.set_mode(&policy, &environment, Mode::BypassPermissions);
        assert_eq!(permissions.mode() == Mode::BypassPermissions, done.is_ok());
        done
    };
    assert_eq!(set(false, false), Err(UpdateError::BypassNotAllowed));
    assert_eq!(set(true, true), Err(UpdateError::BypassAsRoot));
    assert_eq!(set(true, false), Ok(()));
}

#[test]
fn perm_15_dont_ask_denies_whatever_no_rule_allows() {
    let mut rules = allow(&["Read(/src/**)"]);
    rules.ask = parsed(&["WebFetch"]);
    for (tool, what, expected) in [
        ("Read", "/work/src/a", Verdict::Allow),
        ("Read", "/work/a", Verdict::Deny),
        ("WebFetch", "https://example.com", Verdict::Deny),
        ("AskUserQuestion", "", Verdict::Deny),
        ("Bash", "ls", Verdict::Deny),
    ] {
        assert_eq!(
            verdict(&rules, Mode::DontAsk, &Call::new(tool, what)),
            expected,
            "{tool}"
        );
    }
}

#[test]
fn perm_1_hooks_and_rules_in_their_order() {
    let environment = environment();
    let rules = Rules {
        deny: parsed(&["Bash(rm:*)"]),
        ask: parsed(&["Bash(git push:*)"]),
        allow: parsed(&["Bash(ls:*)"]),
        ..Rules::default()
    };
    for (hook, line, mode, expected) in [
        (Behavior::Deny, "ls", Mode::BypassPermissions, Verdict::Deny),
        (Behavior::Ask, "ls", Mode::BypassPermissions, Verdict::Ask),
        (Behavior::Ask, "ls", Mode::DontAsk, Verdict::Deny),
        (Behavior::Allow, "make", Mode::Default, Verdict::Allow),
        (Behavior::Allow, "make", Mode::DontAsk, Verdict::Allow),
        (Behavior::Allow, "make", Mode::Plan, Verdict::Deny),
        (
            Behavior::Allow,
            "rm x",
            Mode::BypassPermissions,
            Verdict::Deny,
        ),
        (
            Behavior::Allow,
            "git push",
            Mode::BypassPermissions,
            Verdict::Ask,
        ),
    ] {
        let call = Call::new("Bash", line);
        let hook = HookVerdict {
            behavior: hook,
            reason: Some("so it is".into()),
        };
        let context = PolicyContext::new(&rules, mode, &environment);
        let decision = judge(&context, call.facts(), Some(&hook));
        assert_eq!(decision.verdict, expected, "{hook:?} {line} {mode:?}");
    }
}

#[test]
fn sub_3_a_subagent_has_at_most_what_its_parent_has() {
    let environment = environment();
    let list = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    for session in Mode::ALL {
        for wanted in Mode::ALL {
            let narrowing =
                Narrowing::of_agent(None, &list(&["Bash(rm:*)"]), Some(wanted)).unwrap();
            for call in [
                Call::new("Edit", "/work/a"),
                Call::new("Edit", "/etc/a"),
                Call::new("Read", "/work/a"),
                Call::new("Bash", "mkdir a"),
                Call::new("Bash", "rm a"),
                Call::new("Bash", "ls"),
            ] {
                let rules = allow(&["Bash(ls)"]);
                let context = PolicyContext::new(&rules, session, &environment);
                let parent = judge(&context, call.facts(), None).verdict;
                let narrowed = PolicyContext {
                    narrowing: Some(&narrowing),
                    ..context
                };
                let child = judge(&narrowed, call.facts(), None).verdict;
                let width = |verdict| match verdict {
                    Verdict::Deny => 0,
                    Verdict::Ask => 1,
                    Verdict::Allow => 2,
                };
                assert!(width(child) <= width(parent), "{session:?} {wanted:?}");
            }
        }
    }
    let some = Narrowing::of_agent(
        Some(&list(&["Read", "Bash", "mcp__x"])),
        &list(&["Bash"]),
        None,
    )
    .unwrap();
    let offered = ["Read", "Bash", "Edit", "mcp__x__y"].map(|tool| some.offers(tool));
    assert_eq!(offered, [true, false, false, true]);
    let below = Narrowing::of_agent(Some(&list(&["Read", "Edit"])), &[], None).unwrap();
    let both = some.further(&below);
    assert!(both.offers("Read") && !both.offers("Edit"));
    assert!(Narrowing::of_agent(None, &list(&["Bash("]), None).is_err());
}

#[test]
fn perm_11_a_file_outside_the_workspace_is_asked_about_with_its_path() {
    let environment = environment();
    let rules = Rules::default();
    for (tool, what) in [
        ("Read", "/etc/a"),
        ("Edit", "/etc/a"),
        ("Bash", "touch /etc/a"),
    ] {
        let call = Call::new(tool, what);
        let context = PolicyContext {
            free_workspace_reads: true,
            ..PolicyContext::new(&rules, Mode::AcceptEdits, &environment)
        };
        let decision = judge(&context, call.facts(), None);
        assert_eq!(
            decision.cause,
            Cause::OutsideWorkspace("/etc/a".into()),
            "{tool}"
        );
        assert_eq!(decision.verdict, Verdict::Ask);
    }
}

#[test]
fn perm_4_a_line_that_asks_for_nothing_says_so_and_one_that_only_enters_folders_runs() {
    let environment = environment();
    let rules = allow(&[]);
    let judged = |line: &str| {
        let context = PolicyContext {
            free_workspace_reads: true,
            ..PolicyContext::new(&rules, Mode::Default, &environment)
        };
        judge(&context, Call::new("Bash", line).facts(), None)
    };
    for line in ["# comment", "", "  "] {
        let decision = judged(line);
        assert_eq!(decision.verdict, Verdict::Ask, "{line}");
        let words = decision.cause.explain();
        assert!(words.contains("it holds no command"), "{line}: {words}");
    }
    for line in ["cd d; pwd", "cd d && echo here"] {
        assert_eq!(judged(line).verdict, Verdict::Allow, "{line}");
    }
    for line in ["cd ..; pwd", "cd $d; pwd", "cd d; ls"] {
        assert_eq!(judged(line).verdict, Verdict::Ask, "{line}");
    }
}

#[test]
fn perm_4_a_line_that_only_speaks_runs_unasked_where_reading_does() {
    let environment = environment();
    let rules = Rules::default();
    let verdict = |free, what: &str| {
        let context = PolicyContext {
            free_workspace_reads: free,
            ..PolicyContext::new(&rules, Mode::Default, &environment)
        };
        judge(&context, Call::new("Bash", what).facts(), None).verdict
    };
    for line in [
        "echo hello",
        "pwd && printf '%s\\n' done",
        "true; echo 'a > b'",
    ] {
        assert_eq!(verdict(true, line), Verdict::Allow, "{line}");
        assert_eq!(verdict(false, line), Verdict::Ask, "{line}");
    }
    for line in [
        "echo hello > file",
        "echo $API_KEY",
        "echo $(cat secret)",
        "echo hello | sh",
        "X=1 echo hello",
        "env echo hello",
        "echo hello && touch x",
        "./echo hello",
        "",
    ] {
        assert_ne!(verdict(true, line), Verdict::Allow, "{line}");
    }
}

#[test]
fn perm_4_a_program_of_a_folder_is_not_what_the_shell_does_by_itself() {
    let environment = environment();
    let mut rules = Rules::default();
    rules.allow.push(Rule::parse("Bash(ls:*)").unwrap());
    let context = PolicyContext::new(&rules, Mode::Default, &environment);
    let verdict = |what: &str| judge(&context, Call::new("Bash", what).facts(), None).verdict;
    assert_eq!(verdict("ls && true"), Verdict::Allow);
    for line in ["ls && ./true", "ls && /tmp/pwd", "ls && bin/test -e x"] {
        assert_eq!(verdict(line), Verdict::Ask, "{line}");
    }
}

#[test]
fn api_3_a_guarded_server_is_judged_as_if_permissions_were_not_bypassed() {
    let environment = environment();
    let rules = allow(&["mcp__calc__add"]);
    let guarded = ["mcp__calc__".to_owned()];
    for (mode, name, expected) in [
        (Mode::BypassPermissions, "mcp__calc__mul", Verdict::Ask),
        (Mode::BypassPermissions, "mcp__calc__add", Verdict::Allow),
        (
            Mode::BypassPermissions,
            "mcp__calculus__mul",
            Verdict::Allow,
        ),
        (Mode::BypassPermissions, "Bash", Verdict::Allow),
        (Mode::Default, "mcp__calc__mul", Verdict::Ask),
        (Mode::DontAsk, "mcp__calc__mul", Verdict::Deny),
    ] {
        let context = PolicyContext {
            guarded: &guarded,
            ..PolicyContext::new(&rules, mode, &environment)
        };
        let tool = super::tool(name);
        let decision = judge(&context, CallFacts::of(&tool), None);
        assert_eq!(decision.verdict, expected, "{mode:?} {name}");
    }
}

#[test]
fn perm_4_what_another_program_starts_in_its_own_way_is_no_accepted_edit() {
    for line in [
        "find . -maxdepth 0 -exec touch a \\;",
        "find . -maxdepth 0 -exec timeout 5 mkdir a \\;",
        "timeout 5 sh -c 'touch a'",
        "nice bash -c 'true && rm a'",
        "timeout 5 sh -c 'cd d && { mv a b; }'",
    ] {
        assert_eq!(accepting_edits(line), Verdict::Ask, "{line}");
    }
    for line in [
        "timeout 5 touch a",
        "nice -n 5 timeout 5 mkdir a",
        "sh -c 'touch a'",
        "bash -c 'cd d && rm a' && touch b",
        "timeout 5 sh -c true && touch b",
    ] {
        assert_eq!(accepting_edits(line), Verdict::Allow, "{line}");
    }
}
