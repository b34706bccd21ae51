//! Command lines and the flags that they contain.

use super::*;

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

fn parse(given: &[&str]) -> Flags {
    Flags::parse(&words(given)).unwrap()
}

#[test]
fn both_forms_of_every_valued_flag_mean_the_same() {
    for (name, value) in [
        ("model", "m"),
        ("fallback-model", "m"),
        ("betas", "a,b"),
        ("effort", "high"),
        ("thinking", "adaptive"),
        ("max-thinking-tokens", "5000"),
        ("thinking-display", "omitted"),
        ("task-budget", "50000"),
        ("permission-prompts", "none"),
        ("system-prompt", "--verbose is what I say"),
        ("append-system-prompt", "- a list"),
        ("tools", "Read,Bash"),
        ("allowedTools", "Bash(git log:*),Read"),
        ("disallowedTools", "Write"),
        ("max-turns", "3"),
        ("max-budget-usd", "0.5"),
        ("permission-mode", "acceptEdits"),
        ("permission-prompt-tool", "stdio"),
        ("json-schema", "{}"),
        ("resume-session-at", ""),
        ("settings", "{}"),
        ("setting-sources", "user,project"),
        ("add-dir", "/x"),
        ("mcp-config", "{}"),
        ("session-id", "x"),
        ("resume", "x"),
        ("name", "- a name"),
    ] {
        let flag = format!("--{name}");
        let joined = format!("--{name}={value}");
        let apart = parse(&["--verbose", &flag, value, "--session-mirror"]);
        assert_eq!(
            apart,
            parse(&["--verbose", &joined, "--session-mirror"]),
            "{name}"
        );
        assert_ne!(
            apart,
            parse(&["--verbose", "--session-mirror"]),
            "{name} has an effect"
        );
        assert!(apart.session_mirror, "{name} took no more than its value");
    }
}

#[test]
fn a_list_is_the_same_however_it_is_given() {
    type Read = fn(&Flags) -> Vec<String>;
    let lists: [(&str, &str, [&str; 3], Read); 7] = [
        (
            "allowedTools",
            "allowed-tools",
            ["Read", "Bash(git commit -m \"a, b\":*)", "Edit"],
            |f| f.allowed_tools.clone(),
        ),
        (
            "disallowedTools",
            "disallowed-tools",
            ["Bash(rm:*)", "Bash(a, b)", "Write"],
            |f| f.disallowed_tools.clone(),
        ),
        ("tools", "tools", ["Read", "Bash", "Edit"], |f| {
            f.tools.clone().unwrap_or_default()
        }),
        ("betas", "betas", ["a", "b", "c"], |f| f.betas.clone()),
        (
            "settingSources",
            "setting-sources",
            ["user", "project", "local"],
            |f| f.setting_sources.clone().unwrap_or_default(),
        ),
        ("addDir", "add-dir", ["/a b", "/c,d", "/e"], |f| {
            f.add_dirs.clone()
        }),
        (
            "mcpConfig",
            "mcp-config",
            ["{\"mcpServers\": {}}", "a b.json", "c,d.json"],
            |f| f.mcp_configs.clone(),
        ),
    ];
    for (camel, kebab, values, read) in lists {
        // Paths and JSON may contain commas and blanks: each is a word of its own.
        let in_one_word = !matches!(kebab, "add-dir" | "mcp-config");
        for name in [camel, kebab] {
            let flag = format!("--{name}");
            let [a, b, c] = values;
            let joined = |value: &str| format!("{flag}={value}");
            let mut forms: Vec<Vec<String>> = vec![
                words(&[&flag, a, b, c]),
                words(&[&flag, a, &flag, b, &flag, c]),
                words(&[&joined(a), &joined(b), &joined(c)]),
                words(&[&flag, a, b, &joined(c)]),
                words(&[&joined(a), &flag, b, c]),
            ];
            if in_one_word {
                for separator in [",", ", ", " ", "\t", " , "] {
                    let list = values.join(separator);
                    forms.push(words(&[&flag, &list]));
                    forms.push(vec![joined(&list)]);
                }
                forms.push(words(&[&flag, &format!("{a},{b}"), c]));
            }
            for form in forms {
                let mut line = words(&["--verbose"]);
                line.extend(form);
                line.push("--session-mirror".to_owned());
                let flags = Flags::parse(&line).unwrap();
                assert_eq!(read(&flags), values, "{line:?}");
                assert!(flags.session_mirror && flags.unknown.is_empty(), "{line:?}");
            }
        }
    }
}

#[test]
fn a_word_that_belongs_to_no_flag_is_not_passed_over() {
    for line in [
        &["--disallowedTools=Bash", "Write"][..],
        &["Write", "--disallowedTools", "Bash"],
        &["--verbose", "Write"],
        &["--model", "m", "Write"],
        &["--tools=", "Write"],
        &["-c", "Write"],
    ] {
        let error = Flags::parse(&words(line)).unwrap_err();
        assert!(error.to_string().starts_with("the word `Write`"), "{error}");
    }
    // Words that may be values of an unknown flag are skipped together with it.
    let flags = parse(&["--of-tomorrow", "a", "b", "--model", "m"]);
    assert_eq!(flags.unknown, ["--of-tomorrow"]);
    assert_eq!(flags.model.as_deref(), Some("m"));
}

#[test]
fn the_letters_of_the_command_line_are_flags() {
    for (letter, flag) in [
        (&["-c"][..], &["--continue"][..]),
        (&["-v"], &["--version"]),
        (&["-p"], &["--print"]),
        (&["-n", "a name"], &["--name", "a name"]),
        (&["-na name"], &["--name=a name"]),
        (&["-n=a name"], &["--name=a name"]),
        (&["-r", "abc"], &["--resume", "abc"]),
        (&["-rabc"], &["--resume=abc"]),
        (&["-r=abc"], &["--resume=abc"]),
    ] {
        assert_eq!(parse(letter), parse(flag), "{letter:?}");
        assert!(parse(letter).unknown.is_empty(), "{letter:?}");
    }
    assert_eq!(parse(&["-n", " "]).name, None);
    // Unknown combinations of short flags.
    assert_eq!(parse(&["-cv", "-debug"]).unknown, ["-cv", "-debug"]);
}

#[test]
fn a_bare_session_reads_nothing_whatever_else_is_said() {
    for given in [
        &["--bare"][..],
        &["--setting-sources=user,project", "--bare"],
        &["--bare", "--setting-sources", "local", "--model", "m"],
        &["--bare=false"],
    ] {
        let flags = parse(given);
        assert_eq!(flags.sources(), Some(&[][..]), "{given:?}");
        assert!(flags.only_given_servers(), "{given:?}");
        assert!(flags.unknown.is_empty(), "{given:?}");
    }
    let flags = parse(&["--setting-sources=user"]);
    assert_eq!(flags.sources(), Some(&["user".to_owned()][..]));
    assert!(!flags.only_given_servers());
    assert_eq!(parse(&[]).sources(), None);
}

#[test]
fn empty_values_say_something() {
    let flags = parse(&["--system-prompt", "", "--tools", "", "--setting-sources="]);
    assert_eq!(flags.system_prompt.as_deref(), Some(""));
    assert_eq!(flags.tools, Some(vec![]));
    assert_eq!(flags.setting_sources, Some(vec![]));
    let flags = parse(&["--tools=", "--model="]);
    assert_eq!((flags.tools, flags.model), (Some(vec![]), None));
    assert_eq!(parse(&[]).tools, None);
}

#[test]
fn what_the_sdks_start_an_engine_with_is_all_known() {
    let python = [
        "--output-format",
        "stream-json",
        "--verbose",
        "--system-prompt",
        "",
        "--input-format",
        "stream-json",
    ];
    let typescript = [
        "--output-format=stream-json",
        "--verbose",
        "--input-format=stream-json",
        "--permission-prompt-tool=stdio",
        "--allow-dangerously-skip-permissions",
        "--include-hook-events",
        "--include-partial-messages",
        "--permission-prompts=host",
        "--task-budget=5",
        "--thinking-display=summarized",
        "--channels=c",
        "--initialize-fields=disallowedTools",
        "--await-initialize",
        "--managed-settings-in-initialize",
        "--no-session-persistence",
        "--debug",
        "--plugin-dir-no-mcp=/p",
        "--resume=abc",
        "--fork-session",
    ];
    for given in [&python[..], &typescript] {
        assert!(asks_for_engine(&words(given)));
        assert_eq!(parse(given).unknown, Vec::<String>::new());
    }
    assert!(!asks_for_engine(&words(&[
        "--output-format",
        "stream-json",
        "-p",
        "hi"
    ])));
    assert_eq!(parse(&typescript).resume.as_deref(), Some("abc"));
}

#[test]
fn conf_7_topics_may_stand_behind_debug() {
    for given in [
        &["--debug=api,!tools"][..],
        &["--debug", "api,!tools", "--verbose"],
        &["-d", "api,!tools"],
    ] {
        let flags = parse(given);
        assert!(flags.debug);
        assert_eq!(flags.debug_topics, ["api", "!tools"]);
        assert!(flags.unknown.is_empty());
    }
    let flags = parse(&["--debug", "--resume", "abc"]);
    assert!(flags.debug && flags.debug_topics.is_empty());
    assert_eq!(flags.resume.as_deref(), Some("abc"));
}

#[test]
fn an_unknown_flag_is_passed_over_with_its_value() {
    let flags = parse(&[
        "--of-tomorrow",
        "value",
        "--also=1",
        "--and",
        "--model",
        "m",
        "-x",
    ]);
    assert_eq!(flags.unknown, ["--of-tomorrow", "--also=1", "--and", "-x"]);
    assert_eq!(flags.model.as_deref(), Some("m"));
}

#[test]
fn what_cannot_be_followed_names_the_flag() {
    for (given, expected) in [
        (
            &["--max-turns", "many"][..],
            "option '--max-turns': takes a whole number, not `many`",
        ),
        (&["--model"], "option '--model': needs a value"),
        (
            &["--permission-mode=yolo"],
            "option '--permission-mode': takes",
        ),
        (
            &["--max-budget-usd=-1"],
            "option '--max-budget-usd': takes an amount",
        ),
        (&["--effort=huge"], "option '--effort': takes low"),
        (&["--thinking=deep"], "option '--thinking': takes adaptive"),
        (
            &["--thinking-display=all"],
            "option '--thinking-display': takes summarized",
        ),
        (
            &["--sandbox=garbage"],
            "option '--sandbox': the settings of",
        ),
        (
            &["--sandbox", r#"{"enabledd": true}"#],
            "option '--sandbox': the settings of the sandbox have no `enabledd`",
        ),
        (
            &["--disallowedTool", "Bash"],
            "the option --disallowedTool is not known: did you mean --disallowed-tools?",
        ),
        (
            &["--setting={}"],
            "the option --setting={} is not known: did you mean --settings?",
        ),
        (
            &["--bear"],
            "the option --bear is not known: did you mean --bare?",
        ),
        (
            &["--strict-mcp-confg"],
            "the option --strict-mcp-confg is not known: did you mean --strict-mcp-config?",
        ),
        (
            &["--resume", "--verbose"],
            "option '--resume': needs the id of a session",
        ),
        (&["-r"], "option '--resume': needs the id of a session"),
        (
            &["--permission-prompts=me"],
            "option '--permission-prompts': takes host",
        ),
    ] {
        let error = Flags::parse(&words(given)).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn rules_are_split_outside_of_parentheses() {
    assert_eq!(
        rules_of("Read,Bash(git log:*), Bash(a,b c)"),
        ["Read", "Bash(git log:*)", "Bash(a,b c)"]
    );
    assert_eq!(rules_of(" , "), Vec::<String>::new());
}
