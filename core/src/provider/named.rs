//! The JSON names of wire formats: `"anthropic"` (also if absent or `null`), `"openai"`, or `{"openai": {…}}` with the settings
//! of [`ChatCompletions`].

use alloc::{format, string::String, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::{Provider, messages::MessagesApi, openai::ChatCompletions};
use crate::json::RawJson;

/// A format without a name becomes `null`: whoever reads it must set it again.
pub(crate) fn serialize<S: Serializer>(
    provider: &Arc<dyn Provider>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    provider.json_form().serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Arc<dyn Provider>, D::Error> {
    // Read as raw JSON, because settings may contain raw JSON, which untagged enums do not support.
    let form = RawJson::deserialize(deserializer)?;
    read(&form).map_err(D::Error::custom)
}

fn read(form: &RawJson) -> Result<Arc<dyn Provider>, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct WithSettings {
        openai: ChatCompletions,
    }
    if form.is_object() {
        let with: WithSettings = form.read().map_err(|error| error.reason)?;
        return Ok(Arc::new(with.openai));
    }
    match form
        .read::<Option<String>>()
        .map_err(|error| error.reason)?
        .as_deref()
    {
        None | Some("anthropic") => Ok(Arc::new(MessagesApi)),
        Some("openai") => Ok(Arc::new(ChatCompletions::default())),
        Some(name) => Err(format!(
            "`provider` is \"anthropic\" or \"openai\", not \"{name}\""
        )),
    }
}
