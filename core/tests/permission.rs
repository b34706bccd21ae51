//! Rules as values: what they cover, which decides, what is wrong with them, and how they change.
#![allow(clippy::unwrap_used)]

use serde_json::json;
use windlass_core::{
    RawJson,
    permission::{
        Behavior, CallFacts, CallSubject, Cause, Destination, Fault, Fit, HookVerdict, Layer,
        LayerError, Layered, Mode, Narrowing, PathFact, PermissionSettings, PermissionUpdate, Rule,
        RuleValue, Rules, SessionPermissions, Source, Standing, UpdateError, Verdict,
        command_paths, explain, judge, lint, suggestions,
    },
    spec::{Environment, PermissionPolicy},
    tool::{Access, PathParam, ToolDefinition},
    tools::CoreTool,
};

const CWD: &str = "/work";

fn environment() -> Environment {
    Environment {
        cwd: CWD.into(),
        home: Some("/home/me".into()),
        additional_directories: vec!["/extra".into()],
        ..Environment::default()
    }
}

fn tool(name: &str) -> ToolDefinition {
    let mut tool = ToolDefinition::new(name, "", RawJson::empty_object());
    let access = match name {
        "Read" | "Grep" | "Glob" => Some(Access::Read),
        "Edit" | "Write" | "NotebookEdit" => Some(Access::Write),
        _ => None,
    };
    tool.annotations.read_only = access == Some(Access::Read);
    tool.paths.extend(access.map(|access| PathParam {
        field: "file_path".into(),
        access,
        default_cwd: false,
    }));
    tool.core = CoreTool::ALL.into_iter().find(|core| core.name() == name);
    if name == "Bash" {
        tool.command_param = Some("command".into());
    }
    tool
}

/// What a host without links says.
fn real(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// A call as the session sees it: `Bash` with a command, file tools with a path, others with an input.
struct Call {
    tool: ToolDefinition,
    subject: CallSubject,
    paths: Vec<PathFact>,
}

impl Call {
    fn new(name: &str, what: &str) -> Self {
        let tool = tool(name);
        let input = match name {
            "Bash" => json!({ "command": what }),
            "WebFetch" => json!({ "url": what }),
            "Task" | "Agent" => json!({ "subagent_type": what }),
            "Skill" => json!({ "skill": what }),
            _ => json!({}),
        };
        let input = RawJson::parse(input.to_string()).unwrap();
        let subject = CallSubject::of(&tool, &input);
        let mut paths: Vec<PathFact> = tool
            .paths
            .iter()
            .map(|param| PathFact {
                path: what.into(),
                access: param.access,
                written: what.into(),
            })
            .collect();
        if let Some(command) = &subject.command {
            paths.extend(
                command_paths(command, CWD)
                    .into_iter()
                    .map(|asked| PathFact {
                        path: real(&asked.path),
                        access: asked.access,
                        written: asked.path,
                    }),
            );
        }
        Self {
            tool,
            subject,
            paths,
        }
    }

    fn facts(&self) -> CallFacts<'_> {
        self.subject.facts(&self.tool, &self.paths)
    }
}

fn parsed(texts: &[&str]) -> Vec<Rule> {
    texts
        .iter()
        .map(|text| Rule::parse(text).unwrap())
        .collect()
}

fn allow(texts: &[&str]) -> Rules {
    Rules {
        allow: parsed(texts),
        ..Rules::default()
    }
}

fn deny(texts: &[&str]) -> Rules {
    Rules {
        deny: parsed(texts),
        ..Rules::default()
    }
}

fn verdict(rules: &Rules, mode: Mode, call: &Call) -> Verdict {
    let environment = environment();
    judge(
        &Standing::new(rules, mode, &environment),
        call.facts(),
        None,
    )
    .verdict
}

#[test]
fn perm_3_a_rule_covers_the_calls_its_specifier_says() {
    for (rule, tool, what, expected) in [
        ("Bash(git * main)", "Bash", "git checkout main", true),
        ("Bash(git * main)", "Bash", "git checkout dev", false),
        ("Bash(npm*)", "Bash", "npm install", true),
        (
            "WebFetch(domain:example.com)",
            "WebFetch",
            "https://docs.example.com:8443/a",
            true,
        ),
        (
            "WebFetch(domain:example.com)",
            "WebFetch",
            "http://example.com",
            true,
        ),
        (
            "WebFetch(domain:example.com)",
            "WebFetch",
            "https://example.com.evil.org",
            false,
        ),
        (
            "WebFetch(domain:example.com)",
            "WebFetch",
            "https://example.com@evil.org",
            false,
        ),
        ("WebFetch", "WebFetch", "https://anything.org", true),
        ("Task(Explore)", "Task", "Explore", true),
        ("Agent(Explore)", "Task", "Explore", true),
        ("Task(Explore)", "Agent", "Explore", true),
        ("Task(Explore)", "Task", "Explorer", false),
        ("Skill(docs:*)", "Skill", "docs:pdf", true),
        ("Skill(pdf)", "Skill", "docs:pdf", false),
        ("mcp__github", "mcp__github__list", "", true),
        ("mcp__github__*", "mcp__github__list", "", true),
        ("mcp__github__list", "mcp__github__list", "", true),
        ("mcp__github__list", "mcp__github__delete", "", false),
        ("mcp__*", "mcp__github__list", "", true),
        ("KillBash", "TaskStop", "", true),
        ("BashOutput", "TaskOutput", "", true),
        ("Edit", "Write", "/work/a", true),
        ("Edit", "NotebookEdit", "/work/a", true),
        ("Edit", "Read", "/work/a", false),
        ("Read", "Grep", "/work/a", true),
        ("Read", "Glob", "/work/a", true),
        ("Write", "Edit", "/work/a", false),
        ("Edit(**/*.{rs,toml})", "Write", "/work/src/a.toml", true),
        ("Edit(**/*.{rs,toml})", "Write", "/work/src/a.md", false),
    ] {
        let call = Call::new(tool, what);
        let allowed = verdict(&allow(&[rule]), Mode::Default, &call) == Verdict::Allow;
        assert_eq!(allowed, expected, "allow {rule}: {tool} {what}");
        let denied = verdict(&deny(&[rule]), Mode::BypassPermissions, &call) == Verdict::Deny;
        assert_eq!(denied, expected, "deny {rule}: {tool} {what}");
    }
}

#[test]
fn perm_3_an_address_that_programs_read_differently_is_asked_about() {
    let call = Call::new("WebFetch", "https://evil.org\\@example.com/");
    let rule = &["WebFetch(domain:example.com)"];
    assert_eq!(verdict(&allow(rule), Mode::Default, &call), Verdict::Ask);
    assert_eq!(
        verdict(&deny(rule), Mode::BypassPermissions, &call),
        Verdict::Ask
    );
}

#[test]
fn perm_3_a_name_closes_files_in_every_directory_of_the_workspace() {
    for (path, expected) in [
        ("/work/a/.env", Verdict::Deny),
        ("/extra/.env", Verdict::Deny),
        ("/elsewhere/.env", Verdict::Allow),
    ] {
        let call = Call::new("Read", path);
        let rules = deny(&["Read(.env)"]);
        assert_eq!(
            verdict(&rules, Mode::BypassPermissions, &call),
            expected,
            "{path}"
        );
    }
}

#[test]
fn perm_3_a_folders_rules_begin_at_that_folder() {
    let rule = Rule::parse("Read(/src/**)")
        .unwrap()
        .rooted(Some("/work/part"));
    let rules = Rules {
        allow: vec![rule],
        ..Rules::default()
    };
    let of = |path| verdict(&rules, Mode::Default, &Call::new("Read", path));
    assert_eq!(of("/work/part/src/a"), Verdict::Allow);
    assert_eq!(of("/work/src/a"), Verdict::Ask);
}

/// Lines that must not run because of a rule that covers a part of them.
#[test]
fn perm_4_no_line_slips_past_its_rules() {
    let rules = Rules {
        allow: parsed(&[
            "Bash(npm run:*)",
            "Bash(echo:*)",
            "Bash(find:*)",
            "Bash(xargs:*)",
            "Bash(git *)",
            "Bash(./build.sh)",
        ]),
        ..Rules::default()
    };
    for line in [
        "echo x && rm -rf /",
        "echo x & rm y",
        "echo $(rm y)",
        "echo `rm y`",
        "echo \"${X:-$(rm y)}\"",
        "echo <(rm y)",
        "echo x > /etc/passwd",
        "echo x > out",
        "echo x | tee out",
        "echo x\nrm y",
        "find . -exec rm {} +",
        "find . -exec sh -c 'rm {}' \\;",
        "find . | xargs -I{} sh -c 'echo {}'",
        "find . | xargs rm",
        "PATH=/tmp npm run x",
        "PATH=/tmp; npm run x",
        "export PATH=/tmp; npm run x",
        "env X=1 npm run x",
        "sudo npm run x",
        "alias npm=rm; npm run x",
        "npm() { rm y; }; npm run x",
        "function npm { rm y; }; npm run x",
        "trap 'rm y' EXIT; npm run x",
        "cd .. && npm run x",
        "cd /etc && npm run x",
        "cd src && ./build.sh",
        "case x in *) rm y;; esac",
        "for i in 1; do rm y; done",
        "while true; do rm y; done",
        "if echo x; then rm y; fi",
        "! rm y",
        "time rm y",
        "nohup rm y",
        "timeout 5 rm y",
        "(rm y)",
        "{ rm y; }",
        "bash -c 'rm y'",
        "eval 'rm y'",
        "echo $(( $(rm y) ))",
        "cat <<E\n$(rm y)\nE",
        "[[ -n $(rm y) ]]",
        "np''m runx",
        "$'\\x72m' y",
        "echo x; . ./y",
        "echo x |& sh",
        "echo x; $Y z",
    ] {
        let call = Call::new("Bash", line);
        assert_eq!(
            verdict(&rules, Mode::Default, &call),
            Verdict::Ask,
            "{line}"
        );
        assert_eq!(
            verdict(&rules, Mode::DontAsk, &call),
            Verdict::Deny,
            "{line}"
        );
    }
    for line in [
        "npm run x && echo done",
        "timeout 5 npm run x 2>&1 | xargs echo",
        "if npm run x; then echo y; else echo z; fi",
        "case $X in a) npm run b;; *) echo c;; esac",
        "for f in a b; do echo $f; done",
        "find . -name '*.rs' -exec echo {} +",
        "[ -f x ] && npm run x > /dev/null",
        "cd src && npm run x",
        "git -C x log",
        "./build.sh",
    ] {
        let call = Call::new("Bash", line);
        assert_eq!(
            verdict(&rules, Mode::Default, &call),
            Verdict::Allow,
            "{line}"
        );
    }
}

#[test]
fn perm_4_redirections_are_judged_like_files() {
    let mut rules = allow(&["Bash(echo:*)", "Edit(/out/**)"]);
    rules.deny = parsed(&["Edit(/out/locked)", "Read(.env)"]);
    for (line, expected) in [
        ("echo x > out/a", Verdict::Allow),
        ("echo x > out/locked", Verdict::Deny),
        ("echo x > out/../b", Verdict::Ask),
        ("echo x > $F", Verdict::Ask),
        ("cd y && echo x > out/a", Verdict::Ask),
        ("echo < .env", Verdict::Deny),
        ("echo x; cat .env", Verdict::Deny),
        ("echo --file=.env", Verdict::Ask),
        ("echo x 2>/dev/null", Verdict::Allow),
    ] {
        let call = Call::new("Bash", line);
        assert_eq!(verdict(&rules, Mode::Default, &call), expected, "{line}");
    }
}

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
        ("rm -rf .", Verdict::Ask),
        ("rm -rf /work", Verdict::Ask),
        ("rm -rf ../x", Verdict::Ask),
        ("cp /etc/passwd a", Verdict::Ask),
        ("cp a /etc/passwd", Verdict::Ask),
        ("rm *.o", Verdict::Ask),
        ("rm $X", Verdict::Ask),
        ("rm --no-preserve-root a", Verdict::Ask),
        ("mkdir a && make", Verdict::Ask),
        ("X=1 mkdir a", Verdict::Ask),
        ("./mkdir a", Verdict::Ask),
        ("mv locked open", Verdict::Ask),
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
        let plain = verdict(&rules, Mode::Default, &call);
        assert_ne!(plain, Verdict::Allow, "{line}");
    }
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
        let standing = Standing::new(&rules, mode, &environment);
        let decision = judge(&standing, call.facts(), Some(&hook));
        assert_eq!(decision.verdict, expected, "{hook:?} {line} {mode:?}");
    }
}

fn layer(source: Source, trusted: bool, settings: &serde_json::Value) -> Layer {
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
        let standing = Standing::new(&layered.rules, Mode::Default, &environment);
        judge(&standing, call.facts(), None)
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
        let standing = Standing::new(&layered.rules, Mode::Default, &environment);
        let of = |line| judge(&standing, Call::new("Bash", line).facts(), None).verdict;
        assert_eq!(of("ls") == Verdict::Allow, counts, "{source:?} {trusted}");
        assert_eq!(of("rm x"), Verdict::Deny);
        assert_eq!(of("git x"), Verdict::Ask);
        let call = Call::new("Bash", "ls");
        let fit = explain(&standing, call.facts(), None)
            .considered
            .last()
            .map(|rule| rule.fit);
        let expected = if counts { Fit::Covers } else { Fit::Untrusted };
        assert_eq!(fit, Some(expected));
    }
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

#[test]
fn an_explanation_names_every_rule_and_the_one_that_decides() {
    let environment = environment();
    let mut rules = allow(&["Bash(npm run:*)", "Read", "Bash(echo:*)"]);
    rules.deny = parsed(&["Bash(git push:*)"]);
    let of = |line: &str| {
        let call = Call::new("Bash", line);
        let standing = Standing::new(&rules, Mode::Default, &environment);
        let explanation = explain(&standing, call.facts(), None);
        assert_eq!(explanation.decision, judge(&standing, call.facts(), None));
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
        "deny": ["Read(.env)", "Bash(rm:*)", "Bash(sudo:*)"],
    });
    let found = lint(&[layer(Source::UserSettings, true, &good)], &tools);
    assert_eq!(found, []);
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
        let standing = Standing::new(&policy.rules, Mode::Default, &environment);
        let decision = judge(&standing, call.facts(), None);
        assert_eq!(decision.verdict, Verdict::Ask, "{tool} {what}");
        let updates = suggestions(&standing, call.facts(), &decision);
        assert!(!updates.is_empty(), "{tool} {what}");
        let mut permissions = SessionPermissions::new(&policy);
        permissions.apply(&policy, &environment, &updates).unwrap();
        let after = Standing {
            directories: permissions.directories(&environment),
            ..Standing::new(permissions.rules(&policy), permissions.mode(), &environment)
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
    let standing = Standing::new(&rules, Mode::Default, &environment);
    let decision = judge(&standing, call.facts(), None);
    assert_eq!(
        suggestions(&standing, call.facts(), &decision),
        [],
        "no rule would help"
    );
}

#[test]
fn perm_13_a_single_command_of_a_known_kind_suggests_its_beginning_too() {
    let environment = environment();
    let rules = Rules::default();
    let of = |line: &str| {
        let call = Call::new("Bash", line);
        let standing = Standing::new(&rules, Mode::Default, &environment);
        let decision = judge(&standing, call.facts(), None);
        let mut found = Vec::new();
        for update in suggestions(&standing, call.facts(), &decision) {
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
                let standing = Standing::new(&rules, session, &environment);
                let parent = judge(&standing, call.facts(), None).verdict;
                let narrowed = Standing {
                    narrowing: Some(&narrowing),
                    ..standing
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
        let standing = Standing {
            free_workspace_reads: true,
            ..Standing::new(&rules, Mode::AcceptEdits, &environment)
        };
        let decision = judge(&standing, call.facts(), None);
        assert_eq!(
            decision.cause,
            Cause::OutsideWorkspace("/etc/a".into()),
            "{tool}"
        );
        assert_eq!(decision.verdict, Verdict::Ask);
    }
}
