//! Patterns: the dialect, what is refused, and the same answers as another implementation.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use regex_automata::meta::Regex;
use windlass_schema::pattern::Pattern;

fn is_match(pattern: &str, text: &str) -> bool {
    Pattern::new(pattern)
        .unwrap_or_else(|e| panic!("{pattern}: {e}"))
        .is_match(text)
}

#[test]
fn what_schemas_and_matchers_write_matches_what_they_mean() {
    for (pattern, yes, no) in [
        ("", &["", "x"][..], &[][..]),
        ("b", &["abc", "b"], &["a", ""]),
        ("^x-", &["x-y"], &["ax-"]),
        ("^$", &[""], &["\n", "a"]),
        (
            "^[a-z][a-z0-9_-]*$",
            &["a", "kebab-case_1"],
            &["", "1a", "aB", "a\n"],
        ),
        (
            r"^\d{4}-\d{2}-\d{2}$",
            &["2026-01-31"],
            &["2026-1-31", "٢٠٢٦-01-31"],
        ),
        (r"^\S+@\S+\.\w{2,}$", &["a@b.cd"], &["a b@c.de", "a@b.c"]),
        ("^(foo|bar)?$", &["", "foo", "bar"], &["foobar"]),
        (
            "^(?:a|ab)(?:c|bcd)$",
            &["ac", "abc", "abcd", "abbcd"],
            &["ab"],
        ),
        ("a{2}", &["aa", "baaa"], &["a"]),
        ("^a{2,}$", &["aa", "aaaa"], &["a"]),
        ("^a{0}$", &[""], &["a"]),
        ("^(a{0}){9999999}$", &[""], &["a"]),
        ("^x{,3}$", &["x{,3}"], &["xx"]),
        ("^{}]$", &["{}]"], &[]),
        ("^a??b+?c*?$", &["b", "abbcc"], &["a"]),
        ("^(a*)*b$", &["b", "aaab"], &["aaaa"]),
        (r"^[\w.-]+$", &["a.b-c_d"], &["a b"]),
        (r"^[^\s/]+$", &["ab"], &["a b", "a/b", ""]),
        (r"^[\]\\^-]$", &["]", "\\", "^", "-"], &["a"]),
        (r"^[a-\d]+$", &["a-5"], &["b"]),
        ("^[]$", &[], &["", "a"]),
        ("^[^]$", &["a", "\n"], &[""]),
        (r"\bcat\b", &["a cat!", "cat"], &["concat", "cats"]),
        (r"\Bcat", &["concat"], &["cat"]),
        (r"^[\b]$", &["\u{8}"], &["b"]),
        (r"^.$", &["é", "😀"], &["\n", "\u{2028}", "ab"]),
        (r"^\u0041\x42\u{43}\uD83D\uDE00$", &["ABC😀"], &["ABC"]),
        (r"^\t\n\v\f\r\0\cJ$", &["\t\n\u{b}\u{c}\r\0\n"], &[""]),
        (r"^\/\-\_\:\@$", &["/-_:@"], &[""]),
        (
            r"^\s$",
            &[" ", "\u{a0}", "\u{feff}", "\u{2029}"],
            &["\u{85}", "a"],
        ),
        (
            r"^(?=.*\d)(?=.*[a-z]).{4,}$",
            &["abc1"],
            &["abcd", "12", "1234"],
        ),
        ("^(?!con$).*$", &["cons", ""], &["con"]),
        (r"(?<=\$)\d+", &["$5"], &["5", "€5"]),
        ("(?<!a)b", &["b", "cb"], &["ab"]),
        ("(?<year>x)(?P<other>y)", &["xy"], &["x"]),
        (
            r"^\p{Lu}\p{Ll}+\P{L}$",
            &["Änderung!"],
            &["änderung!", "Abc"],
        ),
        (r"^\p{gc=N}+$", &["12½"], &["a"]),
    ] {
        for text in yes {
            assert!(is_match(pattern, text), "{pattern:?} on {text:?}");
        }
        for text in no {
            assert!(!is_match(pattern, text), "{pattern:?} on {text:?}");
        }
    }
}

#[test]
fn properties_are_general_categories_unless_they_are_named_otherwise() {
    for (pattern, yes, no) in [
        // U+2160 ROMAN NUMERAL ONE is a number (Nl), though Alphabetic and Uppercase; so is U+24B6 a symbol (So).
        (r"\p{L}", "aÄλ家ªʰǅ", "\u{2160}\u{24b6}1\u{345}"),
        (r"\p{Letter}", "a", "\u{2160}"),
        (r"\p{Alphabetic}", "aÄ\u{2160}\u{24b6}\u{345}", "1-"),
        (r"\p{Lu}", "AÄΛ", "a\u{2160}\u{24b6}ǅ"),
        (r"\p{Uppercase}", "A\u{2160}\u{24b6}", "aǅ"),
        (r"\p{Ll}", "aß", "A\u{2170}ªʰ"),
        (r"\p{Lowercase}", "aß\u{2170}ªʰ", "A"),
        (r"\p{Lt}", "ǅ", "Aa"),
        (r"\p{LC}", "aAǅ", "家ª"),
        (r"\p{N}", "1½\u{2160}٣²", "a一"),
        (r"\p{Nd}", "1٣\u{9ea}", "½²\u{2160}"),
        (r"\p{digit}", "1٣", "½"),
        (r"\p{Nl}", "\u{2160}\u{3007}", "1½"),
        (r"\p{No}", "½²", "1\u{2160}"),
        (r"\p{P}", "!_-(»¿", "+$^a"),
        (r"\p{Punctuation}", "!", "$"),
        (r"\p{S}", "+$^©", "!a"),
        (r"\p{Sc}", "$€", "+"),
        (r"\p{M}", "\u{301}\u{903}", "´a"),
        (r"\p{Z}", " \u{a0}\u{2028}\u{3000}", "\t\na"),
        (r"\p{Zs}", " \u{a0}", "\u{2028}"),
        (r"\p{White_Space}", " \t\n\u{85}", "\u{200b}"),
        (r"\p{C}", "\0\u{ad}\u{e000}\u{378}", "a "),
        (r"\p{Cn}", "\u{378}\u{10ffff}", "a\u{e000}"),
        (r"\p{Assigned}", "a\u{e000}", "\u{378}"),
        (r"\p{General_Category=Decimal_Number}", "1", "½"),
        (r"[\p{L}_-]", "a_-", "1\u{2160}"),
        (r"[^\p{L}]", "1\u{2160}", "aÄ"),
        (r"\P{Lu}", "a\u{2160}", "A"),
    ] {
        for c in yes.chars() {
            assert!(is_match(pattern, &c.to_string()), "{pattern} on {c:?}");
        }
        for c in no.chars() {
            assert!(!is_match(pattern, &c.to_string()), "{pattern} on {c:?}");
        }
    }
}

#[test]
fn a_full_match_is_of_the_whole_text() {
    let tools = Pattern::new("Edit|Write|mcp__.*").unwrap();
    for name in ["Edit", "Write", "mcp__files__move"] {
        assert!(tools.is_full_match(name), "{name}");
    }
    for name in ["NotebookEdit", "Edits", "TodoWrite", ""] {
        assert!(!tools.is_full_match(name), "{name}");
    }
    let shorter_first = Pattern::new("a|ab").unwrap();
    assert!(shorter_first.is_full_match("ab"));
}

#[test]
fn what_is_no_pattern_is_refused_with_place_and_reason() {
    for (pattern, place, reason) in [
        ("(a", 0, "not closed"),
        ("a)", 1, "closes no group"),
        ("a[b", 1, "not closed"),
        ("*a", 0, "nothing before it"),
        ("a**", 2, "nothing before it"),
        ("a{3,1}", 1, "largest count"),
        ("^*", 0, "cannot be repeated"),
        ("[z-a]", 3, "before it begins"),
        (r"a\", 2, "ends with a backslash"),
        (r"(a)\1", 4, "references back"),
        (r"\k<a>", 1, "references back"),
        (r"\Z", 1, "no escape `\\Z`"),
        (r"\p{Greek}", 3, "`Greek` is not supported"),
        (r"\p{gc=Alphabetic}", 3, "is not supported"),
        (r"\p{letter}", 3, "is not supported"),
        (r"\pL", 2, "in braces"),
        (r"\xg1", 2, "hexadecimal"),
        (r"\u{110000}", 3, "hexadecimal"),
        (r"\uD83D", 2, "surrogate"),
        (r"\c1", 3, "followed by a letter"),
        ("(?i)a", 2, "kind of group"),
        ("(?>a)", 2, "kind of group"),
        ("(?<a", 3, "ends with `>`"),
        ("(a{1000}){1000}", 0, "shorten its repetitions"),
    ] {
        let error = Pattern::new(pattern).unwrap_err();
        assert!(error.problem.contains(reason), "{pattern}: {error}");
        assert_eq!(error.place, place, "{pattern}: {error}");
    }
    let deep = "(".repeat(10_000) + &")".repeat(10_000);
    assert!(
        Pattern::new(&deep)
            .unwrap_err()
            .problem
            .contains("too deep")
    );
}

#[test]
fn no_pattern_takes_exponential_time() {
    let text = "a".repeat(5_000);
    assert!(!is_match("^(a+)+$", &format!("{text}!")));
    assert!(!is_match("^(a|a)*b$", &text));
    assert!(
        !is_match("(?=(a*)*b)", &text),
        "ends, if need be without an answer"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4_000) })]

    #[test]
    fn patterns_mean_what_they_mean_to_regex_automata(
        pattern in arbitrary_pattern(),
        text in prop::collection::vec(prop_oneof![Just('a'), Just('b'), Just('-'), Just('é'), Just('1')], 0..8),
    ) {
        let text: String = text.into_iter().collect();
        let theirs = Regex::new(&pattern).unwrap();
        let ours = Pattern::new(&pattern).unwrap();
        prop_assert_eq!(ours.is_match(&text), theirs.is_match(&text), "{} on {}", pattern, text);
        let whole = Regex::new(&format!("^(?:{pattern})$")).unwrap();
        prop_assert_eq!(ours.is_full_match(&text), whole.is_match(&text), "all of {} on {}", pattern, text);
    }

    #[test]
    fn no_text_makes_the_reader_of_patterns_panic(
        pieces in prop::collection::vec(
            prop_oneof![
                Just("("), Just(")"), Just("["), Just("]"), Just("{"), Just("}"), Just("\\"), Just("?"), Just("*"),
                Just("|"), Just("^"), Just("-"), Just("1"), Just(","), Just("u"), Just("p"), Just("<"), Just("="), Just("é"),
            ],
            0..12,
        ),
        text in ".{0,6}",
    ) {
        if let Ok(pattern) = Pattern::new(&pieces.concat()) {
            let _ = pattern.is_match(&text);
        }
    }
}

fn arbitrary_pattern() -> impl Strategy<Value = String> {
    let atom = prop_oneof![
        Just("a"),
        Just("b"),
        Just("é"),
        Just("."),
        Just("[ab]"),
        Just("[^a]"),
        Just("[0-9a-]"),
        Just("^"),
        Just("$"),
        Just("1"),
    ];
    atom.prop_map(str::to_owned)
        .prop_recursive(4, 24, 4, |inner| {
            let repeatable = inner.clone().prop_map(|p| format!("(?:{p})"));
            prop_oneof![
                prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
                prop::collection::vec(inner, 2..4)
                    .prop_map(|parts| format!("(?:{})", parts.join("|"))),
                (
                    repeatable,
                    prop_oneof![
                        Just("*"),
                        Just("+"),
                        Just("?"),
                        Just("{2}"),
                        Just("{1,3}"),
                        Just("{2,}")
                    ]
                )
                    .prop_map(|(part, times)| format!("{part}{times}")),
            ]
        })
}
