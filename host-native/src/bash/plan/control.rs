//! The running programs of a plan, and how they are stopped.

use std::{
    io,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::process::CommandExt as _,
    },
    process::{Child, Command},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use rustix::{
    io::Errno,
    pipe::{PipeFlags, pipe_with},
    process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid},
};

use super::{
    Ending,
    cpu_time::{self, CpuTime},
};
use crate::{
    child,
    os::{Group, Kill},
};

/// The processes of one plan: one process group, led by its first program.
///
/// A leader that has exited is reaped last: while its process id is in use, others can join its group.
#[derive(Debug)]
pub struct Control {
    stopping: AtomicBool,
    /// Becomes readable when the plan is to be stopped.
    stopped: OwnedFd,
    processes: Mutex<Processes>,
}

#[derive(Debug)]
struct Processes {
    /// Dropped to stop the plan.
    stop: Option<OwnedFd>,
    group: Option<Group>,
    leader: Option<Child>,
    /// Processes that were started and not reaped yet. Programs can leave the group, so these are also signalled one by one.
    running: Vec<u32>,
    /// The CPU time of ended programs; `None` until it is first requested.
    cpu_time: Option<CpuTime>,
}

/// A running program.
#[derive(Debug)]
pub(super) struct Running {
    /// `None` for the leader, which is stored elsewhere.
    child: Option<Child>,
    pub(super) id: u32,
}

/// Why a program was not started.
pub(super) enum NotStarted {
    /// The plan is being stopped.
    Stopped,
    /// The error of the operating system.
    Failed(io::Error),
}

impl Control {
    /// For one plan.
    ///
    /// # Errors
    /// No file descriptors are left.
    pub fn new() -> io::Result<Self> {
        let (stopped, stop) = pipe_with(PipeFlags::CLOEXEC)?;
        Ok(Self {
            stopping: AtomicBool::new(false),
            stopped,
            processes: Mutex::new(Processes {
                stop: Some(stop),
                group: None,
                leader: None,
                running: Vec::new(),
                cpu_time: None,
            }),
        })
    }

    /// Kills all programs of the plan, and prevents new ones.
    pub fn kill(&self) {
        self.stop(Kill::Force);
    }

    /// Ends all programs of the plan, and prevents new ones.
    pub(crate) fn stop(&self, how: Kill) {
        self.stopping.store(true, Ordering::SeqCst);
        let mut processes = self.processes();
        processes.stop = None;
        if let Some(group) = &mut processes.group {
            group.signal(how);
        }
        let signal = match how {
            Kill::Ask => Signal::TERM,
            Kill::Force => Signal::KILL,
        };
        for pid in processes.running.iter().filter_map(|id| pid(*id)) {
            let _ = kill_process(pid, signal);
        }
    }

    /// Signals the processes left in the group after the plan has ended. Returns whether there are any.
    pub(crate) fn signal_rest(&self, how: Kill) -> bool {
        let mut processes = self.processes();
        (processes.group.as_mut()).is_some_and(|group| group.signal(how))
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Becomes readable when the plan is to be stopped.
    pub(super) fn stopped(&self) -> BorrowedFd<'_> {
        self.stopped.as_fd()
    }

    /// Starts a program in the group.
    pub(super) fn start(&self, command: &mut Command) -> Result<Running, NotStarted> {
        Group::expect();
        // The lock is held while the program starts: a concurrent stop either finds it in the list or prevents it.
        let mut processes = self.processes();
        if self.is_stopping() {
            return Err(NotStarted::Stopped);
        }
        let leader = processes.leader.as_ref().map_or(0, Child::id);
        command.process_group(i32::try_from(leader).unwrap_or(0));
        child::as_agent(command);
        let child = command.spawn().map_err(NotStarted::Failed)?;
        let id = child.id();
        processes.running.push(id);
        if leader != 0 {
            let child = Some(child);
            return Ok(Running { child, id });
        }
        processes.group = Some(Group::new(Some(id)));
        processes.leader = Some(child);
        Ok(Running { child: None, id })
    }

    /// Waits for a program to end.
    pub(super) fn wait(&self, mut running: Running) -> Ending {
        // Only peeks: the process id must stay valid until it is removed from the list.
        let status = pid(running.id).map(|pid| {
            loop {
                let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
                match waitid(WaitId::Pid(pid), options) {
                    Err(Errno::INTR) => {}
                    other => break other,
                }
            }
        });
        let mut processes = self.processes();
        processes.running.retain(|id| *id != running.id);
        if let Some(all) = &mut processes.cpu_time {
            let own = cpu_time::of_process(running.id);
            all.user += own.user;
            all.system += own.system;
        }
        if let Some(child) = &mut running.child {
            let _ = child.wait();
        }
        match status {
            Some(Ok(Some(status))) => match (status.exit_status(), status.terminating_signal()) {
                (Some(code), _) => Ending::Code(code),
                (None, Some(signal)) => Ending::Signal(signal),
                (None, None) => Ending::Code(1),
            },
            // Cannot happen, since nobody else reaps it; bash uses 127 for a lost child.
            _ => Ending::Code(127),
        }
    }

    /// The CPU time that programs have used since this was first called.
    pub(super) fn cpu_time(&self) -> CpuTime {
        *self.processes().cpu_time.get_or_insert_default()
    }

    /// Reaps the leader.
    pub(super) fn reap(&self) {
        let leader = self.processes().leader.take();
        if let Some(mut leader) = leader {
            let _ = leader.wait();
        }
    }

    fn processes(&self) -> MutexGuard<'_, Processes> {
        self.processes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn pid(id: u32) -> Option<Pid> {
    i32::try_from(id).ok().and_then(Pid::from_raw)
}
