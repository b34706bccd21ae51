//! Where a connection may go: hosts as they are written, names as they resolve, addresses as they are.
//!
//! A name is judged twice: as a name, by lists of domains, and by every address that it stands for. The connection is made to
//! the address that was judged, so that a name cannot mean another one a moment later.

mod address;
mod domain;
mod target;

pub(crate) use self::{
    address::{AddressRefusal, judge_address},
    domain::{DomainList, InvalidDomain},
    target::{Target, TargetError},
};
