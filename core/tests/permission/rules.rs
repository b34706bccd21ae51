//! What rules cover.

use windlass_core::permission::{Mode, Rule, Rules, Verdict};

use super::{Call, allow, deny, parsed, verdict};

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
        "for OPTIND in 'a[$(rm y)]'; do echo x; done",
        "for PATH in /tmp; do echo x; npm run x; done",
        "[[ 'a[$(rm y)]' -eq 1 ]] || echo x",
        "for x in 'a[$(rm y)]'; do echo $((x)); done",
        "for x in 'a[$(rm y)]'; do echo ${s:x} ${a[x]}; done",
        "case $X in a) npm run b;; *) rm y;; esac",
        "case $(rm y) in a) npm run b;; esac",
        "git diff <(rm y) <(git show a)",
        "git diff <(git show a; rm y) <(git show b)",
        "git diff >(rm y)",
        "[[ -f x && $(rm y) ]] && echo x",
        "[[ $X =~ (a) ]] && echo x",
        "<(rm y) npm run x",
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
        "for f in a b; do echo $f; done",
        "find . -name '*.rs' -exec echo {} +",
        "[ -f x ] && npm run x > /dev/null",
        "cd src && npm run x",
        "git -C x log",
        "./build.sh",
        "case $X in a) npm run b;; *) echo c;; esac",
        "git diff <(git show a) <(git show b)",
        "[[ -f x && $X == a* ]] && npm run x",
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
fn a_pattern_that_readers_do_not_agree_about_is_no_rule() {
    for (rule, words) in [
        ("Read(**/[)", "is not closed"),
        ("Read(a[b/c])", "is not closed"),
        ("Edit([z-a])", "ends before it begins"),
        ("Read({a,[})", "is not closed"),
        ("Read(a\\)", "nothing stands behind"),
    ] {
        let error = Rule::parse(rule).unwrap_err().to_string();
        assert!(error.contains(words), "{rule}: {error}");
    }
    for rule in [
        "Read([a-z]*)",
        "Read([!a-])",
        "Read([]a])",
        "Read(\\[)",
        "Read(a])",
        "Read([^]-])",
    ] {
        Rule::parse(rule).unwrap();
    }
}

#[test]
fn perm_3_a_rule_for_a_tool_of_a_plugin_takes_a_path_and_nothing_else() {
    for rule in [
        "CountLines(//data/**)",
        "CountLines(~/notes/*.md)",
        "CountLines(./src/**)",
        "CountLines(**/*.{rs,toml})",
    ] {
        assert!(Rule::parse(rule).is_ok(), "{rule}");
    }
    for (rule, problem) in [
        ("Bsh(npm run *)", "takes no specifier"),
        ("CountLines(data)", "a path that begins with"),
        ("mcp__notes__read(/data)", "takes no specifier"),
        ("WebSearch(*internal*)", "takes no specifier"),
        ("LSP(./secrets/**)", "takes no specifier"),
    ] {
        let error = Rule::parse(rule).unwrap_err();
        assert!(error.problem.contains(problem), "{error}");
    }
}
