//! Command lines and what they say.

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
