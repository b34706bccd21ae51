//! Variables, `${name}`, in the strings of a script.

use alloc::{borrow::Cow, collections::BTreeMap, format, string::String, vec::Vec};

use serde::Deserialize;
use windlass_core::json::RawJson;

use super::{ScriptError, read};

/// The part of a script that declares variables; everything else is parsed later.
#[derive(Deserialize)]
struct Declarations {
    #[serde(default)]
    variables: BTreeMap<String, Option<String>>,
}

/// Replaces declared variables by their values, given or default.
///
/// The replacement works on the JSON text: `${` can only occur in strings there, and the value is inserted in escaped form.
pub(super) fn fill<'a>(json: &'a str, given: &[(&str, &str)]) -> Result<Cow<'a, str>, ScriptError> {
    let mut values = read::<Declarations>(json)?.variables;
    for (name, value) in given {
        let Some(slot) = values.get_mut(*name) else {
            return Err(ScriptError::new(
                "variables",
                &format!("the script declares no variable `{name}`"),
                &format!("declare it: \"variables\": {{\"{name}\": null}}"),
            ));
        };
        *slot = Some((*value).into());
    }
    let mut filled = Cow::Borrowed(json);
    let literals: Vec<(String, Option<String>)> = values.into_iter().collect();
    for (name, value) in literals {
        let Some(value) = value else {
            return Err(ScriptError::new(
                &format!("variables.{name}"),
                "the variable has no value",
                "give one when the script is loaded, or write a default in the script",
            ));
        };
        let quoted = RawJson::string(&value);
        // The literal without its quotation marks.
        let escaped = &quoted.get()[1..quoted.get().len() - 1];
        filled = Cow::Owned(filled.replace(&format!("${{{name}}}"), escaped));
    }
    Ok(filled)
}
