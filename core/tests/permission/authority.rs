//! Places that become authority, where plain file commands would bring something to them.

use windlass_core::{
    effect::ResolvedPath,
    permission::{CommandLine, Mode, PathFact, PolicyContext, Rule, Rules, Source, Verdict, judge},
};

use crate::{CWD, Call, accepting_edits, allow, deny, environment, parsed, real, verdict};

#[test]
fn perm_4_what_would_lie_in_such_a_place_is_asked_about() {
    for line in [
        "mv hooks .git/modules/lib",
        "mv a/hooks/ b/.git/worktrees/one",
        "cp a/config .git/modules/lib",
        "cp -r hooks .git/worktrees/one",
        "cp a/*.sh .git/modules/lib",
        "cd .git/modules && cp ../../a/config lib",
        "timeout 5 mv hooks .git/modules/lib",
    ] {
        assert_eq!(accepting_edits(line), Verdict::Ask, "{line}");
        // Nor does a rule about the program help.
        let rules = allow(&["Bash(mv:*)", "Bash(cp:*)", "Bash(cd:*)"]);
        let by_rule = verdict(&rules, Mode::Default, &Call::new("Bash", line));
        assert_eq!(by_rule, Verdict::Ask, "{line}");
    }
    for line in [
        "mv hooks src",
        "cp a/config b",
        "cp -r hooks src",
        "cp a/*.sh b",
    ] {
        assert_eq!(accepting_edits(line), Verdict::Allow, "{line}");
    }
}

#[test]
fn the_host_is_asked_what_comes_along_with_folders() {
    let carried = |line: &str| -> Vec<String> {
        let asked = CommandLine::read(line, "/w").paths().into_iter();
        asked
            .filter(|asked| asked.carried)
            .map(|asked| asked.path)
            .collect()
    };
    for (line, expected) in [
        ("cp -r a b", &["/w/a"][..]),
        ("cp -rT a b", &["/w/a"]),
        ("cp -r a/. .", &["/w/a/."]),
        ("cp -av a b c", &["/w/a", "/w/b"]),
        ("cp --recursive a b", &["/w/a"]),
        ("cp a b", &[]),
        ("cp -p a b", &[]),
        ("mv a b", &["/w/a"]),
        ("rm -r a", &["/w/a"]),
        ("rm --recursive -f a/b", &["/w/a/b"]),
        ("rm a", &[]),
        ("mkdir -p a", &[]),
    ] {
        assert_eq!(carried(line), expected, "{line}");
    }
}

#[test]
fn perm_4_a_place_is_seen_wherever_the_line_has_gone_before() {
    let rules = allow(&["Bash(touch:*)", "Bash(cp:*)", "Bash(git log:*)"]);
    for line in [
        "cd .git/hooks; touch x",
        "cd .git/hooks\ntouch x",
        "(cd .git/hooks; touch x)",
        "cd .git; touch hooks/x",
        "cd .claude; cp ../f settings.json",
        "if cd .git/hooks; then touch x; fi",
        "! cd .git; touch hooks/x",
        "cd a; cd ..; cd .git; touch config",
        "bash -c 'cd .git/hooks; touch x'",
        "touch .git/commondir",
        "touch .git/worktrees/one/gitdir",
        "cp f .git/rebase-merge/git-rebase-todo",
        "git log -p --output=.claude/settings.json",
        "git log --output .mcp.json",
    ] {
        let asked = verdict(&rules, Mode::Default, &Call::new("Bash", line));
        assert_eq!(asked, Verdict::Ask, "{line}");
    }
    for line in [
        "cd src; touch x",
        "git log --output=changes.txt",
        "touch .git/index.lock",
    ] {
        let free = verdict(&rules, Mode::Default, &Call::new("Bash", line));
        assert_eq!(free, Verdict::Allow, "{line}");
    }
}

/// A rule for a file tool counts as a person where the folder has no say and the place is written out in it.
#[test]
fn perm_4_a_persons_rule_that_names_a_place_lets_it_be_edited() {
    for (rule, path, expected) in [
        (
            "Edit(.claude/commands/**)",
            ".claude/commands/a.md",
            Verdict::Allow,
        ),
        ("Edit(./.mcp.json)", ".mcp.json", Verdict::Allow),
        (
            "Edit(.git/hooks/pre-commit)",
            ".git/hooks/pre-commit",
            Verdict::Allow,
        ),
        (
            "Edit(.claude/commands/**)",
            ".claude/settings.json",
            Verdict::Ask,
        ),
        ("Edit(**)", ".mcp.json", Verdict::Ask),
        ("Edit(./**)", ".git/hooks/pre-commit", Verdict::Ask),
        ("Edit", ".claude/settings.json", Verdict::Ask),
    ] {
        for (source, counts) in [
            (Source::CliArg, true),
            (Source::UserSettings, true),
            (Source::Session, true),
            (Source::ProjectSettings, false),
            (Source::LocalSettings, false),
        ] {
            let rules = Rules {
                allow: vec![Rule::parse(rule).unwrap().from_source(source)],
                ..Rules::default()
            };
            let call = Call::new("Write", &format!("{CWD}/{path}"));
            let expected = if counts { expected } else { Verdict::Ask };
            let found = verdict(&rules, Mode::AcceptEdits, &call);
            assert_eq!(found, expected, "{rule} for {path}: {source:?}");
        }
    }
}

#[test]
fn perm_4_a_persons_rule_for_the_very_line_names_the_places_in_it() {
    for line in [
        "touch .bashrc",
        "echo x > .mcp.json",
        "cp a .mcp.json",
        "mv a .git/hooks/pre-commit",
    ] {
        let rule = format!("Bash({line})");
        let call = Call::new("Bash", line);
        let with = |rule: Rule| {
            let rules = Rules {
                allow: vec![rule],
                ..Rules::default()
            };
            verdict(&rules, Mode::Default, &call)
        };
        let rule = Rule::parse(&rule).unwrap();
        for (source, expected) in [
            (Source::CliArg, Verdict::Allow),
            (Source::UserSettings, Verdict::Allow),
            (Source::Session, Verdict::Allow),
            // What the folder says is nobody's word.
            (Source::ProjectSettings, Verdict::Ask),
            (Source::LocalSettings, Verdict::Ask),
        ] {
            assert_eq!(
                with(rule.clone().from_source(source)),
                expected,
                "{line}: {source:?}"
            );
        }
        // A rule that is about more than the line has not seen it.
        let program = line.split(' ').next().unwrap();
        let rules = allow(&[&format!("Bash({program}:*)"), "Edit(**)"]);
        assert_eq!(
            verdict(&rules, Mode::AcceptEdits, &call),
            Verdict::Ask,
            "{line}"
        );
    }
    // A link is not the place that it leads to.
    let mut call = Call::new("Bash", "touch notes");
    for fact in &mut call.paths {
        fact.path = format!("{CWD}/.bashrc");
    }
    let rules = allow(&["Bash(touch notes)"]);
    assert_eq!(verdict(&rules, Mode::Default, &call), Verdict::Ask);
}

/// A call of a host that says what comes along with folders.
fn bringing(line: &str, brings: &str) -> Call {
    let mut call = Call::new("Bash", line);
    let resolved = call.subject.resolved_paths(
        &call.tool,
        &windlass_core::RawJson::empty_object(),
        CWD,
        |asked| {
            Ok::<_, ()>(ResolvedPath {
                brings: asked.carried.then(|| brings.to_owned()),
                ..ResolvedPath::at(real(&asked.path))
            })
        },
    );
    call.paths = resolved.unwrap();
    call
}

#[test]
fn perm_4_whatever_comes_along_with_a_folder_is_asked_about() {
    for line in ["cp -r big copy", "mv big moved"] {
        for brings in [".", ".claude", "a/.git/config"] {
            let call = bringing(line, brings);
            let rules = [
                allow(&[]),
                allow(&["Bash(cp:*)", "Bash(mv:*)"]),
                allow(&[&format!("Bash({line})")]),
            ];
            for rules in rules {
                assert_eq!(
                    verdict(&rules, Mode::AcceptEdits, &call),
                    Verdict::Ask,
                    "{line} with {brings}: {rules:?}"
                );
            }
        }
    }
}

#[test]
fn perm_4_files_of_the_program_itself_are_closed_to_every_rule_and_mode() {
    let mut environment = environment();
    environment.private_paths = vec![
        "/home/me/.cache/windlass/components".into(),
        "/home/me/.local/share/windlass/components.key".into(),
    ];
    let judged = |rules: &Rules, mode, call: &Call| {
        let policy = PolicyContext::new(rules, mode, &environment);
        judge(&policy, call.facts(), None).verdict
    };
    for line in [
        "cat ~/.local/share/windlass/components.key",
        "cat /home/me/.local/share/windlass/components.key",
        "cp /home/me/.local/share/windlass/components.key k",
        "cp evil.bin /home/me/.cache/windlass/components/x",
        "base64 --input=/home/me/.local/share/windlass/components.key",
        "cat < /home/me/.local/share/windlass/components.key",
    ] {
        let call = Call::new("Bash", line);
        for rules in [
            allow(&["Bash(cat:*)", "Bash(cp:*)", "Bash(base64:*)", "Read(//**)"]),
            allow(&["Bash"]),
            allow(&[&format!("Bash({line})")]),
        ] {
            for mode in [Mode::AcceptEdits, Mode::BypassPermissions] {
                assert_eq!(judged(&rules, mode, &call), Verdict::Ask, "{line} {mode:?}");
            }
        }
    }
    let key = "/home/me/.local/share/windlass/components.key";
    let read = Call::new("Read", key);
    assert_eq!(
        judged(&allow(&["Read"]), Mode::Default, &read),
        Verdict::Ask
    );
    // A link is where it leads.
    let mut linked = Call::new("Bash", "cat notes");
    linked.paths = vec![PathFact {
        path: key.into(),
        access: windlass_core::tool::Access::Read,
        written: format!("{CWD}/notes"),
    }];
    let rules = allow(&["Bash(cat:*)"]);
    assert_eq!(judged(&rules, Mode::Default, &linked), Verdict::Ask);
    let other = Call::new("Bash", "cat ~/.local/share/windlass/other");
    assert_eq!(judged(&rules, Mode::Default, &other), Verdict::Allow);
}

#[test]
fn perm_4_a_line_with_too_many_names_is_asked_about_and_takes_no_time() {
    let options = "ab".repeat(1000);
    let many = |count| format!("sort{}", format!(" -{options}").repeat(count));
    let closing = Rules {
        allow: parsed(&["Bash(sort:*)"]),
        ..deny(&[
            "Read(.env)",
            "Read(secrets/**)",
            "Read(*.pem)",
            "Edit(package-lock.json)",
        ])
    };
    for count in [1, 8, 30] {
        let call = Call::new("Bash", &many(count));
        assert_eq!(verdict(&closing, Mode::Default, &call), Verdict::Ask);
    }
    // Nobody can say what such a line names, whether or not a rule closes files.
    let free = allow(&["Bash(sort:*)"]);
    let call = Call::new("Bash", &many(8));
    assert_eq!(verdict(&free, Mode::Default, &call), Verdict::Ask);
    for line in [
        "sort -k2,2n -t: a.txt".to_owned(),
        format!("sort {}", "notes-of-the-day.txt ".repeat(60)),
        // A long text is no name.
        format!("git commit -m '{}'", "fix: a, b = c @ d; ".repeat(200)),
        format!("cargo test --features {}", ["feature-name"; 100].join(",")),
    ] {
        let rules = Rules {
            allow: parsed(&["Bash(sort:*)", "Bash(git commit:*)", "Bash(cargo test:*)"]),
            ..closing.clone()
        };
        let call = Call::new("Bash", &line);
        assert_eq!(
            verdict(&rules, Mode::Default, &call),
            Verdict::Allow,
            "{line}"
        );
    }
}
