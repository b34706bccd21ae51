//! `windlass plugin add`, `inspect`, `update` and `remove`: plugins that sessions load by themselves.

mod add;
mod authority;
mod beside;
mod candidate;
mod changed_files;
mod check;
mod error;
mod fetch;
mod inspect;
mod oci;
mod programs;
mod registry_body;
mod registry_client;
mod registry_fault;
mod registry_login;
mod registry_token;
mod remove;
mod signature;
mod source;
mod store;
mod texts;
mod update;

pub(super) use self::{
    add::add,
    check::{CheckedFolder, check_folder},
    error::InstallError,
    inspect::{inspect, list},
    programs::let_programs_run,
    remove::remove,
    store::{component_named, installed_digests},
    update::update,
};
