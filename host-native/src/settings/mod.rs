//! Settings files: where they are, how they are read, and how they are replaced. Their content is parsed by
//! [`windlass_engine::settings`].

mod load;
mod person_file;
mod servers;
mod trust;

#[cfg(test)]
mod tests;

pub(crate) use self::servers::{
    MAX_SERVERS_FILE, read_personal_servers, read_project_servers, servers_of_text,
};
pub use windlass_engine::settings::{
    LoadedSettings, SettingSource, SettingSources, SourcedSettings, WriteError,
};

pub use self::{
    load::{SettingsError, SettingsPlaces, managed_settings_file},
    servers::{ServerScope, ServersOfFiles},
    trust::{is_trusted, trust},
};
