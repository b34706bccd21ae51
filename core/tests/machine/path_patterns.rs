//! Path patterns against another implementation of them.

use globset::GlobBuilder;
use proptest::prelude::*;
use windlass_core::{
    permission::{CallFacts, Mode, PathFact, PolicyContext, Rule, Rules, Verdict, judge},
    spec::Environment,
    tool::Access,
};

use crate::harness::file_tool;

fn is_denied(pattern: &str, path: &str) -> bool {
    let paths = [PathFact {
        path: path.into(),
        access: Access::Read,
        written: path.into(),
    }];
    let rules = Rules {
        deny: vec![Rule::parse(&format!("Read(/{pattern})")).unwrap()],
        ..Rules::default()
    };
    let tool = file_tool("Read", Access::Read);
    let call = CallFacts {
        paths: &paths,
        ..CallFacts::of(&tool)
    };
    let environment = Environment::default();
    let mode = Mode::BypassPermissions;
    judge(&PolicyContext::new(&rules, mode, &environment), call, None).verdict == Verdict::Deny
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_global_rejects: 100_000, ..ProptestConfig::with_cases(3_000) })]

    /// The same pattern closes a file for the judge here and for the host's resolver there, which matches
    /// with globset. (Negated classes are left out: there they match a slash too, and so close more.)
    #[test]
    fn path_patterns_mean_what_they_mean_to_globset(
        pattern in prop::collection::vec(
            prop_oneof![
                Just("a"), Just("b"), Just("*"), Just("?"), Just("[ab]"), Just("[a-c]"),
                Just("\\*"), Just("é"), Just("/"), Just("/**/"), Just("/*"), Just("/**"),
            ],
            1..7,
        ),
        path in prop::collection::vec(
            prop_oneof![
                Just("a"), Just("b"), Just("c"), Just("*"), Just("é"), Just("/"), Just("/a"), Just("/b"),
            ],
            1..9,
        ),
    ) {
        let clean = |parts: Vec<&str>| {
            let mut text = format!("/{}", parts.concat());
            while text.contains("//") {
                text = text.replace("//", "/");
            }
            text.trim_end_matches('/').to_owned()
        };
        let (pattern, path) = (clean(pattern), clean(path));
        // A `**` inside of a segment is spelled differently there.
        let inside = pattern.split('/').any(|segment| segment.contains("**") && segment != "**");
        prop_assume!(!pattern.is_empty() && !path.is_empty() && !inside);
        let glob = GlobBuilder::new(&pattern)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .unwrap()
            .compile_matcher();
        let expected = std::path::Path::new(&path).ancestors().any(|above| glob.is_match(above));
        prop_assert_eq!(is_denied(&pattern, &path), expected, "{} on {}", pattern, path);
    }
}
