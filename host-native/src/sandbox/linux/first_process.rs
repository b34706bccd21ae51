//! The first process of a command's PID namespace: when it ends, the kernel kills all others in the namespace,
//! including those that left the command's process group and session. So no process of a command outlives it, and
//! none can reach a process outside.
//!
//! A command consists of three processes. The one started by this process stays outside of the namespace and exits
//! with the program's status; the first process inside reaps orphans; the program is its child.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd as _, BorrowedFd, OwnedFd},
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::{Errno, read, retry_on_intr, write},
    net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
        SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
    },
    pipe::{PipeFlags, pipe_with},
    process::{
        DumpableBehavior, Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, pidfd_open,
        pidfd_send_signal, set_dumpable_behavior, wait, waitpid,
    },
};

use super::{
    before_exec::{close_all_but, end, end_by},
    step::Step,
};

/// The message number that announces the first process. Failed steps have other numbers.
const FIRST_PROCESS: u8 = 0;

/// How long the processes of a command may take to end after they are killed: the kernel may be holding one in a system call.
const PATIENCE: Duration = Duration::from_secs(5);

/// The pipe on which the first process reports the program's exit status.
pub(super) struct Ends {
    heard: OwnedFd,
    pub(super) told: OwnedFd,
}

impl Ends {
    pub(super) fn new() -> io::Result<Self> {
        let (heard, told) = pipe_with(PipeFlags::CLOEXEC)?;
        Ok(Self { heard, told })
    }
}

/// The process outside: it sends a handle to the first process, waits for it, and exits with the program's status.
/// When the first process has ended, all others have.
pub(super) fn stand_for(first: Pid, told: &OwnedFd, ends: &Ends) -> ! {
    hide_memory();
    // If the message is not received, the parent stops everything.
    let _ = hand_over(first, told);
    close_all_but(ends.heard.as_fd());
    let mut status = [0; 4];
    let heard = retry_on_intr(|| read(&ends.heard, &mut status));
    let of_first = retry_on_intr(|| waitpid(Some(first), WaitOptions::empty()));
    match (heard, of_first) {
        (Ok(4), _) => end_as(i32::from_ne_bytes(status)),
        (_, Ok(Some((_, status)))) => end_as(in_one_number(status)),
        _ => end(1),
    }
}

/// The first process: it reaps all processes, and exits when the program does.
pub(super) fn be_first(program: Pid, told: BorrowedFd<'_>) -> ! {
    hide_memory();
    close_all_but(told);
    loop {
        match retry_on_intr(|| wait(WaitOptions::empty())) {
            Ok(Some((ended, status))) if ended == program => {
                let _ = write(told, &in_one_number(status).to_ne_bytes());
                end(0);
            }
            Ok(_) => {}
            Err(_) => end(1),
        }
    }
}

/// These processes are copies of a process that may hold keys, and live as long as the program.
fn hide_memory() {
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

fn hand_over(first: Pid, told: &OwnedFd) -> io::Result<()> {
    // The process has not been reaped, so its id cannot have been reused.
    let handle = pidfd_open(first, PidfdFlags::empty())?;
    let handles = [handle.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&handles));
    let message = [IoSlice::new(&[FIRST_PROCESS])];
    sendmsg(told, &message, &mut control, SendFlags::empty())?;
    Ok(())
}

/// The exit code, or the negated signal number.
fn in_one_number(status: WaitStatus) -> i32 {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => code,
        (None, Some(signal)) => -signal,
        (None, None) => 1,
    }
}

fn end_as(status: i32) -> ! {
    match status {
        0.. => end(status),
        _ => end_by(-status),
    }
}

/// A command that was started with confinement.
#[derive(Debug)]
pub(in crate::sandbox) struct Started {
    heard: OwnedFd,
    has_namespaces: bool,
}

impl Started {
    /// Also returns the socket end on which the child reports.
    pub(super) fn new(has_namespaces: bool) -> io::Result<(Self, OwnedFd)> {
        let (heard, told) = socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC,
            None,
        )?;
        let started = Self {
            heard,
            has_namespaces,
        };
        Ok((started, told))
    }

    /// The first process of a started command; `None` if it has no PID namespace.
    ///
    /// # Errors
    /// The child could not send the handle. Then nothing can make sure that the command ends.
    pub(in crate::sandbox) fn first_process(&self) -> io::Result<Option<FirstProcess>> {
        if !self.has_namespaces {
            return Ok(None);
        }
        match self.hear()? {
            Some((FIRST_PROCESS, Some(handle))) => Ok(Some(FirstProcess(handle))),
            _ => Err(io::Error::other("it does not hand over its first process")),
        }
    }

    /// The step that failed, if any. To be called after the command was dropped, since it holds the other end.
    pub(super) fn failed_step(&self) -> Option<Step> {
        while let Ok(Some((byte, _))) = self.hear() {
            if let Some(step) = Step::ALL.into_iter().find(|step| *step as u8 == byte) {
                return Some(step);
            }
        }
        None
    }

    /// A description of the step that failed.
    pub(in crate::sandbox) fn failure(&self) -> Option<&'static str> {
        self.failed_step().map(Step::words)
    }

    /// The next message of the child; `None` if the other end is closed.
    fn hear(&self) -> io::Result<Option<(u8, Option<OwnedFd>)>> {
        let mut byte = [0];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let message = retry_on_intr(|| {
            let mut into = [IoSliceMut::new(&mut byte)];
            recvmsg(
                &self.heard,
                &mut into,
                &mut control,
                RecvFlags::CMSG_CLOEXEC,
            )
        })?;
        let handle = control.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut handles) => handles.next(),
            _ => None,
        });
        Ok((message.bytes > 0).then_some((byte[0], handle)))
    }
}

/// A pidfd of the first process of a command.
#[derive(Debug)]
pub(in crate::sandbox) struct FirstProcess(OwnedFd);

impl FirstProcess {
    /// Kills all processes of the command and waits until they have ended. Returns false if they do not end in time.
    pub(in crate::sandbox) fn end(&self) -> bool {
        match pidfd_send_signal(&self.0, Signal::KILL) {
            Ok(()) | Err(Errno::SRCH) => {}
            Err(_) => return false,
        }
        let patience = Timespec::try_from(PATIENCE).ok();
        let mut handles = [PollFd::new(&self.0, PollFlags::IN)];
        matches!(
            retry_on_intr(|| poll(&mut handles, patience.as_ref())),
            Ok(1..)
        )
    }
}
