//! Settings files: where they are, how they are read, and how they are replaced. Their content is parsed by
//! [`windlass_engine::settings`].

mod load;
mod trust;

#[cfg(test)]
mod tests;

pub use windlass_engine::settings::{
    LoadedSettings, SettingSource, SettingSources, SourcedSettings, WriteError,
};

pub use self::{
    load::{SettingsError, SettingsPlaces, managed_settings_file},
    trust::{is_trusted, trust},
};
