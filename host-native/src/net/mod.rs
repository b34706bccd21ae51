//! Restricts where connections may go: by host name, and by resolved address.
//!
//! A name is checked twice: as a name against lists of domains, and by every address that it resolves to. The
//! connection uses the address that was checked, so that the name cannot resolve to another one in between.

mod address;
mod domain;
mod resolve;
mod target;

pub(crate) use self::{
    domain::{DomainList, InvalidDomain},
    target::{Target, TargetError},
};
