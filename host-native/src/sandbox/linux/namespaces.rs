//! The namespaces shared by all commands of a sandbox: user, network, IPC. A child creates them once, sends handles
//! on them and exits; each command then enters them.
//!
//! The network namespace contains only its own loopback device. Two ports on it lead out: their listening sockets
//! were created inside and are held by this process, which accepts connections in its own network.

use std::{
    ffi::CStr,
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    net::{Ipv4Addr, SocketAddrV4, TcpListener},
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::{
    fs::{CWD, Mode, OFlags, open, openat},
    io::{retry_on_intr, write},
    net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
        SendAncillaryMessage, SendFlags, SocketFlags, SocketType, bind, listen, recv, recvmsg,
        send, sendmsg, socket_with, socketpair,
    },
    process::{DumpableBehavior, getegid, geteuid, set_dumpable_behavior},
    thread::{LinkNameSpaceType, move_into_link_name_space},
};

use crate::child;

use super::before_exec::{Namespaces as Kind, before_exec, unshare};

/// The port of the HTTP proxy inside of the sandbox.
pub(in crate::sandbox) const HTTP_PORT: u16 = 3128;

/// The port of the SOCKS proxy inside of the sandbox.
pub(in crate::sandbox) const SOCKS_PORT: u16 = 1080;

/// Handles on the namespaces. The namespaces live as long as these.
#[derive(Debug)]
pub(super) struct Namespaces {
    users: OwnedFd,
    network: OwnedFd,
    objects: OwnedFd,
}

/// A sandbox's namespaces and the listening sockets in them.
#[derive(Debug)]
pub(super) struct Established {
    pub(super) namespaces: Namespaces,
    pub(super) http: TcpListener,
    pub(super) socks: TcpListener,
}

/// The progress of the child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Stage {
    Namespaces,
    Users,
    Loopback,
    Ports,
    Done,
}

/// Why there are no namespaces.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoNamespaces {
    #[error("namespaces for users and networks cannot be made ({0})")]
    Make(io::Error),
    #[error("a user cannot be mapped into a new namespace ({0})")]
    Users(io::Error),
    #[error("a new network cannot be set up ({0})")]
    Network(io::Error),
    #[error("the system does not let a process be started ({0})")]
    Start(io::Error),
}

/// Returned by the child when it is done, instead of executing a program.
const NOTHING_TO_EXECUTE: rustix::io::Errno = rustix::io::Errno::CANCELED;

impl Namespaces {
    /// Creates the namespaces.
    pub(super) fn establish() -> Result<Established, NoNamespaces> {
        let (here, there) = socketpair(
            AddressFamily::UNIX,
            SocketType::STREAM,
            SocketFlags::CLOEXEC,
            None,
        )
        .map_err(|error| NoNamespaces::Start(error.into()))?;
        let users = format!("{0} {0} 1", geteuid().as_raw());
        let groups = format!("{0} {0} 1", getegid().as_raw());
        // The child ends before exec.
        let mut command = child::command("/");
        before_exec(&mut command, move || {
            let (stage, outcome) = match make(&there, &users, &groups) {
                Ok(()) => return Err(NOTHING_TO_EXECUTE.into()),
                Err((stage, error)) => (stage, error),
            };
            let _ = send(&there, &[stage as u8], SendFlags::empty());
            Err(outcome)
        });
        let error = match command.spawn() {
            Err(error) => error,
            Ok(_) => io::ErrorKind::Other.into(),
        };
        // Dropping the closure closes the child's end: nothing more can be received.
        drop(command);
        let (stage, handles) = receive(&here).map_err(NoNamespaces::Start)?;
        match (stage, handles) {
            (
                Some(Stage::Done),
                [
                    Some(users),
                    Some(network),
                    Some(objects),
                    Some(http),
                    Some(socks),
                ],
            ) => Ok(Established {
                namespaces: Self {
                    users,
                    network,
                    objects,
                },
                http: http.into(),
                socks: socks.into(),
            }),
            (Some(Stage::Namespaces), _) => Err(NoNamespaces::Make(error)),
            (Some(Stage::Users), _) => Err(NoNamespaces::Users(error)),
            (Some(_), _) => Err(NoNamespaces::Network(error)),
            (None, _) => Err(NoNamespaces::Start(error)),
        }
    }

    /// Moves the calling process, which must have one thread, into the namespaces. Runs before a command's exec.
    pub(super) fn enter(&self) -> io::Result<()> {
        move_into_link_name_space(self.users.as_fd(), Some(LinkNameSpaceType::User))?;
        move_into_link_name_space(self.network.as_fd(), Some(LinkNameSpaceType::Network))?;
        move_into_link_name_space(
            self.objects.as_fd(),
            Some(LinkNameSpaceType::InterProcessCommunication),
        )?;
        Ok(())
    }
}

/// In the child: creates the namespaces and sends handles on them.
fn make(to: &OwnedFd, users: &str, groups: &str) -> Result<(), (Stage, io::Error)> {
    let at = |stage| move |error: io::Error| (stage, error);
    unshare(Kind::OfSandbox).map_err(at(Stage::Namespaces))?;
    map_user(users, groups).map_err(at(Stage::Users))?;
    raise_loopback().map_err(at(Stage::Loopback))?;
    hand_over(to).map_err(at(Stage::Ports))
}

/// Maps only the current user, to itself.
fn map_user(users: &str, groups: &str) -> io::Result<()> {
    // In a process that is not dumpable, the files below belong to root. This process holds no secrets and is about to end.
    let _ = set_dumpable_behavior(DumpableBehavior::Dumpable);
    for (file, text) in [
        (c"/proc/self/setgroups", "deny"),
        (c"/proc/self/uid_map", users),
        (c"/proc/self/gid_map", groups),
    ] {
        let file = openat(CWD, file, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
        write(&file, text.as_bytes())?;
    }
    Ok(())
}

/// Brings the loopback device up: `RTM_NEWLINK` for the first device, with the flag `IFF_UP`.
fn raise_loopback() -> io::Result<()> {
    const MESSAGE: usize = 32;
    let mut request = [0; MESSAGE];
    request[0..4].copy_from_slice(&32_u32.to_ne_bytes());
    // Type RTM_NEWLINK; flags request and acknowledge; sequence number 1.
    request[4..6].copy_from_slice(&16_u16.to_ne_bytes());
    request[6..8].copy_from_slice(&5_u16.to_ne_bytes());
    request[8..12].copy_from_slice(&1_u32.to_ne_bytes());
    // Device index 1; flags and change mask: up.
    request[20..24].copy_from_slice(&1_u32.to_ne_bytes());
    request[24..28].copy_from_slice(&1_u32.to_ne_bytes());
    request[28..32].copy_from_slice(&1_u32.to_ne_bytes());
    let routes = socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        // Protocol 0 (NETLINK_ROUTE): devices and routes.
        None,
    )?;
    send(&routes, &request, SendFlags::empty())?;
    let mut answer = [0; 256];
    let (read, _) = retry_on_intr(|| recv(&routes, &mut answer, RecvFlags::empty()))?;
    // After the header comes a negated error number, or zero.
    match answer.get(16..20).filter(|_| read >= 20) {
        Some([0, 0, 0, 0]) => Ok(()),
        Some(&[a, b, c, d]) => {
            let number = i32::from_ne_bytes([a, b, c, d]);
            Err(io::Error::from_raw_os_error(number.wrapping_neg()))
        }
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Sends handles on the namespaces and the listening sockets.
fn hand_over(to: &OwnedFd) -> io::Result<()> {
    let name_space = |path: &CStr| open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    let users = name_space(c"/proc/self/ns/user")?;
    let network = name_space(c"/proc/self/ns/net")?;
    let objects = name_space(c"/proc/self/ns/ipc")?;
    let http = listener(HTTP_PORT)?;
    let socks = listener(SOCKS_PORT)?;
    let handles: [BorrowedFd<'_>; 5] = [
        users.as_fd(),
        network.as_fd(),
        objects.as_fd(),
        http.as_fd(),
        socks.as_fd(),
    ];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(5))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&handles));
    sendmsg(
        to,
        &[IoSlice::new(&[Stage::Done as u8])],
        &mut control,
        SendFlags::empty(),
    )?;
    Ok(())
}

fn listener(port: u16) -> io::Result<OwnedFd> {
    let socket = socket_with(
        AddressFamily::INET,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )?;
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))?;
    listen(&socket, 128)?;
    Ok(socket)
}

/// Receives what the child sent before it ended.
fn receive(from: &OwnedFd) -> io::Result<(Option<Stage>, [Option<OwnedFd>; 5])> {
    let mut handles = [const { None }; 5];
    let mut byte = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(5))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let message = retry_on_intr(|| {
        let mut into = [IoSliceMut::new(&mut byte)];
        recvmsg(from, &mut into, &mut control, RecvFlags::CMSG_CLOEXEC)
    })?;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            for (place, handle) in handles.iter_mut().zip(received) {
                *place = Some(handle);
            }
        }
    }
    let stages = [
        Stage::Namespaces,
        Stage::Users,
        Stage::Loopback,
        Stage::Ports,
        Stage::Done,
    ];
    let stage = stages.into_iter().find(|stage| *stage as u8 == byte[0]);
    Ok((stage.filter(|_| message.bytes == 1), handles))
}
