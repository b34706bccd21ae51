//! The namespaces that all commands of a sandbox share: users, network, System V objects. They are made once, by a child that
//! hands them over and ends; each command then enters them.
//!
//! The network has nothing but its own loopback device. On that device two ports lead out: what listens there was made inside
//! and is held by this process, which accepts in its own network.

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

/// Where programs inside find the way out for HTTP.
pub(in crate::sandbox) const HTTP_PORT: u16 = 3128;

/// Where they find the one for everything else.
pub(in crate::sandbox) const SOCKS_PORT: u16 = 1080;

/// Handles on the namespaces, which live as long as these.
#[derive(Debug)]
pub(super) struct Namespaces {
    users: OwnedFd,
    network: OwnedFd,
    objects: OwnedFd,
}

/// What makes the namespaces of a sandbox, and what listens in them.
#[derive(Debug)]
pub(super) struct Established {
    pub(super) namespaces: Namespaces,
    pub(super) http: TcpListener,
    pub(super) socks: TcpListener,
}

/// How far the child came.
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

/// What the child returns when all is done and nothing is to be executed.
const NOTHING_TO_EXECUTE: rustix::io::Errno = rustix::io::Errno::CANCELED;

impl Namespaces {
    /// Makes them.
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
        // It ends before it executes anything.
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
        // The child's end goes with the closure: what was not sent by now never is.
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

    /// Has the calling process, which must have one thread, go into them. Runs before a command's program.
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

/// In the child: makes the namespaces and sends the handles on them.
fn make(to: &OwnedFd, users: &str, groups: &str) -> Result<(), (Stage, io::Error)> {
    let at = |stage| move |error: io::Error| (stage, error);
    unshare(Kind::Lasting).map_err(at(Stage::Namespaces))?;
    map_user(users, groups).map_err(at(Stage::Users))?;
    raise_loopback().map_err(at(Stage::Loopback))?;
    hand_over(to).map_err(at(Stage::Ports))
}

/// The one user there is stays who it is.
fn map_user(users: &str, groups: &str) -> io::Result<()> {
    // The files below belong to root in a process that hides its memory. This one holds nothing but is about to end.
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

/// Switches the loopback device on: `RTM_NEWLINK` for the first device, with the flag that it is up.
fn raise_loopback() -> io::Result<()> {
    const MESSAGE: usize = 32;
    let mut request = [0; MESSAGE];
    request[0..4].copy_from_slice(&32_u32.to_ne_bytes());
    // RTM_NEWLINK; as a request, to be acknowledged; the first of them.
    request[4..6].copy_from_slice(&16_u16.to_ne_bytes());
    request[6..8].copy_from_slice(&5_u16.to_ne_bytes());
    request[8..12].copy_from_slice(&1_u32.to_ne_bytes());
    // The first device; up; nothing else changes.
    request[20..24].copy_from_slice(&1_u32.to_ne_bytes());
    request[24..28].copy_from_slice(&1_u32.to_ne_bytes());
    request[28..32].copy_from_slice(&1_u32.to_ne_bytes());
    let routes = socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        // Its first protocol: devices and routes.
        None,
    )?;
    send(&routes, &request, SendFlags::empty())?;
    let mut answer = [0; 256];
    let (read, _) = retry_on_intr(|| recv(&routes, &mut answer, RecvFlags::empty()))?;
    // Behind the header stands an error number, negative, or zero.
    match answer.get(16..20).filter(|_| read >= 20) {
        Some([0, 0, 0, 0]) => Ok(()),
        Some(&[a, b, c, d]) => {
            let number = i32::from_ne_bytes([a, b, c, d]);
            Err(io::Error::from_raw_os_error(number.wrapping_neg()))
        }
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Sends the namespaces and what listens in them.
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

/// What the child sent before it ended.
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
