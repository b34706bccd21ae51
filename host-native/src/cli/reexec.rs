//! Removes keys from the environment of this process.
//!
//! Any process of the same user can read the environment with which another one was *started* (`/proc/PID/environ`,
//! `ps e`), and unsetting a variable does not change that. So a process that finds keys in its environment
//! re-executes itself without them: with the same process id and arguments, and with the keys in a socket that only
//! it holds.
//!
//! The socket replaces standard input, because that is the one descriptor with a known number; the original standard
//! input is sent through the socket and restored afterwards. Everything else is preserved by exec.

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

/// The keys with which this process was started. They are not in its environment, or will not be when this function
/// returns after re-execution: if there are keys in the environment, the program is executed again.
///
/// # Errors
/// Why the keys could not be removed. Then they are still in the environment.
pub(crate) fn without_keys() -> io::Result<Credentials> {
    if env::var_os(HANDED_OVER).is_some_and(|pid| pid == *process::id().to_string()) {
        let failed = |error| io::Error::other(format!("they were not handed over: {error}"));
        return receive().map_err(failed);
    }
    let keys = Credentials::read(|name| env::var(name).ok());
    match keys.is_empty() {
        true => Ok(keys),
        false => {
            let error = reexecute(&keys);
            Err(io::Error::other(format!(
                "they stay in the environment, where programs of the same user can read them: {error}"
            )))
        }
    }
}

/// Re-executes the program. Returns only if that fails, with standard input restored.
fn reexecute(keys: &Credentials) -> io::Error {
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
        // A message that does not fit must be an error, since nobody reads before the exec.
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

/// The paths of this program: the one by which it was started, which does not need `/proc` and keeps the name of the
/// process; then that of the system.
fn this_program() -> Vec<PathBuf> {
    let mut paths = Vec::new();
    #[cfg(target_os = "linux")]
    {
        use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};
        let started = OsStr::from_bytes(rustix::param::linux_execfn().to_bytes());
        // A name without a folder would be looked up in the search path.
        paths.push(env::current_dir().unwrap_or_default().join(started));
    }
    paths.extend(env::current_exe());
    // The running program, even if its file was replaced meanwhile.
    #[cfg(target_os = "linux")]
    paths.push("/proc/self/exe".into());
    paths
}

/// Receives the keys from before the exec.
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
            // Received descriptors are close-on-exec.
            RecvFlags::empty(),
        )?;
        for sent in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = sent {
                own_stdin = descriptors.last().or(own_stdin);
            }
        }
        // The exec closed the other end.
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
