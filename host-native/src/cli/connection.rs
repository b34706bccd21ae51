//! The connection to the model server: its address and key, from the command line and the environment.

use windlass::{
    BuildError,
    engine::{Launch, key_sources},
    http::{Auth, EndpointConfig, is_this_machine},
    store::NoConfigDir,
};
use windlass_engine::protocol::flags::{Flags, Provider};

use super::{
    args::{ConnectionArgs, ProviderArg},
    keys::variable,
    start_error::StartError,
};

/// The host of OpenAI's API.
const OPENAI_HOST: &str = "api.openai.com";

/// The connection arguments as flags.
pub(crate) fn flags(args: &ConnectionArgs) -> Flags {
    let ca_file = args.ca_file.as_ref();
    Flags {
        provider: match args.provider {
            ProviderArg::Anthropic => Provider::Anthropic,
            ProviderArg::Openai => Provider::OpenAi,
        },
        base_url: args.base_url.clone().filter(|url| !url.is_empty()),
        ca_file: ca_file.map(|file| file.display().to_string()),
        ..Flags::default()
    }
}

/// The model server's address and authentication.
pub(crate) fn endpoint(args: &ConnectionArgs) -> Result<EndpointConfig, StartError> {
    let endpoint = Launch::with_flags(flags(args), variable)?.endpoint();
    check_key(args.provider, &endpoint)?;
    Ok(endpoint)
}

/// Checks that environment or settings have a key for a server that certainly requires one.
///
/// # Errors
/// [`StartError`]: there is no key, or the settings that may hold one cannot be read.
pub(crate) fn check_key_of(provider: ProviderArg, launch: &Launch) -> Result<(), StartError> {
    match check_key(provider, &launch.endpoint()) {
        Err(StartError::MissingKey(_)) if !key_sources(launch)?.is_none() => Ok(()),
        checked => checked,
    }
}

/// Where the settings have a key, if they have one. What is wrong with settings is told of them.
pub(crate) fn key_of_settings(args: &ConnectionArgs) -> Option<String> {
    let launch = Launch::with_flags(flags(args), variable).ok()?;
    let sources = key_sources(&launch).ok()?;
    (!sources.is_none()).then(|| sources.to_string())
}

/// Checks that the environment has a key for a server that certainly requires one.
fn check_key(provider: ProviderArg, endpoint: &EndpointConfig) -> Result<(), StartError> {
    let url = endpoint.url().map_err(BuildError::from)?;
    let may_lack_key = match provider {
        ProviderArg::Anthropic => is_this_machine(&url),
        // Whoever names another server knows whether it requires a key: most local ones do not.
        ProviderArg::Openai => url.host_str() != Some(OPENAI_HOST),
    };
    match endpoint.auth {
        Auth::None if !may_lack_key => Err(StartError::MissingKey(provider)),
        _ => Ok(()),
    }
}

/// The key, the bearer token, or no authentication.
///
/// # Errors
/// [`NoConfigDir`]: see [`Launch::with_flags`].
pub(crate) fn auth_from_environment(args: &ConnectionArgs) -> Result<Auth, NoConfigDir> {
    Ok(Launch::with_flags(flags(args), variable)?.auth)
}

#[cfg(test)]
mod tests {
    use reqwest::Url;

    use super::*;

    #[test]
    fn servers_on_this_machine_are_told_by_their_address() {
        for url in [
            "http://127.0.0.1:8080",
            "http://localhost",
            "http://[::1]:9/x",
            "https://127.1.2.3",
        ] {
            assert!(is_this_machine(&Url::parse(url).unwrap()), "{url}");
        }
        for url in [
            "https://api.anthropic.com",
            "http://localhost.example.org",
            "http://10.0.0.1",
            "nonsense",
        ] {
            assert!(
                !Url::parse(url).is_ok_and(|url| is_this_machine(&url)),
                "{url}"
            );
        }
    }
}
