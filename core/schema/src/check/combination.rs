//! Combinations of schemas, and conditional schemas.

use alloc::{format, string::ToString, vec::Vec};

use super::{Checker, Subject, seen::Seen};
use crate::{
    fault::{Found, Kind},
    value::{Object, Value, short},
};

impl<'s> Checker<'s> {
    pub(super) fn check_combinations<'v>(
        &self,
        schema: &'s Object,
        subject: Subject<'v, '_>,
        seen: &mut Seen,
        found: &mut Found,
    ) {
        let list = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
        for part in list("allOf").into_iter().flatten() {
            seen.add(self.again(part, subject, found));
        }
        if let Some(forms) = list("anyOf") {
            let mut misfits = Vec::new();
            let mut fits = false;
            for form in forms {
                match self.try_schema(form, subject) {
                    Ok(more) => {
                        seen.add(more);
                        fits = true;
                        // The remaining schemas only matter for `unevaluated…`, which needs to know what they evaluated.
                        if !self.schema.has_unevaluated {
                            break;
                        }
                    }
                    Err(faults) => misfits.push(faults),
                }
            }
            if !fits {
                found.add_misfits(subject.at, misfits);
            }
        }
        if let Some(forms) = list("oneOf") {
            self.check_one_of(forms, subject, seen, found);
        }
        if let Some(unwanted) = schema.get("not")
            && self.try_schema(unwanted, subject).is_ok()
        {
            let problem = format!("must not be of the form {}", short(unwanted));
            found.add(subject.at, Kind::Other, problem);
        }
    }

    fn check_one_of<'v>(
        &self,
        forms: &'s [Value],
        subject: Subject<'v, '_>,
        seen: &mut Seen,
        found: &mut Found,
    ) {
        let mut misfits = Vec::new();
        let mut fitting = Vec::new();
        for (i, form) in forms.iter().enumerate() {
            match self.try_schema(form, subject) {
                Ok(more) => {
                    seen.add(more);
                    fitting.push((i + 1).to_string());
                }
                Err(faults) => misfits.push(faults),
            }
        }
        match fitting.as_slice() {
            [] => found.add_misfits(subject.at, misfits),
            [_] => {}
            several => {
                let problem = format!(
                    "must fit exactly one of the allowed forms, and fits numbers {}",
                    several.join(" and ")
                );
                found.add(subject.at, Kind::Other, problem);
            }
        }
    }

    pub(super) fn check_condition<'v>(
        &self,
        schema: &'s Object,
        subject: Subject<'v, '_>,
        seen: &mut Seen,
        found: &mut Found,
    ) {
        let Some(condition) = schema.get("if") else {
            return;
        };
        let then = match self.try_schema(condition, subject) {
            Ok(more) => {
                seen.add(more);
                schema.get("then")
            }
            Err(_) => schema.get("else"),
        };
        if let Some(then) = then {
            seen.add(self.again(then, subject, found));
        }
    }
}
