//! Keys do not stay in the environment of this process.
//!
//! Any process of the same user can read the environment that another was *started* with (`/proc/PID/environ`, `ps e`), and taking
//! a variable out changes nothing about that. So a process that finds keys in its environment starts itself anew without them: in
//! the same process, with the same arguments, and with the keys in a socket that only it holds.
//!
//! The socket takes the place of standard input, because that is the one descriptor by a known number; standard input itself
//! travels in the socket and goes back to its place. Everything else stays as it was across the new start.

use std::{
    env,
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::{net::UnixStream, process::CommandExt as _},
    },
    path::PathBuf,
    process,
};

use rustix::{
    net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
        SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
    },
    stdio::{dup2_stdin, stdin},
};
use windlass::{
    child::{self, HANDED_OVER},
    credentials::Credentials,
};

/// The keys that this process was started with. They are not in its environment, or will not be when this returns in another
/// process: if there are keys in the environment, this begins the program anew.
///
/// # Errors
/// What stands in the way. Then the keys, if there are any, are where they were.
pub(crate) fn without_keys() -> io::Result<Credentials> {
    if env::var_os(HANDED_OVER).is_some_and(|pid| pid == *process::id().to_string()) {
        let failed = |error| io::Error::other(format!("they were not handed over: {error}"));
        return receive().map_err(failed);
    }
    let keys = Credentials::read(|name| env::var(name).ok());
    match keys.is_empty() {
        true => Ok(keys),
        false => {
            let error = begin_anew(&keys);
            Err(io::Error::other(format!(
                "they stay in the environment, where programs of the same user can read them: {error}"
            )))
        }
    }
}

/// Takes the place of this process. Comes back only where that is not possible, with standard input as it was.
fn begin_anew(keys: &Credentials) -> io::Error {
    let own = match stdin().try_clone_to_owned() {
        Ok(own) => own,
        Err(error) => return error,
    };
    let error = hand_over(keys, &own);
    match dup2_stdin(&own) {
        Ok(()) => error,
        Err(worse) => worse.into(),
    }
}

fn hand_over(keys: &Credentials, own_stdin: &OwnedFd) -> io::Error {
    let handed = UnixStream::pair().and_then(|(ours, theirs)| {
        // What does not fit is an error; nobody reads it before the new start.
        ours.set_nonblocking(true)?;
        let mut message = Vec::new();
        for (name, _) in keys.iter() {
            let value = keys.get(name).unwrap_or_default();
            message.extend_from_slice(format!("{name}={value}\0").as_bytes());
        }
        send(&ours, &message, own_stdin)?;
        dup2_stdin(&theirs)?;
        Ok(())
    });
    if let Err(error) = handed {
        return error;
    }
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for program in this_program() {
        let mut words = env::args_os();
        let mut command = child::command(program);
        if let Some(name) = words.next() {
            command.arg0(name);
        }
        command
            .args(words)
            .env(HANDED_OVER, process::id().to_string());
        last = command.exec();
    }
    last
}

fn send(socket: &UnixStream, message: &[u8], own_stdin: &OwnedFd) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let descriptors = [own_stdin.as_fd()];
    ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
    let sent = sendmsg(
        socket,
        &[IoSlice::new(message)],
        &mut ancillary,
        SendFlags::empty(),
    )?;
    match sent == message.len() {
        true => Ok(()),
        false => Err(io::Error::other("the keys are too long to be handed over")),
    }
}

/// Where this program is: by the path by which it was started, which needs no `/proc` and keeps the name of the process; then as
/// the system has it.
fn this_program() -> Vec<PathBuf> {
    let mut paths = Vec::new();
    #[cfg(target_os = "linux")]
    {
        use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};
        let started = OsStr::from_bytes(rustix::param::linux_execfn().to_bytes());
        // A name without a folder would be looked for on the search path.
        paths.push(env::current_dir().unwrap_or_default().join(started));
    }
    paths.extend(env::current_exe());
    // What runs, even if its file was replaced meanwhile.
    #[cfg(target_os = "linux")]
    paths.push("/proc/self/exe".into());
    paths
}

/// What the process before this one handed over.
fn receive() -> io::Result<Credentials> {
    let mut message = Vec::new();
    let mut own_stdin = None;
    loop {
        let mut piece = [0; 4096];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let received = recvmsg(
            stdin(),
            &mut [IoSliceMut::new(&mut piece)],
            &mut ancillary,
            // What comes is closed before anything is started.
            RecvFlags::empty(),
        )?;
        for sent in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = sent {
                own_stdin = descriptors.last().or(own_stdin);
            }
        }
        // The other end was closed by the new start.
        if received.bytes == 0 {
            break;
        }
        message.extend_from_slice(&piece[..received.bytes]);
    }
    let own_stdin = own_stdin.ok_or(io::ErrorKind::UnexpectedEof)?;
    dup2_stdin(&own_stdin)?;
    let text = String::from_utf8_lossy(&message);
    Ok(Credentials::read(|name| {
        let mut variables = text.split('\0').filter_map(|line| line.split_once('='));
        let (_, value) = variables.find(|(given, _)| *given == name)?;
        Some(value.to_owned())
    }))
}
