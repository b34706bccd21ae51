//! From the target of a connection to the addresses that may be connected to.

use std::net::SocketAddr;

use url::Host;

use super::{
    address::judge_address,
    domain::DomainList,
    target::{Target, TargetError},
};

impl Target {
    /// The addresses that may be connected to: the host is allowed, and each address is public or allowed explicitly.
    pub(crate) async fn resolve(&self, list: &DomainList) -> Result<Vec<SocketAddr>, TargetError> {
        list.judge(self)?;
        let unresolved = |reason: String| TargetError::Unresolved {
            host: self.host.to_string(),
            reason,
        };
        let addresses: Vec<SocketAddr> = match &self.host {
            Host::Ipv4(address) => vec![(*address, self.port).into()],
            Host::Ipv6(address) => vec![(*address, self.port).into()],
            Host::Domain(name) => tokio::net::lookup_host((name.as_str(), self.port))
                .await
                .map_err(|error| unresolved(error.to_string()))?
                .collect(),
        };
        self.judged(list, addresses)
    }

    /// The addresses that this host was found to have, if each may be connected to.
    pub(crate) fn judged(
        &self,
        list: &DomainList,
        addresses: Vec<SocketAddr>,
    ) -> Result<Vec<SocketAddr>, TargetError> {
        let judge = |address: &SocketAddr| match list.names_locally(self, address.ip()) {
            true => Ok(()),
            false => judge_address(address.ip()),
        };
        let refused = addresses.iter().find_map(|address| {
            let reason = judge(address).err()?;
            Some((address.ip(), reason))
        });
        match refused {
            // A single address that is not public is reason enough: a server that gives such an answer may give others next time.
            Some((address, reason)) => Err(TargetError::Address {
                host: self.host.to_string(),
                address,
                reason,
            }),
            None if addresses.is_empty() => Err(TargetError::Unresolved {
                host: self.host.to_string(),
                reason: "it has no address".to_owned(),
            }),
            None => Ok(addresses),
        }
    }
}
