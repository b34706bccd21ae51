//! The key for the model server: which one is used, and where it came from.
//!
//! | comes from | is told as |
//! |---|---|
//! | the environment of the program | the name of the variable |
//! | `env` or `apiKeyHelper` of the user's settings | `user` |
//! | … of the project's or local settings, once the folder is trusted | `project` |
//! | … of the organisation's settings | `org` |
//! | … of `--settings` or an SDK's settings, for this session | `temporary` |
//! | the token of a subscription, for which a person signed in | `oauth` |

use std::{fmt, sync::Arc, time::Duration};

use secrecy::{ExposeSecret as _, SecretString};
use windlass_core::permission::Source;
use windlass_engine::{project_config::ProjectConfig, protocol::flags::Provider};

use super::{
    key_helper::{HelperCommand, KeyHelper, LASTS_VARIABLE, USUAL_LASTS},
    launch::Launch,
};
use crate::http::Auth;

const NONE: &str = "none";
const API_KEY: &str = "ANTHROPIC_API_KEY";
const AUTH_TOKEN: &str = "ANTHROPIC_AUTH_TOKEN";
const OAUTH_TOKEN: &str = "CLAUDE_CODE_OAUTH_TOKEN";
const OPENAI_KEY: &str = "OPENAI_API_KEY";
const HELPER: &str = "apiKeyHelper";

/// Where the key and the bearer token for the model server come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeySources {
    /// The key: the name of a variable of the environment; `user`, `project`, `org` or `temporary` for the settings that hold it or
    /// name a command for it; `oauth` for the token of a subscription; `none`.
    pub api_key: &'static str,
    /// The bearer token: the name of its variable, `apiKeyHelper`, or `none`.
    pub token: &'static str,
}

impl KeySources {
    /// Whether there is neither key nor token.
    #[must_use]
    pub fn is_none(self) -> bool {
        self.api_key == NONE && self.token == NONE
    }
}

/// The source of the key, in words that go on after "it comes from".
impl fmt::Display for KeySources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.token {
            HELPER => "the command of `apiKeyHelper` of ",
            _ => "",
        };
        match self.api_key {
            "user" => write!(f, "{what}the user's settings"),
            "project" => write!(f, "{what}the project's settings"),
            "org" => write!(f, "{what}the organisation's settings"),
            "temporary" => write!(f, "{what}the settings of the command line"),
            NONE | "oauth" => f.write_str(self.token),
            variable => f.write_str(variable),
        }
    }
}

/// How requests of a session authenticate.
pub(super) struct ModelKey {
    /// Sent as `x-api-key`.
    key: Option<SecretString>,
    /// Sent as bearer token.
    token: Option<SecretString>,
    /// Prints whichever of the two is missing.
    pub(super) helper: Option<Arc<KeyHelper>>,
    /// Whether the token of a subscription authenticates requests.
    pub(super) is_subscription: bool,
    pub(super) sources: KeySources,
}

impl Default for ModelKey {
    fn default() -> Self {
        Self {
            key: None,
            token: None,
            helper: None,
            is_subscription: false,
            sources: KeySources {
                api_key: NONE,
                token: NONE,
            },
        }
    }
}

impl ModelKey {
    /// Reads environment and settings. What settings say is stronger; an empty variable there hides that of the environment.
    pub(super) fn read(launch: &Launch, found: &ProjectConfig) -> Self {
        let read = match launch.flags.provider {
            Provider::Anthropic => Self::of_anthropic(launch, found),
            Provider::OpenAi => Self::of_openai(launch, found),
        };
        let of_settings = read.key.iter().chain(&read.token);
        launch.learned.redactor().learn(of_settings);
        read
    }

    fn of_anthropic(launch: &Launch, found: &ProjectConfig) -> Self {
        let (of_launch, token_of_launch, oauth_of_launch) = match &launch.auth {
            Auth::ApiKey(key) => (Some(key.clone()), named(launch, AUTH_TOKEN), None),
            Auth::Bearer(token) if launch.is_subscription => (None, None, Some(token.clone())),
            Auth::Bearer(token) => (None, Some(token.clone()), None),
            Auth::None => (None, None, None),
        };
        let key = chosen(found, API_KEY, of_launch);
        let token = chosen(found, AUTH_TOKEN, token_of_launch);
        let helper = helper(launch, found);
        let of_helper = helper.as_ref().map(|helper| scope(helper.how().source));
        let has_other = key.is_some() || token.is_some() || helper.is_some();
        let oauth = oauth_of_launch.or_else(|| named(launch, OAUTH_TOKEN));
        let oauth = chosen(found, OAUTH_TOKEN, oauth).filter(|_| !has_other);
        let sources = KeySources {
            api_key: match (&key, of_helper, &oauth) {
                (Some((_, source)), ..) => source,
                (None, Some(scope), _) => scope,
                (None, None, Some(_)) => "oauth",
                (None, None, None) => NONE,
            },
            token: match (&token, &helper, &oauth) {
                (Some(_), ..) => AUTH_TOKEN,
                (None, Some(_), _) => HELPER,
                (None, None, Some(_)) => OAUTH_TOKEN,
                (None, None, None) => NONE,
            },
        };
        let is_subscription = oauth.is_some();
        Self {
            key: key.map(|(key, _)| key),
            token: token.or(oauth).map(|(token, _)| token),
            helper,
            is_subscription,
            sources,
        }
    }

    fn of_openai(launch: &Launch, found: &ProjectConfig) -> Self {
        let key = chosen(found, OPENAI_KEY, launch.auth.secret().cloned());
        Self {
            sources: KeySources {
                api_key: key.as_ref().map_or(NONE, |(_, source)| source),
                token: NONE,
            },
            token: key.map(|(key, _)| key),
            ..Self::default()
        }
    }

    /// Whether requests carry neither key nor token.
    pub(super) fn is_none(&self) -> bool {
        self.key.is_none() && self.token.is_none() && self.helper.is_none()
    }

    /// The headers of a request, with a key that the command printed for it.
    pub(super) fn headers(&self, printed: Option<&SecretString>) -> Vec<(&'static str, String)> {
        let text = |secret: &SecretString| secret.expose_secret().trim().to_owned();
        let key = self.key.as_ref().or(printed).map(text);
        let token = self.token.as_ref().or(printed).map(text);
        let key = key.map(|key| ("x-api-key", key));
        let token = token.map(|token| ("authorization", format!("Bearer {token}")));
        key.into_iter().chain(token).collect()
    }
}

/// A credential of the settings, else that of the launch, with the word for its source.
fn chosen(
    found: &ProjectConfig,
    name: &'static str,
    of_launch: Option<SecretString>,
) -> Option<(SecretString, &'static str)> {
    match found.variable(name) {
        Some((_, "")) => None,
        Some((source, value)) => Some((value.into(), scope(source))),
        None => of_launch.map(|secret| (secret, name)),
    }
}

/// A credential of the environment.
fn named(launch: &Launch, name: &str) -> Option<SecretString> {
    launch.keys.get(name).map(SecretString::from)
}

/// What runs the command of the settings, if they name one.
fn helper(launch: &Launch, found: &ProjectConfig) -> Option<Arc<KeyHelper>> {
    let (source, line) = found.settings.api_key_helper(found.is_trusted)?;
    let variables = found.variables();
    let variables: Vec<_> = (variables.iter())
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    Some(launch.learned.helper(HelperCommand {
        source,
        line: line.to_owned(),
        directory: launch.directory(),
        variables,
        lasts: lasts(launch, found),
    }))
}

/// How long a key of the command is used.
fn lasts(launch: &Launch, found: &ProjectConfig) -> Duration {
    let settings = found.variables();
    let said = launch.variables.below(&settings)(LASTS_VARIABLE);
    let ms = said.and_then(|ms| ms.trim().parse().ok());
    ms.map_or(USUAL_LASTS, Duration::from_millis)
}

/// The word for the settings of a source.
fn scope(source: Source) -> &'static str {
    match source {
        Source::UserSettings => "user",
        Source::ProjectSettings | Source::LocalSettings => "project",
        Source::PolicySettings => "org",
        _ => "temporary",
    }
}
