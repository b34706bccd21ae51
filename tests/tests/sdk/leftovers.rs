//! Processes that outlive the program that started them.

use std::{
    ffi::OsStr,
    fs, io,
    os::{fd::AsRawFd as _, unix::ffi::OsStrExt as _},
    time::Duration,
};

use mio::{Events, Interest, Poll, Token, unix::SourceFd};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

/// How long a process may take to end by itself once nobody needs it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Waits until every process whose environment says `name=value` has ended.
///
/// # Errors
/// The command lines of those that did not; they are killed.
pub(crate) fn wait_for(name: &str, value: &OsStr) -> Result<(), String> {
    let mut mark = name.as_bytes().to_vec();
    mark.push(b'=');
    mark.extend(value.as_bytes());
    let mut left = Vec::new();
    // A process may start another one as it ends, so they are looked for until there are none.
    loop {
        let marked = processes(&mark);
        if marked.is_empty() {
            break;
        }
        for pid in marked {
            if has_ended(pid).map_err(|error| error.to_string())? {
                continue;
            }
            left.push(command_line(pid));
            // It may end at this very moment, which is as good.
            let _ = kill_process(pid, Signal::KILL);
            has_ended(pid).map_err(|error| error.to_string())?;
        }
    }
    if left.is_empty() {
        return Ok(());
    }
    Err(format!(
        "still running afterwards:\n  {}",
        left.join("\n  ")
    ))
}

/// Whether a process ends before patience does.
fn has_ended(pid: Pid) -> io::Result<bool> {
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else {
        return Ok(true); // it has ended already
    };
    let mut poll = Poll::new()?;
    let raw = handle.as_raw_fd();
    let mut ended = SourceFd(&raw);
    let registry = poll.registry();
    registry.register(&mut ended, Token(0), Interest::READABLE)?;
    let mut events = Events::with_capacity(1);
    poll.poll(&mut events, Some(PATIENCE))?;
    Ok(!events.is_empty())
}

fn processes(mark: &[u8]) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let own = std::process::id();
    (entries.flatten())
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|&pid| pid != own)
        .filter(|pid| {
            // Unreadable: not ours, or gone. A zombie has an empty environment.
            fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| {
                environment.split(|&byte| byte == 0).any(|set| set == mark)
            })
        })
        .filter_map(|pid| Pid::from_raw(i32::try_from(pid).ok()?))
        .collect()
}

fn command_line(pid: Pid) -> String {
    let line = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
    String::from_utf8_lossy(&line).replace('\0', " ")
}
