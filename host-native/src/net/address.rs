//! Decides which addresses a connection on behalf of a model may use: only public ones.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

/// Why an address may not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddressRefusal {
    /// This machine.
    Loopback,
    /// A private network.
    Private,
    /// The local link, where services that provide machine metadata can be reached.
    LinkLocal,
    /// Shared address space of a provider.
    Shared,
    /// Not a single host: unspecified, broadcast, multicast.
    NoMachine,
    /// Reserved for documentation, tests or future use.
    Reserved,
}

impl fmt::Display for AddressRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Loopback => "it is this machine",
            Self::Private => "it belongs to a private network",
            Self::LinkLocal => "it is local to the link",
            Self::Shared => "it is shared by a provider's customers",
            Self::NoMachine => "it names no machine",
            Self::Reserved => "it is set aside and not for use",
        })
    }
}

/// Checks whether an address may be connected to. For an address that contains another one (mapped, translated,
/// tunnelled), the contained address is checked.
pub(crate) fn judge_address(address: IpAddr) -> Result<(), AddressRefusal> {
    match address {
        IpAddr::V4(address) => judge_v4(address),
        IpAddr::V6(address) => judge_v6(address),
    }
}

fn judge_v4(address: Ipv4Addr) -> Result<(), AddressRefusal> {
    let [a, b, c, _] = address.octets();
    Err(match (a, b, c) {
        (0, ..) | (224..=239, ..) => AddressRefusal::NoMachine,
        _ if address.is_broadcast() => AddressRefusal::NoMachine,
        (127, ..) => AddressRefusal::Loopback,
        (10, ..) | (172, 16..=31, _) | (192, 168, _) => AddressRefusal::Private,
        (169, 254, _) => AddressRefusal::LinkLocal,
        (100, 64..=127, _) => AddressRefusal::Shared,
        // Protocol assignments, three documentation blocks, 6to4 relays, AS112, benchmarks, future use.
        (192, 0, 0 | 2)
        | (192, 31, 196)
        | (192, 52, 193)
        | (192, 88, 99)
        | (192, 175, 48)
        | (198, 18..=19, _)
        | (198, 51, 100)
        | (203, 0, 113)
        | (240..=255, ..) => AddressRefusal::Reserved,
        _ => return Ok(()),
    })
}

fn judge_v6(address: Ipv6Addr) -> Result<(), AddressRefusal> {
    let parts = address.segments();
    let carried = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        judge_v4(Ipv4Addr::new(a, b, c, d))
    };
    if address.is_unspecified() {
        return Err(AddressRefusal::NoMachine);
    }
    if address.is_loopback() {
        return Err(AddressRefusal::Loopback);
    }
    match parts {
        // IPv4-mapped, IPv4-compatible, translated by SIIT or NAT64.
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => carried(high, low),
        // 6to4.
        [0x2002, high, low, ..] => carried(high, low),
        [0xfe80..=0xfebf, ..] => Err(AddressRefusal::LinkLocal),
        [0xfc00..=0xfdff, ..] | [0xfec0..=0xfeff, ..] => Err(AddressRefusal::Private),
        // Local-use translation of a provider.
        [0x64, 0xff9b, 1, ..] => Err(AddressRefusal::Private),
        [0xff00..=0xffff, ..] => Err(AddressRefusal::NoMachine),
        // Tunnels, benchmarks, identifiers, documentation.
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => {
            Err(AddressRefusal::Reserved)
        }
        // All allocated global unicast addresses.
        [0x2000..=0x3fff, ..] => Ok(()),
        _ => Err(AddressRefusal::Reserved),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_may_be_connected_to() {
        use AddressRefusal::{LinkLocal, Loopback, NoMachine, Private, Reserved, Shared};
        let table = [
            ("127.0.0.1", Some(Loopback)),
            ("127.255.255.254", Some(Loopback)),
            ("::1", Some(Loopback)),
            ("10.0.0.1", Some(Private)),
            ("172.16.0.1", Some(Private)),
            ("172.31.255.255", Some(Private)),
            ("172.32.0.1", None),
            ("172.15.0.1", None),
            ("192.168.1.1", Some(Private)),
            ("100.64.0.1", Some(Shared)),
            ("100.127.255.255", Some(Shared)),
            ("100.63.0.1", None),
            ("100.128.0.1", None),
            ("169.254.169.254", Some(LinkLocal)),
            ("fe80::1", Some(LinkLocal)),
            ("febf::1", Some(LinkLocal)),
            ("fec0::1", Some(Private)),
            ("fc00::1", Some(Private)),
            ("fd00:ec2::254", Some(Private)),
            ("0.0.0.0", Some(NoMachine)),
            ("0.1.2.3", Some(NoMachine)),
            ("::", Some(NoMachine)),
            ("224.0.0.1", Some(NoMachine)),
            ("255.255.255.255", Some(NoMachine)),
            ("ff02::1", Some(NoMachine)),
            ("240.0.0.1", Some(Reserved)),
            ("192.0.0.170", Some(Reserved)),
            ("192.0.2.1", Some(Reserved)),
            ("198.18.0.1", Some(Reserved)),
            ("198.51.100.1", Some(Reserved)),
            ("203.0.113.1", Some(Reserved)),
            ("::ffff:127.0.0.1", Some(Loopback)),
            ("::ffff:169.254.169.254", Some(LinkLocal)),
            ("::ffff:8.8.8.8", None),
            ("::127.0.0.1", Some(Loopback)),
            ("::ffff:0:10.0.0.1", Some(Private)),
            ("64:ff9b::10.0.0.1", Some(Private)),
            ("64:ff9b::808:808", None),
            ("64:ff9b:1::1", Some(Private)),
            ("2002:7f00:1::1", Some(Loopback)),
            ("2002:a9fe:a9fe::1", Some(LinkLocal)),
            ("2001::1", Some(Reserved)),
            ("2001:db8::1", Some(Reserved)),
            ("3fff::1", Some(Reserved)),
            ("100::1", Some(Reserved)),
            ("4000::1", Some(Reserved)),
            ("8.8.8.8", None),
            ("1.1.1.1", None),
            ("2606:4700:4700::1111", None),
            ("2a00:1450:4001::1", None),
        ];
        for (address, expected) in table {
            let judged = judge_address(address.parse().unwrap());
            assert_eq!(judged.err(), expected, "{address}");
        }
    }
}
