//! Validation errors, worded for the model that wrote the value.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt::{self, Write as _};

/// The maximum number of errors reported: a model does not correct more at once.
const NAMED: usize = 10;
/// The maximum number of forms of an `anyOf` that are explained, and the maximum number of bytes for one of them: forms have forms.
const FORMS: usize = 4;
const FORM_BYTES: usize = 400;

/// A validation error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place} {problem}")]
pub struct SchemaFault {
    /// The place in the value: a field path in backquotes, or "the input".
    pub place: String,
    /// What is wrong, and what would be valid.
    pub problem: String,
}

/// The validation errors of a value, up to a limit; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaFaults {
    /// The errors in the order of the value, at most ten.
    pub faults: Vec<SchemaFault>,
    /// The number of further errors.
    pub more: u32,
}

impl SchemaFaults {
    pub(crate) fn one(place: &str, problem: &str) -> Self {
        let fault = SchemaFault {
            place: place.to_owned(),
            problem: problem.to_owned(),
        };
        Self {
            faults: alloc::vec![fault],
            more: 0,
        }
    }
}

impl fmt::Display for SchemaFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, fault) in self.faults.iter().enumerate() {
            let before = if i > 0 { "; " } else { "" };
            write!(f, "{before}{fault}")?;
        }
        match self.more {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

impl core::error::Error for SchemaFaults {}

/// A place in a value, formatted only if an error is reported for it.
#[derive(Clone, Copy)]
pub(crate) enum Place<'p> {
    Root,
    Field(&'p Place<'p>, &'p str),
    Item(&'p Place<'p>, usize),
}

impl Place<'_> {
    fn level(&self) -> u32 {
        match self {
            Self::Root => 0,
            Self::Field(above, _) | Self::Item(above, _) => above.level() + 1,
        }
    }

    fn write(&self, out: &mut String) {
        let written = match self {
            Self::Root => Ok(()),
            Self::Field(Place::Root, name) => write!(out, "{name}"),
            Self::Field(above, name) => {
                above.write(out);
                write!(out, ".{name}")
            }
            Self::Item(above, index) => {
                above.write(out);
                write!(out, "[{index}]")
            }
        };
        // Writing to memory cannot fail.
        debug_assert!(written.is_ok());
    }

    fn words(&self) -> String {
        if matches!(self, Self::Root) {
            return "the input".to_owned();
        }
        let mut out = String::from("`");
        self.write(&mut out);
        out.push('`');
        out
    }
}

/// What an error tells about the form that was tried: whether that form was meant at all.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A wrong type.
    Type,
    /// Not one of the allowed values.
    Value,
    Other,
}

/// Collects errors during validation.
#[derive(Default)]
pub(crate) struct Found {
    faults: Vec<(SchemaFault, Kind, u32)>,
    more: u32,
}

impl Found {
    pub(crate) fn is_empty(&self) -> bool {
        self.faults.is_empty()
    }

    pub(crate) fn add(&mut self, at: &Place<'_>, kind: Kind, problem: String) {
        if self.faults.len() == NAMED {
            self.more = self.more.saturating_add(1);
            return;
        }
        let place = at.words();
        let fault = SchemaFault { place, problem };
        self.faults.push((fault, kind, at.level()));
    }

    pub(crate) fn problems(&self) -> impl Iterator<Item = &str> {
        self.faults.iter().map(|(fault, ..)| fault.problem.as_str())
    }

    fn append(&mut self, other: Self) {
        self.more = self.more.saturating_add(other.more);
        for fault in other.faults {
            if self.faults.len() < NAMED {
                self.faults.push(fault);
            } else {
                self.more = self.more.saturating_add(1);
            }
        }
    }

    /// The value matches none of several forms. If it is clear which one was meant, the errors of that form are reported.
    pub(crate) fn add_misfits(&mut self, at: &Place<'_>, mut forms: Vec<Self>) {
        let level = at.level();
        let is_meant = |form: &Self| {
            !form.faults.iter().any(|(_, kind, at)| match kind {
                Kind::Type => *at == level,
                // For example `kind: "circle"`, tried against the form of squares.
                Kind::Value => *at <= level + 1,
                Kind::Other => false,
            })
        };
        let meant: Vec<usize> = (0..forms.len()).filter(|i| is_meant(&forms[*i])).collect();
        if let [only] = meant.as_slice() {
            return self.append(forms.swap_remove(*only));
        }
        let named: Vec<String> = forms
            .iter()
            .filter_map(|form| form.faults.first())
            .take(FORMS)
            .map(|(fault, ..)| shortened(fault.to_string()))
            .collect();
        let rest = match forms.len().saturating_sub(FORMS) {
            0 => String::new(),
            rest => format!("; and {rest} more forms"),
        };
        let problem = format!(
            "fits none of the allowed forms: {}{rest}",
            named.join(" – or: ")
        );
        self.add(at, Kind::Other, problem);
    }

    pub(crate) fn into_result(self) -> Result<(), SchemaFaults> {
        if self.faults.is_empty() {
            return Ok(());
        }
        Err(SchemaFaults {
            faults: self.faults.into_iter().map(|(fault, ..)| fault).collect(),
            more: self.more,
        })
    }
}

fn shortened(mut text: String) -> String {
    if text.len() > FORM_BYTES {
        text.truncate(text.floor_char_boundary(FORM_BYTES));
        text.push('…');
    }
    text
}
