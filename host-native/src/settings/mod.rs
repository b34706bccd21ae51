//! Settings files: where they are, how they are read, how permissions are written to them. What stands in them is read by
//! [`windlass_engine::settings`].

mod load;
mod trust;
mod write;

#[cfg(test)]
mod tests;

pub use windlass_engine::settings::{
    LoadedSettings, SettingSource, SettingSources, SourcedSettings,
};

pub use self::{
    load::{SettingsError, SettingsPlaces},
    trust::{is_trusted, trust},
    write::{WriteError, write_permission_updates, write_settings},
};
