#![allow(clippy::unwrap_used)]

use alloc::{
    borrow::Cow,
    boxed::Box,
    collections::BTreeMap,
    format,
    string::{String, ToString as _},
    vec,
    vec::Vec,
};

use proptest::prelude::*;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json, value::RawValue};

use super::{from_slice, from_str, raw, text as text_of, tree};

#[derive(Debug, PartialEq, Deserialize)]
struct Pair {
    name: String,
    #[serde(default)]
    inner: Option<Inner>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Inner(Vec<Kind>);

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Plain,
    Number(i64),
    Both(u8, u8),
    Fields { on: bool },
}

#[test]
fn every_shape_is_read_at_every_depth() {
    let text =
        r#"{"name":"a","inner":["plain",{"number":-1},{"both":[1,2]},{"fields":{"on":true}}]}"#;
    let read: Pair = from_slice(text.as_bytes()).unwrap();
    let kinds = vec![
        Kind::Plain,
        Kind::Number(-1),
        Kind::Both(1, 2),
        Kind::Fields { on: true },
    ];
    assert_eq!(read.inner, Some(Inner(kinds)));
    assert_eq!(from_str::<Value>("[1,{}]").unwrap(), json!([1, {}]));
    let carried: &RawValue = from_str(" {\"b\": 1.50} ").unwrap();
    assert_eq!(carried.get(), "{\"b\": 1.50}");
}

#[test]
fn an_array_is_no_structure() {
    for (text, at) in [
        (r#"["a"]"#, "line 1 column 0"),
        (r#"{"name":"a","inner":[{"fields":[true]}]}"#, "line 1"),
        (r#"{"name":"a"} x"#, "line 1 column 14"),
    ] {
        let error = from_str::<Pair>(text).unwrap_err().to_string();
        assert!(error.contains(at), "{error}");
    }
    let error = from_slice::<String>(b"\"a\xff\"").unwrap_err();
    assert!(error.to_string().contains("byte 2"), "{error}");
    let cut = from_slice::<String>("\"aü".as_bytes().split_last().unwrap().1).unwrap_err();
    assert!(cut.is_cut(), "{cut}");
}

#[test]
fn what_is_wrong_has_one_place() {
    for (text, expected) in [
        (
            "{\n\"name\": 3}",
            "invalid type: integer `3`, expected a string at line 2 column 9",
        ),
        ("{}", "missing field `name` at line 1 column 2"),
        (
            r#"{"name":null}"#,
            "invalid type: null, expected a string at line 1 column 12",
        ),
        (
            r#"{"name":"a","inner":1.5}"#,
            "invalid type: floating point `1.5`, expected a sequence at line 1 column 23",
        ),
    ] {
        assert_eq!(from_str::<Pair>(text).unwrap_err().to_string(), expected);
    }
    /// A text within the text, parsed separately.
    #[derive(Debug)]
    struct Within;
    impl<'de> Deserialize<'de> for Within {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let text = <&RawValue>::deserialize(deserializer)?.get();
            from_str::<Pair>(text).map_err(serde::de::Error::custom)?;
            Ok(Self)
        }
    }
    let error = from_str::<Vec<Within>>("[\n{}]").unwrap_err().to_string();
    assert_eq!(error, "missing field `name` at line 1 column 2");
}

/// A type that uses all features of a reader. Structures are covered by the tests above, since their behaviour differs
/// intentionally.
#[derive(Debug, PartialEq, Deserialize)]
enum Asked {
    Nothing(()),
    Truth(bool),
    Small(u8),
    Signed(i32),
    Large(u64),
    Float(f64),
    Letter(char),
    Text(String),
    Maybe(Option<Box<Asked>>),
    List(Vec<Asked>),
    Two(u64, String),
    Map(BTreeMap<String, Asked>),
    Numbered(BTreeMap<u32, Asked>),
    Signs(BTreeMap<i64, ()>),
    Variants(BTreeMap<Unit, u8>),
    Carried(Box<RawValueText>),
    Any(Value),
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
enum Unit {
    A,
    B,
}

#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct RawValueText(Box<RawValue>);

impl PartialEq for RawValueText {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get()
    }
}

/// Asserts that both read the same value, or both refuse the text.
fn agree<'de, T: Deserialize<'de> + PartialEq + core::fmt::Debug>(text: &'de str) {
    match (from_str::<T>(text), serde_json::from_str::<T>(text)) {
        (Ok(ours), Ok(theirs)) => assert_eq!(ours, theirs, "{text}"),
        (Err(_), Err(_)) => {}
        (ours, theirs) => panic!("{ours:?} / {theirs:?}: {text}"),
    }
}

fn agree_on_all(text: &str) {
    let ours = tree(text);
    let theirs = serde_json::from_str::<Value>(text);
    assert_eq!(ours.ok(), theirs.ok(), "{text}");
    agree::<Value>(text);
    agree::<IgnoredText>(text);
    agree::<RawValueText>(text);
    agree::<Asked>(text);
    agree::<Vec<Cow<'_, str>>>(text);
    agree::<Option<f64>>(text);
    agree::<BTreeMap<u64, i64>>(text);
    let ours = raw(text.into()).map(|value| value.get().to_string());
    let theirs = RawValue::from_string(text.into()).map(|value| value.get().to_string());
    assert_eq!(ours.ok(), theirs.ok(), "{text}");
}

#[derive(Debug, PartialEq)]
struct IgnoredText;

impl<'de> Deserialize<'de> for IgnoredText {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

#[test]
fn numbers_are_what_they_are_to_serde_json() {
    for text in [
        "0",
        "-0",
        "-0.0",
        "00",
        "01",
        "-",
        "-a",
        "+1",
        "1.",
        "1.e1",
        ".5",
        "1e",
        "1e+",
        "1E-2",
        "1e5",
        "0e0",
        "1e400",
        "-1e400",
        "1e-400",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        "-9223372036854775809",
        "0.1",
        "1.7976931348623157e308",
        "5e-324",
        "123456789012345678901234567890",
        "0.30000000000000004",
        "1 2",
        "1,",
        "3.14159265358979323846264338327950288",
        "255",
        "256",
        "-1",
        "1.0",
        "NaN",
        "Infinity",
        "0x10",
        "1_000",
        "1e99999999999999999999",
        "0e99999999999999999999",
    ] {
        agree_on_all(text);
        agree::<u8>(text);
        agree::<i64>(text);
        agree::<f64>(text);
        for around in [
            r#"{"Float":#}"#,
            r#"{"Large":#}"#,
            r#"{"Any":[#]}"#,
            r##"{"Numbered":{"#":{"Small":1}}}"##,
            r##"{"#":1}"##,
        ] {
            agree_on_numbers(&around.replace('#', text));
        }
    }
}

proptest! {
    #[test]
    fn every_number_is_to_the_bit_the_one_that_is_nearest(
        text in "-?(0|[1-9][0-9]{0,24})(\\.[0-9]{1,24})?([eE][+-]?[0-9]{1,3})?",
        float in any::<f64>(),
        mantissa in 1_u128 << 52..1 << 53,
        shift in 0..74_u32,
    ) {
        let bits = |read: Option<f64>| read.map(f64::to_bits);
        let exact = |text: &str| text.parse().ok().filter(|number: &f64| number.is_finite());
        prop_assert_eq!(bits(from_str(&text).ok()), bits(exact(&text)), "{}", text);
        if float.is_finite() {
            for text in [serde_json::to_string(&float).unwrap(), format!("{float:.1080}")] {
                prop_assert_eq!(bits(from_str(&text).ok()), bits(Some(float)), "{}", text);
            }
        }
        // The midpoint of two numbers, and numbers next to it.
        let half = (2 * mantissa + 1) << shift;
        for text in [half - 1, half, half + 1].map(|number| number.to_string()) {
            for text in [format!("{text}.0"), format!("{text}.{:0800}1", 0), format!("0.00{text}e3"), format!("{text}000e-3")] {
                prop_assert_eq!(bits(from_str(&text).ok()), bits(exact(&text)), "{}", text);
            }
        }
    }
}

#[test]
fn the_smallest_and_the_largest_numbers_have_their_neighbours() {
    for text in [
        "2.4703282292062327208e-324",
        "2.4703282292062327209e-324",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "4.9e-324",
        "7.4e-324",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017977587207096330286416692887910946555547851940402630657488671505820681908902000708383676273854845817711531764475730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880.0",
        "9007199254740993.0",
        "9007199254740992.999999999999999999999999999999999999",
        "0.000000000000000000000000000000000000000000000000000000001e57",
        "1e-99999999999999999999999",
    ] {
        let exact: f64 = text.parse().unwrap();
        let exact = exact.is_finite().then_some(exact.to_bits());
        assert_eq!(
            from_str::<f64>(text).ok().map(f64::to_bits),
            exact,
            "{text}"
        );
    }
}

/// The same, except for the error message for a name that should be a number.
fn agree_on_numbers(text: &str) {
    let ours = from_str::<Asked>(text).ok();
    assert_eq!(ours, serde_json::from_str::<Asked>(text).ok(), "{text}");
    let ours = from_str::<BTreeMap<u64, i64>>(text).ok();
    assert_eq!(ours, serde_json::from_str(text).ok(), "{text}");
}

#[test]
fn strings_are_what_they_are_to_serde_json() {
    let long = "x".repeat(17);
    for inner in [
        "",
        "a",
        "ü€😀",
        r#"\""#,
        r"\\",
        r"\/\b\f\n\r\t",
        r"\u0041",
        r"\u00e9\u20AC",
        r"\ud83d\ude00",
        r"\ud83d",
        r"\ude00",
        r"\ud83d\ud83d",
        r"\ud83dx",
        r"\ud83d\n",
        r"\u12",
        r"\u12G4",
        r"\x",
        "\\",
        "\n",
        "\u{0}",
        "\u{1f}",
        "\u{7f}",
        "\u{80}",
        "tab\there",
        r"\u0000",
        r"\uFFFF",
        r"\ud83d\u",
        r"\ud83d\",
        r"\u+123",
    ] {
        for before in ["", "abcdefg", &long] {
            for text in [
                format!("\"{before}{inner}\""),
                format!("\"{before}{inner}"),
                format!("[\"{before}{inner}\", \"{inner}{long}\"]"),
                format!("{{\"{before}{inner}\": 1}}"),
                format!("{{\"Text\" : \"{before}{inner}\" }}"),
            ] {
                agree_on_all(&text);
                agree::<String>(&text);
                agree::<char>(&text);
            }
        }
    }
}

#[test]
fn texts_that_are_wrong_are_wrong_to_both() {
    for text in [
        "",
        " ",
        "{",
        "}",
        "[",
        "]",
        "[1",
        "[1,",
        "[1,]",
        "[,]",
        "[,1]",
        "[1 2]",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "{\"a\":1,}",
        "{,}",
        "{1:2}",
        "{\"a\" 1}",
        "{\"a\":1 \"b\":2}",
        "{\"a\":1}}",
        "[]]",
        "nul",
        "nulL",
        "tru",
        "truE",
        "fals",
        "True",
        "\"",
        "\\",
        "//",
        "[1]//",
        "\u{feff}1",
        "\u{a0}1",
        "{\"a\":1,\"a\":2}",
        "{\"List\":[]",
        "{\"List\":[]}}",
        "{\"List\":[], \"Text\":\"\"}",
        "{}",
        "{\"List\"}",
        "\"List\"",
        "\"Nope\"",
        "{\"Nope\":1}",
        "{\"Two\":[1]}",
        "{\"Two\":[1,\"a\",2]}",
        "{\"Two\":[1,\"a\",]}",
        "{\"Two\":[1,\"a\"}",
        "{\"Two\":[1,\"a\"",
        "{\"Nothing\":null}",
        "{\"Nothing\":{}}",
        "\"Nothing\"",
        "{\"Maybe\":null}",
        "{\"Maybe\":{\"Truth\":true}}",
        "{\"Maybe\":{\"Truth\":1}}",
        "{\"Variants\":{\"A\":1,\"B\":2}}",
        "{\"Variants\":{\"C\":1}}",
        "{\"Signs\":{\"-5\":null,\"7\":null}}",
        "{\"Carried\": [1, {\"x\" :2 }] }",
        "{\"Carried\": [1, {\"x\" 2 }] }",
        "{\"Letter\":\"ü\"}",
        "{\"Letter\":\"ab\"}",
        "\n\n[\n1,\n?]",
        "{\"Small\":300}",
        "{\"Signed\":-3000000000}",
        "{ }",
        "[ ]",
        "{\"Map\":{\"a\":\"Nothing\"}}",
    ] {
        agree_on_all(text);
        if let (Err(ours), Err(theirs)) = (tree(text), serde_json::from_str::<Value>(text)) {
            assert_eq!(ours.to_string(), theirs.to_string(), "{text}");
        }
        agree_on_all(&format!("[{text}]"));
        agree_on_all(&format!("{{\"Any\":{text}}}"));
        agree_on_all(&format!("{{\"List\":[{text}"));
    }
}

#[test]
fn there_is_one_limit_to_the_depth_of_what_is_read_and_none_to_what_is_carried() {
    for depth in [1, 2, 125, 126, 127, 128, 129, 500] {
        for (open, close) in [
            ("[", "]"),
            ("{\"a\":", "}"),
            ("{\"Maybe\":", "}"),
            ("[{\"a\":", "}]"),
        ] {
            let text = format!("{}0{}", open.repeat(depth), close.repeat(depth));
            agree::<Value>(&text);
            agree::<IgnoredText>(&text);
            agree::<RawValueText>(&text);
            agree_on_numbers(&text);
        }
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(raw(deep.clone()).unwrap().get(), deep);
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "(?s).{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[a-z\"\\\\ü]{0,3}", inner, 0..5)
                .prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn every_value_is_read_as_serde_json_reads_it(value in value(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let text = text.unwrap();
        agree_on_all(&text);
        agree_on_all(&format!("{{\"Any\":{text}}}"));
        agree_on_all(&format!("{{\"Carried\":{text}}}"));
    }

    /// Texts with a character changed, removed or inserted, and truncated texts.
    #[test]
    fn and_every_text_that_is_nearly_one(value in value(), at in any::<prop::sample::Index>(), put in "[\\[\\]{}:,\"\\\\0-9eE.+\\-ntfu \n\u{1}ü]{0,2}", gone in 0..3_usize) {
        let text = format!("{{\"Any\":{value}}}");
        let chars: Vec<char> = text.chars().collect();
        let at = at.index(chars.len());
        let changed: String = chars[..at].iter().copied().chain(put.chars()).chain(chars.iter().skip(at + gone).copied()).collect();
        agree_on_all(&changed);
    }

    /// The beginning of a text counts as cut off, unless it is a complete text itself.
    #[test]
    fn a_text_that_was_cut_is_known(value in value(), at in any::<prop::sample::Index>()) {
        let text = serde_json::to_string(&value).unwrap();
        let cut = &text.as_bytes()[..at.index(text.len())];
        let read = text_of(cut).and_then(tree);
        prop_assert!(read.is_ok() || read.is_err_and(|error| error.is_cut()));
    }

    #[test]
    fn bytes_are_a_text_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..12)) {
        let ours = from_slice::<Value>(&bytes);
        let theirs = serde_json::from_slice::<Value>(&bytes);
        prop_assert_eq!(ours.ok(), theirs.ok());
    }
}
