//! The first process of a command's namespace of processes: when it ends, the kernel ends all others there, also those that left
//! the command's group and session. So nothing of a command outlives it, and nothing in it reaches a process outside.
//!
//! Three processes stand for a command. The one that this process started stays outside and ends as the program does; the first
//! one inside collects what loses its parent; the program is its child.

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
    enter::Step,
};

/// What announces the first process. Steps that fail have other numbers.
const FIRST_PROCESS: u8 = 0;

/// So long the processes of a command may take to end once they are killed: the kernel may hold one in the middle of a call.
const PATIENCE: Duration = Duration::from_secs(5);

/// Through which the first process says how the program ended.
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

/// What the process outside does: it hands over the first one, waits for it and ends as the program did. When the first one has
/// gone, all others have.
pub(super) fn stand_for(first: Pid, told: &OwnedFd, ends: &Ends) -> ! {
    hide_memory();
    // Whoever hears nothing of it stops everything.
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

/// What the first process does: it waits for everything, and ends with the program.
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

/// They are copies of a process that may hold keys, and live as long as the program.
fn hide_memory() {
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

fn hand_over(first: Pid, told: &OwnedFd) -> io::Result<()> {
    // Nobody has waited for it, so its number is its own.
    let handle = pidfd_open(first, PidfdFlags::empty())?;
    let handles = [handle.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&handles));
    let message = [IoSlice::new(&[FIRST_PROCESS])];
    sendmsg(told, &message, &mut control, SendFlags::empty())?;
    Ok(())
}

/// The exit code, or the signal below zero.
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

/// A command that was told to confine itself.
#[derive(Debug)]
pub(in crate::sandbox) struct Started {
    heard: OwnedFd,
    has_namespaces: bool,
}

impl Started {
    /// With the end through which the child tells of itself.
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

    /// The first process of a command that was started; none where it has no namespace.
    ///
    /// # Errors
    /// The child could not hand it over. Then nobody could see to its end.
    pub(in crate::sandbox) fn first_process(&self) -> io::Result<Option<FirstProcess>> {
        if !self.has_namespaces {
            return Ok(None);
        }
        match self.hear()? {
            Some((FIRST_PROCESS, Some(handle))) => Ok(Some(FirstProcess(handle))),
            _ => Err(io::Error::other("it does not hand over its first process")),
        }
    }

    /// The step that failed, if one did. To be asked when the command has gone, which holds the other end.
    pub(super) fn failed_step(&self) -> Option<Step> {
        while let Ok(Some((byte, _))) = self.hear() {
            if let Some(step) = Step::ALL.into_iter().find(|step| *step as u8 == byte) {
                return Some(step);
            }
        }
        None
    }

    /// In words.
    pub(in crate::sandbox) fn failure(&self) -> Option<&'static str> {
        self.failed_step().map(Step::words)
    }

    /// The next thing that the child tells; none if nobody is left who could.
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

/// A handle on the first process of a command.
#[derive(Debug)]
pub(in crate::sandbox) struct FirstProcess(OwnedFd);

impl FirstProcess {
    /// Ends all processes of the command, if they have not ended, and waits until they have. False if they do not.
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
