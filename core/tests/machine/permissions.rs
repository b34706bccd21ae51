//! Which calls run, which are asked about, which are denied, and what the model and the result say of it.

use serde_json::json;
use windlass_core::{
    Input, Spec,
    effect::PermissionResponse,
    permission::{
        CallFacts, Cause, CommandLine, Mode, PathFact, PermissionUpdate, PolicyContext, RuleValue,
        Rules, Verdict, judge,
    },
    spec::Environment,
    tool::{Access, ToolDefinition},
};

use crate::harness::{Bench, CWD, Reply, asking_spec, bash, file_tool, raw, rules, tool, tool_use};

const READ: &str = "Read";
const EDIT: &str = "Edit";

fn environment() -> Environment {
    Environment {
        cwd: CWD.into(),
        home: Some("/home/me".into()),
        additional_directories: vec!["/extra".into()],
        ..Environment::default()
    }
}

struct Policy {
    deny: &'static [&'static str],
    ask: &'static [&'static str],
    allow: &'static [&'static str],
    free_reads: bool,
}

const NONE: Policy = Policy {
    deny: &[],
    ask: &[],
    allow: &[],
    free_reads: false,
};

fn verdict(
    policy: &Policy,
    mode: Mode,
    tool: &ToolDefinition,
    command: Option<&str>,
    path: Option<&str>,
) -> (Verdict, Cause) {
    let access = if tool.edits_files() {
        Access::Write
    } else {
        Access::Read
    };
    let mut paths: Vec<PathFact> = (path.into_iter()).map(|path| fact(path, access)).collect();
    let line = command.map(|command| CommandLine::read(command, CWD));
    paths.extend(line.iter().flat_map(resolved));
    let rules = Rules {
        allow: rules(policy.allow),
        ask: rules(policy.ask),
        deny: rules(policy.deny),
        ..Rules::default()
    };
    let environment = environment();
    let context = PolicyContext {
        free_workspace_reads: policy.free_reads,
        ..PolicyContext::new(&rules, mode, &environment)
    };
    let call = CallFacts {
        command: line.as_ref(),
        paths: &paths,
        ..CallFacts::of(tool)
    };
    let decision = judge(&context, call, None);
    (decision.verdict, decision.cause)
}

fn fact(path: &str, access: Access) -> PathFact {
    PathFact {
        path: path.into(),
        access,
        written: path.into(),
    }
}

/// What a host without links says about the files of a command.
fn resolved(line: &CommandLine) -> Vec<PathFact> {
    let real = |path: &str| {
        let mut parts: Vec<&str> = Vec::new();
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        format!("/{}", parts.join("/"))
    };
    line.paths()
        .into_iter()
        .map(|asked| PathFact {
            path: real(&asked.path),
            access: asked.access,
            written: asked.path,
        })
        .collect()
}

fn of_command(policy: &Policy, mode: Mode, command: &str) -> Verdict {
    verdict(policy, mode, &bash(), Some(command), None).0
}

fn of_file(policy: &Policy, mode: Mode, name: &str, path: &str) -> Verdict {
    let access = if name == EDIT {
        Access::Write
    } else {
        Access::Read
    };
    verdict(policy, mode, &file_tool(name, access), None, Some(path)).0
}

#[test]
fn perm_1_deny_comes_before_ask_before_allow_before_mode() {
    let all = Policy {
        deny: &["Note"],
        ask: &["Note"],
        allow: &["Note"],
        ..NONE
    };
    let ask = Policy { deny: &[], ..all };
    let allow = Policy { ask: &[], ..ask };
    let note = tool("Note");
    let of = |policy: &Policy, mode| verdict(policy, mode, &note, None, None).0;
    for mode in Mode::ALL {
        assert_eq!(of(&all, mode), Verdict::Deny, "{mode:?}");
    }
    for (mode, expected) in [
        (Mode::Default, Verdict::Ask),
        (Mode::AcceptEdits, Verdict::Ask),
        (Mode::BypassPermissions, Verdict::Ask),
        (Mode::DontAsk, Verdict::Deny),
        (Mode::Plan, Verdict::Deny),
    ] {
        assert_eq!(of(&ask, mode), expected, "ask rule in {mode:?}");
    }
    for (mode, expected) in [
        (Mode::Default, Verdict::Allow),
        (Mode::AcceptEdits, Verdict::Allow),
        (Mode::BypassPermissions, Verdict::Allow),
        (Mode::DontAsk, Verdict::Allow),
        (Mode::Plan, Verdict::Deny),
    ] {
        assert_eq!(of(&allow, mode), expected, "allow rule in {mode:?}");
    }
    for (mode, expected) in [
        (Mode::Default, Verdict::Ask),
        (Mode::AcceptEdits, Verdict::Ask),
        (Mode::BypassPermissions, Verdict::Allow),
        (Mode::DontAsk, Verdict::Deny),
        (Mode::Plan, Verdict::Deny),
    ] {
        assert_eq!(of(&NONE, mode), expected, "no rule in {mode:?}");
    }
}

#[test]
fn perm_1_nobody_to_ask_means_no_and_the_model_reads_what_would_allow_it() {
    let mut spec = asking_spec(vec![bash()]);
    spec.policy.permissions.can_ask = false;
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.reply(&Reply::message(&[
        tool_use("a", "Bash", json!({"command": "npm test"})),
        tool_use("b", "Bash", json!({"command": "npm test && rm -rf /"})),
    ]));
    bench.resolve();
    let results = bench.body()["messages"][2]["content"].clone();
    let plain = results[0]["content"].as_str().unwrap();
    assert!(plain.contains("Bash(npm test)"), "{plain}");
    let compound = results[1]["content"].as_str().unwrap();
    assert!(
        compound.contains("Bash(npm test && rm -rf /)"),
        "this very line, nothing wider: {compound}"
    );
    assert_eq!(bench.body()["messages"][2]["content"][0]["is_error"], true);
}

#[test]
fn perm_1_somebody_who_is_asked_learns_the_call_the_reason_and_a_rule() {
    let mut bench = Bench::new(asking_spec(vec![bash(), file_tool("Read", Access::Read)]));
    bench.prompt("go");
    bench.reply(&Reply::message(&[
        tool_use("a", "Bash", json!({"command": "npm test"})),
        tool_use("b", "Bash", json!({"command": "npm test | tail"})),
        tool_use("c", "Read", json!({"file_path": "/etc/passwd"})),
    ]));
    let question = bench.question().1;
    assert_eq!(question.tool_use_id, "a");
    assert_eq!(question.tool_name, "Bash");
    assert_eq!(question.input.get(), r#"{"command":"npm test"}"#);
    assert_eq!(question.suggested_rule().as_deref(), Some("Bash(npm test)"));
    assert_eq!(question.blocked_path, None);
    assert!(!question.decision_reason.is_empty());
    bench.decide(PermissionResponse::allow());
    bench.finish("a", "ok");
    assert_eq!(
        bench.question().1.suggested_rule().as_deref(),
        Some("Bash(npm test | tail)"),
        "this very line, nothing wider"
    );
    bench.decide(PermissionResponse::deny("no"));
    bench.resolve();
    let question = bench.question().1;
    assert_eq!(question.blocked_path.as_deref(), Some("/etc/passwd"));
}

#[test]
fn perm_1_edits_inside_the_workspace_run_unasked_in_accept_edits_only() {
    for (mode, path, expected) in [
        (Mode::AcceptEdits, "/work/a.rs", Verdict::Allow),
        (Mode::AcceptEdits, "/extra/a.rs", Verdict::Allow),
        (Mode::AcceptEdits, "/workshop/a.rs", Verdict::Ask),
        (Mode::AcceptEdits, "/etc/passwd", Verdict::Ask),
        (Mode::Default, "/work/a.rs", Verdict::Ask),
        (Mode::DontAsk, "/work/a.rs", Verdict::Deny),
        (Mode::Plan, "/work/a.rs", Verdict::Deny),
        (Mode::BypassPermissions, "/etc/passwd", Verdict::Allow),
    ] {
        assert_eq!(
            of_file(&NONE, mode, EDIT, path),
            expected,
            "{mode:?} {path}"
        );
    }
    // Accepting edits accepts neither commands nor reading elsewhere.
    assert_eq!(of_command(&NONE, Mode::AcceptEdits, "ls"), Verdict::Ask);
    assert_eq!(
        of_file(&NONE, Mode::AcceptEdits, READ, "/work/a"),
        Verdict::Ask
    );
}

#[test]
fn perm_1_reading_the_workspace_is_free_where_the_setting_says_so() {
    let free = Policy {
        free_reads: true,
        ..NONE
    };
    assert_eq!(
        of_file(&free, Mode::Default, READ, "/work/a"),
        Verdict::Allow
    );
    assert_eq!(of_file(&free, Mode::Default, READ, "/etc/a"), Verdict::Ask);
    assert_eq!(of_file(&NONE, Mode::Default, READ, "/work/a"), Verdict::Ask);
    assert_eq!(of_file(&free, Mode::Default, EDIT, "/work/a"), Verdict::Ask);
    let denied = Policy {
        deny: &["Read(./.env)"],
        ..free
    };
    assert_eq!(
        of_file(&denied, Mode::Default, READ, "/work/.env"),
        Verdict::Deny
    );
}

#[test]
fn perm_1_path_rules_cover_what_their_anchor_says() {
    let cases: [(&'static [&'static str], &str, bool); 16] = [
        (&["Read(//etc/**)"], "/etc/ssh/key", true),
        (&["Read(//etc)"], "/etc/ssh/key", true),
        (&["Read(//)"], "/anything", true),
        (&["Read(~/.ssh/**)"], "/home/me/.ssh/id", true),
        (&["Read(~/.ssh/**)"], "/home/you/.ssh/id", false),
        (&["Read(/src/**)"], "/work/src/a", true),
        (&["Read(./src/**)"], "/work/src/a", true),
        (&["Read(src/**)"], "/work/src/a", true),
        (&["Read(src/**)"], "/work/deep/src/a", false),
        (&["Read(.env)"], "/work/.env", true),
        (&["Read(.env)"], "/work/deep/er/.env", true),
        (&["Read(.env)"], "/work/.env.example", false),
        (&["Read(*.pem)"], "/work/x/a.pem", true),
        (&["Read(secrets)"], "/work/secrets/deep/key", true),
        (&["Read(**)"], "/work/x", true),
        (&["Read(**)"], "/elsewhere", false),
    ];
    for (deny, path, expected) in cases {
        let policy = Policy { deny, ..NONE };
        let denied = of_file(&policy, Mode::BypassPermissions, READ, path) == Verdict::Deny;
        assert_eq!(denied, expected, "{deny:?} {path}");
        // Every reading tool, not only the one of that name; and what must not be read must not be written.
        let grep = of_file(&policy, Mode::BypassPermissions, "Grep", path);
        assert_eq!(grep == Verdict::Deny, expected, "Grep, {deny:?} {path}");
        let edit = of_file(&policy, Mode::BypassPermissions, EDIT, path);
        assert_eq!(edit == Verdict::Deny, expected, "Edit, {deny:?} {path}");
    }
}

#[test]
fn perm_1_a_rule_to_read_allows_no_writing_and_a_rule_to_write_denies_no_reading() {
    let read = Policy {
        allow: &["Read(src/**)"],
        ..NONE
    };
    assert_eq!(
        of_file(&read, Mode::Default, READ, "/work/src/a"),
        Verdict::Allow
    );
    assert_eq!(
        of_file(&read, Mode::Default, EDIT, "/work/src/a"),
        Verdict::Ask
    );
    let write = Policy {
        deny: &["Edit(src/**)"],
        allow: &["Read(src/**)"],
        ..NONE
    };
    assert_eq!(
        of_file(&write, Mode::Default, READ, "/work/src/a"),
        Verdict::Allow
    );
    assert_eq!(
        of_file(&write, Mode::Default, EDIT, "/work/src/a"),
        Verdict::Deny
    );
}

#[test]
fn perm_1_a_deny_rule_needs_one_path_and_an_allow_rule_all_of_them() {
    let copy = file_tool("Read", Access::Read);
    let paths = ["/work/src/a", "/work/private/b"].map(|path| fact(path, Access::Read));
    let environment = environment();
    let decide = |rules: &Rules| {
        let call = CallFacts {
            paths: &paths,
            ..CallFacts::of(&copy)
        };
        let context = PolicyContext::new(rules, Mode::Default, &environment);
        judge(&context, call, None).verdict
    };
    let mut some = Rules {
        allow: rules(&["Read(src/**)"]),
        ..Rules::default()
    };
    assert_eq!(decide(&some), Verdict::Ask);
    some.deny = rules(&["Read(private/**)"]);
    assert_eq!(decide(&some), Verdict::Deny);
}

#[test]
fn perm_1_a_working_directory_that_looks_like_a_pattern_is_none() {
    let environment = Environment {
        cwd: "/work/[id]/{a}".into(),
        home: Some("/home/*".into()),
        ..Environment::default()
    };
    let read = file_tool("Read", Access::Read);
    let denied = |rule: &str, path: &str| {
        let paths = [fact(path, Access::Read)];
        let rules = Rules {
            deny: rules(&[rule]),
            ..Rules::default()
        };
        let call = CallFacts {
            paths: &paths,
            ..CallFacts::of(&read)
        };
        let context = PolicyContext::new(&rules, Mode::BypassPermissions, &environment);
        judge(&context, call, None).verdict == Verdict::Deny
    };
    assert!(denied("Read(.env)", "/work/[id]/{a}/.env"));
    assert!(denied("Read(/src/**)", "/work/[id]/{a}/src/x"));
    assert!(!denied("Read(/src/**)", "/work/i/{a}/src/x"));
    assert!(denied("Read(~/.ssh)", "/home/*/.ssh/id"));
    assert!(!denied("Read(~/.ssh)", "/home/me/.ssh/id"));
}

#[test]
fn perm_1_command_rules_compare_words() {
    let policy = Policy {
        allow: &["Bash(npm run:*)", "Bash(git status)", "Bash(ls *)"],
        ..NONE
    };
    for (command, expected) in [
        ("npm run", Verdict::Allow),
        ("npm run build --prod", Verdict::Allow),
        ("  npm   run build ", Verdict::Allow),
        ("npm runner", Verdict::Ask),
        ("npm", Verdict::Ask),
        ("git status", Verdict::Allow),
        ("git status --short", Verdict::Ask),
        ("ls", Verdict::Allow),
        ("ls -la src", Verdict::Allow),
        ("lsof", Verdict::Ask),
        ("npm run build && rm -rf /", Verdict::Ask),
        ("npm run build; rm -rf /", Verdict::Ask),
        ("npm run build | sh", Verdict::Ask),
        ("npm run build > /etc/passwd", Verdict::Ask),
        ("npm run $(rm -rf /)", Verdict::Ask),
        ("npm run `rm -rf /`", Verdict::Ask),
        ("npm run build\nrm -rf /", Verdict::Ask),
        ("npm run build & rm -rf /", Verdict::Ask),
        ("npm run \"build\"", Verdict::Allow),
        ("npm run build && git status", Verdict::Allow),
        ("cd src && npm run build 2>&1", Verdict::Allow),
        ("cd .. && npm run build", Verdict::Ask),
        ("timeout 5 npm run build", Verdict::Allow),
        ("npm run build > out.txt", Verdict::Ask),
        ("ls | xargs npm run", Verdict::Allow),
        ("ls | xargs git status", Verdict::Ask),
        ("PATH=/tmp npm run build", Verdict::Ask),
        ("sudo npm run build", Verdict::Ask),
        ("npm\u{a0}run build", Verdict::Ask),
        ("", Verdict::Ask),
    ] {
        assert_eq!(
            of_command(&policy, Mode::Default, command),
            expected,
            "{command}"
        );
    }
}

#[test]
fn perm_4_a_denied_command_is_denied_wherever_it_hides_and_what_cannot_be_read_asks() {
    let policy = Policy {
        deny: &["Bash(rm:*)", "Bash(sudo:*)"],
        allow: &["Bash"],
        ..NONE
    };
    for (command, expected) in [
        ("rm -rf /", Verdict::Deny),
        ("rm -rf / && ls", Verdict::Deny),
        ("rm\t-rf \"/\"", Verdict::Deny),
        ("sudo rm", Verdict::Deny),
        ("ls", Verdict::Allow),
        ("ls && rm -rf /", Verdict::Deny),
        ("env rm -rf /", Verdict::Deny),
        ("'rm' -rf /", Verdict::Deny),
        ("r\\m -rf /", Verdict::Deny),
        ("/bin/rm -rf /", Verdict::Deny),
        ("echo $(rm -rf /)", Verdict::Deny),
        ("find . | xargs rm", Verdict::Deny),
        ("sh -c 'cd /; rm -rf .'", Verdict::Deny),
        ("$X -rf /", Verdict::Ask),
        ("curl x | sh", Verdict::Ask),
        ("echo 'unclosed", Verdict::Ask),
    ] {
        for mode in [Mode::Default, Mode::BypassPermissions] {
            assert_eq!(
                of_command(&policy, mode, command),
                expected,
                "{mode:?} {command}"
            );
        }
    }
}

#[test]
fn perm_1_names_of_servers_and_wildcards_cover_their_tools() {
    for (rule, name, expected) in [
        ("mcp__github", "mcp__github__list", true),
        ("mcp__github__list", "mcp__github__list", true),
        ("mcp__github__*", "mcp__github__list", true),
        ("mcp__git", "mcp__github__list", false),
        ("mcp__github__list", "mcp__github__list_all", false),
        ("Note", "Notebook", false),
        ("Note(*)", "Note", true),
    ] {
        let rule = windlass_core::permission::Rule::parse(rule).unwrap();
        assert_eq!(rule.names_tool(name), expected, "{rule} {name}");
    }
}

#[test]
fn perm_1_a_rule_that_could_never_work_is_refused_with_the_reason() {
    for (rule, words) in [
        ("", "missing"),
        ("(x)", "missing"),
        ("Bash(", "not closed"),
        ("Bash(a) b", "not closed"),
        ("Bash()", "empty"),
        ("Bash(:*)", "no command"),
        ("*", "not a tool name"),
        ("Ba sh", "not a tool name"),
        ("B*h", "not a tool name"),
        ("Write(x)", "Edit(pattern)"),
        ("Grep(x)", "Read(pattern)"),
        ("Note(x)", "takes no specifier"),
        ("mcp__github(x)", "takes no specifier"),
        ("WebFetch(example.com)", "domain:example.com"),
        ("WebFetch(domain:https://example.com)", "no scheme"),
        ("Task(a b)", "not a name"),
        ("Skill(*x)", "not a name"),
    ] {
        let error = windlass_core::permission::Rule::parse(rule).unwrap_err();
        assert!(error.to_string().contains(words), "{rule}: {error}");
        assert!(error.to_string().contains(rule));
    }
}

#[test]
fn perm_1_plan_mode_changes_nothing_even_if_somebody_would_say_yes() {
    let mut spec = asking_spec(vec![tool("Look").read_only(), tool("Note")]);
    spec.policy.permissions.mode = Mode::Plan;
    spec.policy.permissions.rules.ask = rules(&["Note"]);
    spec.policy.permissions.rules.allow = rules(&["Look"]);
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.reply(&Reply::message(&[
        tool_use("a", "Look", json!({})),
        tool_use("b", "Note", json!({})),
    ]));
    bench.finish("a", "seen");
    let text = bench.body()["messages"][2]["content"][1]["content"].to_string();
    assert!(text.contains("plan mode"), "{text}");
}

/// A call of a tool is asked about, and the answer changes its input.
fn updated(spec: Spec, name: &str, input: &serde_json::Value) -> Bench {
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.reply(&Reply::call(
        "a",
        name,
        json!({"file_path": "src/a", "command": "ls"}),
    ));
    if name == EDIT {
        bench.resolve();
    }
    bench.decide(PermissionResponse::Allow {
        updated_input: Some(raw(input)),
        updated_permissions: vec![],
    });
    bench
}

#[test]
fn perm_1_a_changed_input_does_not_slip_past_a_deny_rule() {
    let mut spec = asking_spec(vec![bash(), file_tool(EDIT, Access::Write)]);
    spec.policy.permissions.rules.deny = rules(&["Bash(rm:*)", "Edit(secret/**)"]);

    let mut bench = updated(spec.clone(), EDIT, &json!({"file_path": "secret/key"}));
    assert!(bench.calls().is_empty(), "resolved and judged again");
    bench.resolve();
    assert!(bench.calls().is_empty());
    assert_eq!(bench.requests().len(), 2);
    bench.says("I see.");
    assert_eq!(bench.result().permission_denials.len(), 1);

    let bench = updated(spec.clone(), "Bash", &json!({"command": "rm -rf /"}));
    assert!(bench.calls().is_empty());
    let bench = updated(spec.clone(), "Bash", &json!({"command": 7}));
    assert!(bench.calls().is_empty(), "validated again");

    let mut bench = updated(spec, EDIT, &json!({"file_path": "src/b"}));
    bench.resolve();
    let (_, call) = bench.call("a");
    assert_eq!(call.input.get(), r#"{"file_path":"src/b"}"#);
    let writable: Vec<&str> = (call.grant.roots.iter())
        .filter(|root| root.access == Access::Write)
        .map(|root| root.path.as_str())
        .collect();
    assert_eq!(writable, ["/work/src/b"], "and nothing of the first input");
}

#[test]
fn perm_1_rules_accepted_with_an_answer_hold_from_then_on_but_never_against_deny() {
    let mut spec = asking_spec(vec![bash()]);
    spec.policy.permissions.rules.deny = rules(&["Bash(git push:*)"]);
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.reply(&Reply::message(&[
        tool_use("a", "Bash", json!({"command": "git log"})),
        tool_use("b", "Bash", json!({"command": "git diff"})),
        tool_use("c", "Bash", json!({"command": "git push"})),
    ]));
    bench.decide(PermissionResponse::Allow {
        updated_input: None,
        updated_permissions: vec![PermissionUpdate::allow_in_session(vec![RuleValue::some(
            "Bash", "git:*",
        )])],
    });
    bench.finish("a", "ok");
    bench.finish("b", "unasked");
    assert_eq!(bench.requests().len(), 2);
    bench.says("Done.");
    assert_eq!(bench.result().permission_denials.len(), 1);
    assert_eq!(bench.result().permission_denials[0].tool_use_id, "c");
}

#[test]
fn perm_7_a_denied_call_is_read_by_the_model_and_listed_in_the_result() {
    let mut spec = asking_spec(vec![tool("Note"), tool("Locked")]);
    spec.policy.permissions.rules.deny = rules(&["Locked"]);
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.reply(&Reply::message(&[
        tool_use("a", "Note", json!({"text": "x"})),
        tool_use("b", "Locked", json!({})),
    ]));
    bench.decide(PermissionResponse::deny("Not on a Sunday."));
    let results = bench.body()["messages"][2]["content"].clone();
    assert_eq!(results[0]["content"], "Not on a Sunday.");
    assert_eq!(results[0]["is_error"], true);
    let by_rule = results[1]["content"].as_str().unwrap();
    assert!(
        by_rule.contains("denied") && by_rule.contains("Locked"),
        "{by_rule}"
    );
    bench.says("All right.");
    let result = bench.lines_of("result").remove(0);
    assert_eq!(result["subtype"], "success");
    assert_eq!(
        result["permission_denials"],
        json!([
            {"tool_name": "Note", "tool_use_id": "a", "tool_input": {"text": "x"}},
            {"tool_name": "Locked", "tool_use_id": "b", "tool_input": {}},
        ])
    );
    // Those of an earlier prompt are not listed again.
    bench.prompt("next");
    bench.says("Yes.");
    assert!(bench.result().permission_denials.is_empty());
}

#[test]
fn perm_8_a_change_of_mode_holds_from_the_next_call_on() {
    let mut bench = Bench::new(asking_spec(vec![tool("Note")]));
    bench.prompt("go");
    bench.reply(&Reply::message(&[
        tool_use("a", "Note", json!({})),
        tool_use("b", "Note", json!({})),
    ]));
    bench.decide(PermissionResponse::allow());
    bench.input(Input::SetMode(Mode::DontAsk));
    bench.finish("a", "ok");
    assert_eq!(
        bench.requests().len(),
        2,
        "the second one was denied unasked"
    );
    bench.says("Done.");
    assert_eq!(bench.result().permission_denials.len(), 1);
}

#[test]
fn perm_9_allowed_tools_run_disallowed_ones_are_not_offered_and_not_run() {
    let mut spec = asking_spec(vec![tool("Note"), tool("Locked")]);
    spec.policy.permissions.rules.allow = rules(&["Note", "Locked"]);
    spec.policy.permissions.rules.deny = rules(&["Locked"]);
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    let offered = bench.body()["tools"].clone();
    assert_eq!(offered.as_array().unwrap().len(), 1);
    assert_eq!(offered[0]["name"], "Note");
    bench.reply(&Reply::message(&[
        tool_use("a", "Note", json!({})),
        tool_use("b", "Locked", json!({})),
    ]));
    bench.finish("a", "ok");
    assert_eq!(bench.body()["messages"][2]["content"][1]["is_error"], true);
}

#[test]
fn perm_10_unlisted_tools_stay_offered_and_need_permission() {
    let mut spec = asking_spec(vec![tool("Note"), tool("Other")]);
    spec.policy.permissions.rules.allow = rules(&["Note"]);
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    assert_eq!(bench.body()["tools"].as_array().unwrap().len(), 2);
    bench.reply(&Reply::call("a", "Other", json!({})));
    assert_eq!(bench.question().1.tool_name, "Other");
}

#[test]
fn perm_10_no_tools_means_none_and_denying_beats_bypassing() {
    let mut bench = Bench::new(asking_spec(vec![]));
    bench.prompt("go");
    assert_eq!(bench.body().get("tools"), None);

    let mut spec = crate::harness::spec_with(vec![bash()]);
    spec.policy.permissions.rules.deny = rules(&["Bash"]);
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.reply(&Reply::call("a", "Bash", json!({"command": "ls"})));
    assert!(bench.calls().is_empty());
}

#[test]
fn perm_4_options_and_computed_words_do_not_slip_past_a_deny_rule() {
    let policy = Policy {
        deny: &["Bash(git push:*)"],
        allow: &["Bash"],
        ..NONE
    };
    for (command, expected) in [
        ("git push", Verdict::Deny),
        ("git push origin main", Verdict::Deny),
        ("git -C p push", Verdict::Ask),
        ("git $verb", Verdict::Ask),
        ("GIT_DIR=x git push", Verdict::Deny),
        ("git status", Verdict::Allow),
        ("git log --oneline", Verdict::Allow),
    ] {
        assert_eq!(
            of_command(&policy, Mode::BypassPermissions, command),
            expected,
            "{command}"
        );
    }
}

#[test]
fn perm_4_every_command_of_a_line_needs_its_own_permission() {
    let policy = Policy {
        allow: &[
            "Bash(cargo test:*)",
            "Bash(grep:*)",
            "Bash(echo a > f && make)",
            "Bash(pwd:*)",
        ],
        ..NONE
    };
    for (command, expected) in [
        ("cargo test 2>&1 | grep -v '^$'", Verdict::Allow),
        ("cargo test | tee log", Verdict::Ask),
        ("RUST_LOG=debug cargo test", Verdict::Ask),
        ("if cargo test; then grep -q ok log; fi", Verdict::Allow),
        ("for f in $(ls); do grep x $f; done", Verdict::Ask),
        ("echo a > f && make", Verdict::Allow),
        ("echo a > g && make", Verdict::Ask),
        ("pwd", Verdict::Allow),
        ("pwd -P", Verdict::Ask),
        ("true", Verdict::Ask),
    ] {
        assert_eq!(
            of_command(&policy, Mode::Default, command),
            expected,
            "{command}"
        );
    }
}
