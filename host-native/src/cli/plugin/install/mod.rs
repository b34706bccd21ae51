//! `windlass plugin add`, `inspect`, `update` and `remove`: plugins that sessions load by themselves.

mod add;
mod authority;
mod candidate;
mod error;
mod fetch;
mod inspect;
mod oci;
mod remove;
mod signature;
mod source;
mod store;
mod update;

pub(super) use self::{
    add::add,
    error::InstallError,
    inspect::{inspect, list},
    remove::remove,
    store::component_named,
    update::update,
};
