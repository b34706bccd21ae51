//! Sandbox settings for commands (Agent SDK reference, `SandboxSettings`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use windlass_core::{RawJson, permission::nearest_name};

/// How commands are sandboxed. Each field documents its default.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SandboxSettings {
    /// Run commands in a sandbox. Default: no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Begin no session if the sandbox is unavailable. Default: no; commands are then judged like any others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_if_unavailable: Option<bool>,
    /// Run sandboxed commands without asking. Default: yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_allow_bash_if_sandboxed: Option<bool>,
    /// Commands that run outside the sandbox, by their first words.
    pub excluded_commands: Vec<String>,
    /// Allow the model to request that a command runs outside. Default: yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_unsandboxed_commands: Option<bool>,
    /// Network access.
    pub network: SandboxNetwork,
    /// File access.
    pub filesystem: SandboxFilesystem,
    /// Patterns of violations that are not reported, by category (`file`, `network`).
    pub ignore_violations: BTreeMap<String, Vec<String>>,
    /// Accept Landlock and filters alone where namespaces cannot be created, as in many containers. Default: no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enable_weaker_nested_sandbox: Option<bool>,
    /// Another program for searching. It has no effect, because searching does not run a command here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ripgrep: Option<Ripgrep>,
}

/// The network access of sandboxed commands (`SandboxNetworkConfig`).
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SandboxNetwork {
    /// The hosts that they may reach: `example.com`, `*.example.com`, each optionally followed by a port.
    pub allowed_domains: Vec<String>,
    /// The hosts that they may not reach; takes precedence over everything else.
    pub denied_domains: Vec<String>,
    /// Only the hosts allowed by managed settings apply. Default: no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_managed_domains_only: Option<bool>,
    /// Allow them to listen for connections from the same sandbox. Default: no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_local_binding: Option<bool>,
    /// The Unix sockets in the file system that they may reach.
    pub allow_unix_sockets: Vec<String>,
    /// Allow all Unix sockets. Default: no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_all_unix_sockets: Option<bool>,
    /// The local port of an HTTP proxy that replaces ours and decides about hosts itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_proxy_port: Option<u16>,
    /// The same for a SOCKS proxy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub socks_proxy_port: Option<u16>,
}

/// The file access of sandboxed commands beyond the workspace (`SandboxFilesystemConfig`). A path is absolute, begins with
/// `~/`, or is relative to the working directory.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SandboxFilesystem {
    /// Files and folders that they may change.
    pub allow_write: Vec<String>,
    /// Patterns of files that they may not write.
    pub deny_write: Vec<String>,
    /// Patterns of files that they may not read either.
    pub deny_read: Vec<String>,
}

/// A program for searching.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct Ripgrep {
    /// The program.
    pub command: String,
    /// Arguments that precede its other arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
}

/// The origin of sandbox settings, as far as it determines what they may open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxSource {
    /// Managed settings of the organisation.
    Managed,
    /// Settings of the user, or of a trusted folder.
    Trusted,
    /// Settings of an untrusted folder: they can only restrict.
    Folder,
}

/// The keys of [`SandboxSettings`].
const KEYS: [&str; 10] = [
    "enabled",
    "failIfUnavailable",
    "autoAllowBashIfSandboxed",
    "excludedCommands",
    "allowUnsandboxedCommands",
    "network",
    "filesystem",
    "ignoreViolations",
    "enableWeakerNestedSandbox",
    "ripgrep",
];

/// The keys of [`SandboxNetwork`].
const NETWORK_KEYS: [&str; 8] = [
    "allowedDomains",
    "deniedDomains",
    "allowManagedDomainsOnly",
    "allowLocalBinding",
    "allowUnixSockets",
    "allowAllUnixSockets",
    "httpProxyPort",
    "socksProxyPort",
];

/// The keys of [`SandboxFilesystem`].
const FILESYSTEM_KEYS: [&str; 3] = ["allowWrite", "denyWrite", "denyRead"];

/// Unknown keys below `sandbox`. A misspelt restriction would otherwise be ignored silently.
#[must_use]
pub fn unknown_sandbox_keys(settings: &RawJson) -> Vec<String> {
    #[derive(Deserialize)]
    struct Whole {
        #[serde(default)]
        sandbox: BTreeMap<String, serde::de::IgnoredAny>,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Parts {
        network: BTreeMap<String, serde::de::IgnoredAny>,
        filesystem: BTreeMap<String, serde::de::IgnoredAny>,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Nested {
        sandbox: Parts,
    }
    let whole = settings.decode::<Whole>().ok();
    let whole = whole.map(|it| it.sandbox).unwrap_or_default();
    let parts = settings.decode::<Nested>().unwrap_or_default().sandbox;
    let groups = [
        ("sandbox", whole, &KEYS[..]),
        ("sandbox.network", parts.network, &NETWORK_KEYS[..]),
        ("sandbox.filesystem", parts.filesystem, &FILESYSTEM_KEYS[..]),
    ];
    let unknown = groups.into_iter().flat_map(|(place, found, known)| {
        let unknown = found
            .into_keys()
            .filter(|key| !known.contains(&key.as_str()));
        unknown.map(move |key| format!("{place}.{key}"))
    });
    unknown.collect()
}

/// The known key that an unknown one resembles.
pub(super) fn nearest_sandbox_key(key: &str) -> Option<String> {
    let (place, name) = key.rsplit_once('.')?;
    let known = match place {
        "sandbox" => &KEYS[..],
        "sandbox.network" => &NETWORK_KEYS,
        _ => &FILESYSTEM_KEYS,
    };
    let meant = nearest_name(name, known)?;
    Some(format!("{place}.{meant}"))
}

impl SandboxSettings {
    /// Parses the value of `--sandbox`: a JSON object without unknown keys.
    ///
    /// # Errors
    /// The problem, as text: with a misspelt key the sandbox would not be as intended.
    pub fn parse(json: &str) -> Result<Self, String> {
        let settings = serde_json::from_str(json).map_err(|error| {
            format!("the settings of the sandbox are a JSON object such as {{\"enabled\": true}} ({error})")
        })?;
        let whole = RawJson::parse(format!("{{\"sandbox\": {json}}}"));
        let unknown = whole
            .map(|it| unknown_sandbox_keys(&it))
            .unwrap_or_default();
        match unknown.as_slice() {
            [] => Ok(settings),
            unknown => Err(format!(
                "the settings of the sandbox have no `{}`; docs/sandbox.md lists them",
                unknown.join("`, `").replace("sandbox.", "")
            )),
        }
    }

    /// Settings with the sandbox enabled and defaults for everything else.
    #[must_use]
    pub fn on() -> Self {
        Self {
            enabled: Some(true),
            ..Self::default()
        }
    }

    /// Whether commands are sandboxed.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.enabled == Some(true)
    }

    /// Whether sandboxed commands run without asking.
    #[must_use]
    pub fn auto_allows(&self) -> bool {
        self.auto_allow_bash_if_sandboxed != Some(false)
    }

    /// Whether the model may request that a command runs outside the sandbox.
    #[must_use]
    pub fn allows_outside(&self) -> bool {
        self.allow_unsandboxed_commands != Some(false)
    }

    /// Merges the settings of several sources, the strongest first. A single value is taken from the strongest source that
    /// has it; lists of all sources are combined.
    #[must_use]
    pub fn merged<'a>(sources: impl Iterator<Item = (SandboxSource, &'a Self)> + Clone) -> Self {
        let mut merged = Self::default();
        let is_managed = |(source, settings): &(SandboxSource, &Self)| {
            *source == SandboxSource::Managed
                && settings.network.allow_managed_domains_only == Some(true)
        };
        let managed_only = sources.clone().any(|it| is_managed(&it));
        let wants = |(source, settings): (SandboxSource, &Self)| {
            source == SandboxSource::Folder && settings.is_enabled()
        };
        let folder_wants = sources.clone().any(wants);
        for (source, settings) in sources {
            match source {
                SandboxSource::Folder => merged.add_closed(settings),
                SandboxSource::Managed => merged.add(settings, true),
                SandboxSource::Trusted => merged.add(settings, !managed_only),
            }
        }
        if folder_wants && merged.enabled.is_none() {
            // An untrusted folder may enable the sandbox, but not the automatic approval that comes with it.
            merged.enabled = Some(true);
            merged.auto_allow_bash_if_sandboxed = Some(false);
        }
        merged
    }

    fn add(&mut self, weaker: &Self, domains: bool) {
        let first = |mine: &mut Option<bool>, theirs: Option<bool>| *mine = mine.or(theirs);
        first(&mut self.enabled, weaker.enabled);
        first(&mut self.fail_if_unavailable, weaker.fail_if_unavailable);
        first(
            &mut self.auto_allow_bash_if_sandboxed,
            weaker.auto_allow_bash_if_sandboxed,
        );
        first(
            &mut self.allow_unsandboxed_commands,
            weaker.allow_unsandboxed_commands,
        );
        first(
            &mut self.enable_weaker_nested_sandbox,
            weaker.enable_weaker_nested_sandbox,
        );
        extend(&mut self.excluded_commands, &weaker.excluded_commands);
        for (category, patterns) in &weaker.ignore_violations {
            extend(
                self.ignore_violations.entry(category.clone()).or_default(),
                patterns,
            );
        }
        self.ripgrep = self.ripgrep.take().or_else(|| weaker.ripgrep.clone());
        let (mine, theirs) = (&mut self.network, &weaker.network);
        if domains {
            extend(&mut mine.allowed_domains, &theirs.allowed_domains);
        }
        extend(&mut mine.denied_domains, &theirs.denied_domains);
        extend(&mut mine.allow_unix_sockets, &theirs.allow_unix_sockets);
        first(
            &mut mine.allow_managed_domains_only,
            theirs.allow_managed_domains_only,
        );
        first(&mut mine.allow_local_binding, theirs.allow_local_binding);
        first(
            &mut mine.allow_all_unix_sockets,
            theirs.allow_all_unix_sockets,
        );
        mine.http_proxy_port = mine.http_proxy_port.or(theirs.http_proxy_port);
        mine.socks_proxy_port = mine.socks_proxy_port.or(theirs.socks_proxy_port);
        let (mine, theirs) = (&mut self.filesystem, &weaker.filesystem);
        extend(&mut mine.allow_write, &theirs.allow_write);
        extend(&mut mine.deny_write, &theirs.deny_write);
        extend(&mut mine.deny_read, &theirs.deny_read);
    }

    /// Adds only the restrictions of an untrusted folder: everything else would open something, or let commands run without
    /// asking.
    fn add_closed(&mut self, folder: &Self) {
        let closed = Self {
            fail_if_unavailable: folder.fail_if_unavailable.filter(|fails| *fails),
            auto_allow_bash_if_sandboxed: folder.auto_allow_bash_if_sandboxed.filter(|on| !on),
            allow_unsandboxed_commands: folder.allow_unsandboxed_commands.filter(|on| !on),
            network: SandboxNetwork {
                denied_domains: folder.network.denied_domains.clone(),
                ..SandboxNetwork::default()
            },
            filesystem: SandboxFilesystem {
                deny_write: folder.filesystem.deny_write.clone(),
                deny_read: folder.filesystem.deny_read.clone(),
                ..SandboxFilesystem::default()
            },
            ..Self::default()
        };
        self.add(&closed, false);
    }
}

/// Adds the texts that are not in the list yet.
fn extend(list: &mut Vec<String>, more: &[String]) {
    for text in more {
        if !list.contains(text) {
            list.push(text.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> SandboxSettings {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn what_is_not_said_is_as_the_reference_has_it() {
        let nothing = read("{}");
        assert!(!nothing.is_enabled() && nothing.auto_allows() && nothing.allows_outside());
        let on = read(r#"{"enabled": true, "unknown": 1, "network": {"httpProxyPort": 8080}}"#);
        assert!(on.is_enabled());
        assert_eq!(on.network.http_proxy_port, Some(8080));
        serde_json::from_str::<SandboxSettings>(r#"{"filesystem": {"denyRead": "x"}}"#)
            .expect_err("a text is no list");
    }

    #[test]
    fn single_values_come_from_the_strongest_and_lists_from_all() {
        let strong = read(r#"{"enabled": true, "excludedCommands": ["docker"]}"#);
        let weak = read(
            r#"{"enabled": false, "excludedCommands": ["make"], "allowUnsandboxedCommands": false}"#,
        );
        let sources = [&strong, &weak].map(|settings| (SandboxSource::Trusted, settings));
        let merged = SandboxSettings::merged(sources.into_iter());
        assert!(merged.is_enabled() && !merged.allows_outside());
        assert_eq!(merged.excluded_commands, ["docker", "make"]);
    }

    #[test]
    fn a_folder_that_nobody_trusts_closes_and_opens_nothing() {
        let folder = read(
            r#"{"enabled": true, "excludedCommands": ["sh"], "allowUnsandboxedCommands": true,
                "network": {"allowedDomains": ["evil.example"], "deniedDomains": ["a.example"], "allowAllUnixSockets": true},
                "filesystem": {"allowWrite": ["/"], "denyRead": ["~/.ssh"]}}"#,
        );
        let user = read(r#"{"filesystem": {"denyRead": ["/etc/shadow"]}}"#);
        let sources = [
            (SandboxSource::Folder, &folder),
            (SandboxSource::Trusted, &user),
        ];
        let merged = SandboxSettings::merged(sources.into_iter());
        let expected = read(
            r#"{"enabled": true, "autoAllowBashIfSandboxed": false, "network": {"deniedDomains": ["a.example"]},
                "filesystem": {"denyRead": ["~/.ssh", "/etc/shadow"]}}"#,
        );
        assert_eq!(merged, expected);
    }

    #[test]
    fn conf_11_a_key_that_nobody_reads_is_known() {
        let settings = RawJson::parse(
            r#"{"sandbox": {"enabled": true, "denyRead": [], "filesystem": {"denyread": [], "denyRead": []}, "network": {"allowLocalBinding": true, "x": 1}}}"#,
        )
        .unwrap();
        assert_eq!(
            unknown_sandbox_keys(&settings),
            [
                "sandbox.denyRead",
                "sandbox.network.x",
                "sandbox.filesystem.denyread"
            ]
        );
        assert!(unknown_sandbox_keys(&RawJson::empty_object()).is_empty());
        // Each supported key is known.
        let all = r#"{"sandbox": {"enabled": true, "failIfUnavailable": true, "autoAllowBashIfSandboxed": true, "excludedCommands": [], "allowUnsandboxedCommands": true, "ignoreViolations": {}, "enableWeakerNestedSandbox": true, "ripgrep": {}, "filesystem": {"allowWrite": [], "denyWrite": [], "denyRead": []}}}"#;
        assert!(unknown_sandbox_keys(&RawJson::parse(all).unwrap()).is_empty());
    }

    #[test]
    fn where_the_organisation_says_so_only_its_own_hosts_count() {
        let policy = read(
            r#"{"network": {"allowManagedDomainsOnly": true, "allowedDomains": ["a.example"]}}"#,
        );
        let user = read(r#"{"network": {"allowedDomains": ["b.example"]}}"#);
        let sources = [
            (SandboxSource::Managed, &policy),
            (SandboxSource::Trusted, &user),
        ];
        let merged = SandboxSettings::merged(sources.into_iter());
        assert_eq!(merged.network.allowed_domains, ["a.example"]);
    }
}
