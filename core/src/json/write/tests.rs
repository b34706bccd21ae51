#![allow(clippy::unwrap_used)]

use alloc::{
    boxed::Box,
    collections::BTreeMap,
    string::{String, ToString as _},
    vec,
    vec::Vec,
};

use proptest::prelude::*;
use serde::Serialize;
use serde_json::{json, value::RawValue};

use super::to_string;

#[derive(Serialize)]
struct All {
    nothing: (),
    truth: bool,
    numbers: (i8, i16, i32, i64, i128, u8, u16, u32, u64, u128),
    floats: Vec<f64>,
    letter: char,
    maybe: [Option<Unit>; 2],
    carried: Box<RawValue>,
    carried_in: Vec<Box<RawValue>>,
    kinds: Vec<Kind>,
    tagged: Vec<Tagged>,
    names: BTreeMap<Unit, ()>,
    numbered: BTreeMap<u32, Pair>,
    signs: BTreeMap<i64, String>,
    truths: BTreeMap<bool, Named>,
    empty: (Vec<u8>, BTreeMap<String, u8>, Fields),
    any: serde_json::Value,
    #[serde(flatten)]
    more: BTreeMap<String, u8>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
enum Unit {
    A,
    B,
}

#[derive(Serialize)]
struct Pair(u8, String);

#[derive(Serialize)]
struct Named(String);

#[derive(Serialize)]
struct Fields {}

#[derive(Serialize)]
enum Kind {
    Plain,
    Newtype(Vec<u8>),
    Tuple(u8, String),
    Struct { a: u8, b: Box<Kind> },
    Empty {},
}

#[derive(Serialize)]
#[serde(tag = "type")]
enum Tagged {
    One { a: u8 },
    Two(Other),
    None,
}

#[derive(Serialize)]
struct Other {
    text: Box<RawValue>,
}

fn carried(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.into()).unwrap()
}

#[test]
fn everything_is_written_as_serde_json_writes_it() {
    let all = All {
        nothing: (),
        truth: true,
        numbers: (
            -8,
            -16,
            -32,
            i64::MIN,
            i128::MIN,
            8,
            16,
            32,
            u64::MAX,
            u128::MAX,
        ),
        floats: vec![0.0, -0.0, 1.5, 1e300, 5e-324, 0.1, f64::NAN, f64::INFINITY],
        letter: '"',
        maybe: [Some(Unit::A), None],
        carried: carried(r#"{"x" : [1.50, "\u0041"]}"#),
        carried_in: vec![carried("1"), carried("[]")],
        kinds: vec![
            Kind::Plain,
            Kind::Newtype(vec![1, 2]),
            Kind::Tuple(1, "a".into()),
            Kind::Struct {
                a: 1,
                b: Box::new(Kind::Plain),
            },
            Kind::Empty {},
        ],
        tagged: vec![
            Tagged::One { a: 1 },
            Tagged::Two(Other {
                text: carried("null"),
            }),
            Tagged::None,
        ],
        names: BTreeMap::from([(Unit::A, ()), (Unit::B, ())]),
        numbered: BTreeMap::from([(1, Pair(1, "\u{7f}".into())), (2, Pair(2, String::new()))]),
        signs: BTreeMap::from([(-1, "x".into())]),
        truths: BTreeMap::from([(true, Named("y".into()))]),
        empty: (vec![], BTreeMap::new(), Fields {}),
        any: json!({"b": [1, null, {"a": {}}], "a": "ü"}),
        more: BTreeMap::from([("zzz".into(), 1)]),
    };
    assert_eq!(
        to_string(&all).unwrap(),
        serde_json::to_string(&all).unwrap()
    );
}

#[test]
fn names_are_texts() {
    let lists = BTreeMap::from([(vec![1], 1)]);
    let maybes = BTreeMap::from([(None::<u8>, 1)]);
    let units = BTreeMap::from([((), 1)]);
    for error in [
        to_string(&lists).unwrap_err().to_string(),
        to_string(&maybes).unwrap_err().to_string(),
        to_string(&units).unwrap_err().to_string(),
    ] {
        assert_eq!(error, "key must be a string");
    }
    assert!(serde_json::to_string(&lists).is_err());
}

proptest! {
    #[test]
    fn every_text_is_escaped_as_serde_json_does(text in "(?s)[\u{0}-\u{90}]{0,20}.{0,4}") {
        prop_assert_eq!(to_string(&text).unwrap(), serde_json::to_string(&text).unwrap());
        let map = BTreeMap::from([(text, 1)]);
        prop_assert_eq!(to_string(&map).unwrap(), serde_json::to_string(&map).unwrap());
    }

    #[test]
    fn every_number_is_written_as_serde_json_does(signed in any::<i64>(), unsigned in any::<u64>(), near in -1000..1000i32) {
        let numbers = (signed, unsigned, f64::from(near) / 8.0);
        prop_assert_eq!(to_string(&numbers).unwrap(), serde_json::to_string(&numbers).unwrap());
    }

    /// If two texts are equally short and equally near, either is correct.
    #[test]
    fn every_float_is_written_as_shortly_and_means_the_same(float in any::<f64>()) {
        let (ours, other) = (to_string(&float).unwrap(), serde_json::to_string(&float).unwrap());
        prop_assert_eq!(ours.len(), other.len(), "{} and {}", ours, other);
        prop_assert!(!float.is_finite() || ours.parse::<f64>().unwrap().to_bits() == float.to_bits(), "{}", ours);
    }
}
