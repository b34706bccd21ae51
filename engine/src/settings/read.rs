//! Parses the settings of one source, and reports problems with their position.

use std::fmt::Display;

use windlass_core::permission::{Behavior, LayerError, Rule, RuleEntry, Source};

use super::{
    LoadedSettings, SourcedSettings,
    misspelt::misspelt_key,
    text::{SettingsFault, SettingsText, Step},
};
use crate::path::TextPath;

impl SourcedSettings {
    /// Parses settings. An empty text is valid; a byte order mark is skipped.
    ///
    /// # Errors
    /// The problem, with line and key. None of the settings may be used then.
    pub fn parse(
        source: Source,
        path: Option<TextPath>,
        text: &str,
    ) -> Result<Self, SettingsFault> {
        let text = SettingsText::read(text)?;
        if let Some((key, problem)) = misspelt_key(text.raw()) {
            let steps: Vec<Step<'_>> = key.iter().map(|key| Step::Key(key)).collect();
            return Err(text.fault(&steps, problem));
        }
        Ok(Self {
            source,
            path,
            settings: text.decode()?,
            text,
        })
    }

    /// The file, or the option, that contains the settings.
    #[must_use]
    pub fn place(&self) -> String {
        match (&self.path, self.source) {
            (Some(path), _) => path.to_string(),
            (None, Source::PolicySettings) => "--managed-settings".to_owned(),
            (None, Source::CliArg) => "--settings".to_owned(),
            (None, source) => source.words().to_owned(),
        }
    }

    /// An error message about the first matching rule of a list, with file, line and key.
    fn about_rule(
        &self,
        list: Behavior,
        is_meant: impl Fn(&RuleEntry) -> bool,
        problem: &impl Display,
    ) -> Option<String> {
        let permissions = &self.settings.permissions;
        let entries = match list {
            Behavior::Allow => &permissions.allow,
            Behavior::Ask => &permissions.ask,
            Behavior::Deny => &permissions.deny,
        };
        let number = entries.iter().position(is_meant)?;
        let key = [
            Step::Key("permissions"),
            Step::Key(list.name()),
            Step::Item(number),
        ];
        let fault = self.text.fault(&key, problem.to_string());
        Some(format!("{}: {fault}", self.place()))
    }
}

impl LoadedSettings {
    /// The error message about an invalid rule; with file, line and key if it is part of these settings.
    #[must_use]
    pub fn complaint(&self, error: &LayerError) -> String {
        let found = match error {
            LayerError::Rule {
                list,
                source_of,
                error,
            } => {
                let is_meant = |entry: &RuleEntry| Rule::parse(&entry.rule).as_ref() == Err(error);
                self.about_rule(*source_of, *list, is_meant, error)
            }
            LayerError::Example {
                list,
                source_of,
                error,
            } => {
                let has_examples =
                    |entry: &RuleEntry| !(entry.matches.is_empty() && entry.not_matches.is_empty());
                self.about_rule(*source_of, *list, has_examples, error)
            }
            _ => None,
        };
        found.unwrap_or_else(|| error.to_string())
    }

    /// An error message about a valid rule.
    pub(crate) fn about_rule(
        &self,
        source: Source,
        list: Behavior,
        is_meant: impl Fn(&RuleEntry) -> bool,
        problem: &impl Display,
    ) -> Option<String> {
        let mut sources = self.sources.iter().filter(|it| it.source == source);
        sources.find_map(|sourced| sourced.about_rule(list, &is_meant, problem))
    }
}
