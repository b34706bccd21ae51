//! Layers of rules: the settings of each source, and how they are combined.

use alloc::{format, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{
    Behavior, ExampleError, Mode, RuleEntry, RuleError, Rules, Source, entry::Placed, example,
};
use crate::environment::Environment;

/// The `permissions` section of a settings file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PermissionSettings {
    /// Rules to allow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<RuleEntry>,
    /// Rules to ask.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ask: Vec<RuleEntry>,
    /// Rules to deny.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<RuleEntry>,
    /// The initial mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_mode: Option<Mode>,
    /// Further directories of the workspace.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub additional_directories: Vec<String>,
    /// `"disable"`: switching to bypassPermissions is not allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disable_bypass_permissions_mode: Option<String>,
    /// `"disable"`: whoever begins a session replaces [`Mode::Auto`] by [`Mode::Default`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disable_auto_mode: Option<String>,
}

/// The settings of one source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layer {
    /// The source.
    pub source: Source,
    /// The folder from which patterns with a single `/` start: the folder of the settings file; none for the working directory.
    pub root: Option<String>,
    /// Whether a person has trusted the folder. Only relevant for sources that belong to a folder.
    pub trusted: bool,
    /// The settings.
    pub settings: PermissionSettings,
}

/// The result of combining all layers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layered {
    /// The rules with their sources; those that do not count are kept separately.
    pub rules: Rules,
    /// The mode of the strongest layer that sets one.
    pub mode: Option<Mode>,
    /// The directories of all layers that count.
    pub directories: Vec<String>,
    /// Whether any layer forbids bypassPermissions.
    pub bypass_disabled: bool,
    /// Invalid allow rules in settings files. They allow nothing: the user should be told of them, but the session may start.
    pub unusable: Vec<LayerError>,
}

impl Layered {
    /// Combines layers, given with the strongest first (policy, options, local, project, user). Rules of all layers count, in the
    /// order of the layers. Settings that widen permissions (allow rules, a mode, directories) do not count if they come from a
    /// folder that nobody has trusted; settings that restrict always count.
    ///
    /// Examples are checked in `environment`.
    ///
    /// # Errors
    /// Every invalid rule and every example that is not met, each with its source; there is no partial result. An invalid allow
    /// rule in a settings file is not an error: such files are shared with programs that know other tools, and without the rule
    /// permission is asked for.
    pub fn of(layers: &[Layer], environment: &Environment) -> Result<Self, Vec<LayerError>> {
        let mut layered = Self::default();
        let mut faults = Vec::new();
        for layer in layers {
            let trusted = layer.trusted || !layer.source.belongs_to_folder();
            let settings = &layer.settings;
            for placed in layer.entries() {
                let rule = match placed.rule() {
                    Ok(rule) => rule,
                    Err(error) => {
                        let list = match placed.behavior {
                            Behavior::Allow if layer.source.is_file() => &mut layered.unusable,
                            _ => &mut faults,
                        };
                        list.push(fault(&placed, error));
                        continue;
                    }
                };
                if let Err(error) =
                    example::check(&rule, placed.behavior, placed.entry, environment)
                {
                    faults.push(LayerError::Example {
                        list: placed.behavior,
                        source_of: layer.source,
                        error,
                    });
                }
                match placed.behavior {
                    Behavior::Allow if !trusted => layered.rules.untrusted.push(rule),
                    Behavior::Allow => layered.rules.allow.push(rule),
                    Behavior::Ask => layered.rules.ask.push(rule),
                    Behavior::Deny => layered.rules.deny.push(rule),
                }
            }
            layered.bypass_disabled |=
                settings.disable_bypass_permissions_mode.as_deref() == Some("disable");
            if trusted {
                layered.mode = layered.mode.or(settings.default_mode);
                let directories = settings.additional_directories.iter();
                layered.directories.extend(directories.cloned());
            }
        }
        if faults.is_empty() {
            Ok(layered)
        } else {
            Err(faults)
        }
    }
}

impl Layer {
    /// Its rules with their positions.
    pub(super) fn entries(&self) -> impl Iterator<Item = Placed<'_>> {
        let lists = [
            (Behavior::Deny, &self.settings.deny),
            (Behavior::Ask, &self.settings.ask),
            (Behavior::Allow, &self.settings.allow),
        ];
        lists.into_iter().flat_map(move |(behavior, entries)| {
            entries.iter().map(move |entry| Placed {
                entry,
                behavior,
                source: self.source,
                root: self.root.as_deref(),
            })
        })
    }
}

fn fault(placed: &Placed<'_>, error: RuleError) -> LayerError {
    LayerError::Rule {
        list: placed.behavior,
        source_of: placed.source,
        error,
    }
}

/// An error in a layer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayerError {
    /// An invalid rule.
    #[error("{}, permissions.{}: {error}", source_of.words(), list.name())]
    Rule {
        /// The list that contains it.
        list: Behavior,
        /// The source.
        source_of: Source,
        /// What is wrong.
        error: RuleError,
    },
    /// An example that is not met.
    #[error("{}, permissions.{}: {error}", source_of.words(), list.name())]
    Example {
        /// The list that contains it.
        list: Behavior,
        /// The source.
        source_of: Source,
        /// What is wrong.
        error: ExampleError,
    },
}

/// All errors as one text, one per line.
#[must_use]
pub fn all_faults(faults: &[LayerError]) -> String {
    let lines: Vec<String> = faults.iter().map(|fault| format!("{fault}")).collect();
    lines.join("\n")
}
