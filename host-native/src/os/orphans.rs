//! What ends the programs of this process when it is killed and can end nothing any more.
//!
//! A process that is killed (SIGKILL, the system out of memory) runs none of its own code again. So somebody else
//! watches: a shell of a few hundred KiB that is started with the first program, holds the other end of a pipe and keeps
//! the list of the process groups that run. When the pipe closes, however that came about, it ends what is left.

use std::{
    io::{self, Write as _},
    os::unix::process::CommandExt as _,
    process::{Child, ChildStdin, Stdio},
    sync::{Mutex, PoisonError},
};

use crate::child_env::command;

/// Reads `begun N` and `ended N`; at the end of its input ends the groups that are left, asked first. It shares no group
/// and no terminal with anybody, so it does not go with those whom it watches.
const WATCH: &str = r#"
trap '' HUP INT TERM
left=' '
while read -r what group; do
    case $what$left in
        begun*) left="$left$group " ;;
        ended*" $group "*) left="${left%% "$group" *} ${left#* "$group" }" ;;
    esac
done
for group in $left; do kill -s TERM -- "-$group"; done
for group in $left; do kill -s 0 -- "-$group" && { sleep 2; break; }; done
for group in $left; do kill -s KILL -- "-$group"; done
"#;

static WATCHER: Mutex<Option<Watcher>> = Mutex::new(None);

struct Watcher {
    child: Child,
    list: ChildStdin,
}

impl Watcher {
    fn start() -> io::Result<Self> {
        let mut child = command("/bin/sh")
            .args(["-c", WATCH])
            // Nothing of this process has any business in one that outlives it.
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let list = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { child, list })
    }
}

/// Somebody watches before there is anything to be watched: to start them takes longer than a program needs to begin its work,
/// and of what is told too late they never hear.
pub(super) fn watch() {
    let mut watcher = WATCHER.lock().unwrap_or_else(PoisonError::into_inner);
    if watcher.is_none() {
        // Where there is no shell an orderly end still leaves nothing behind.
        *watcher = Watcher::start().ok();
    }
}

/// A group has begun: it ends with this process, whatever becomes of that.
pub(super) fn begun(group: u32) {
    let mut watcher = WATCHER.lock().unwrap_or_else(PoisonError::into_inner);
    // One who was killed is followed by another: that one knows of what begins from now on.
    for _ in 0..2 {
        if watcher.is_none() {
            *watcher = Watcher::start().ok();
        }
        let Some(watching) = watcher.as_mut() else {
            return;
        };
        if write_line(&mut watching.list, "begun", group).is_ok() {
            return;
        }
        let _ = watching.child.wait();
        *watcher = None;
    }
}

/// Nothing is left of a group: its number may be given to others.
pub(super) fn ended(group: u32) {
    let mut watcher = WATCHER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(watching) = watcher.as_mut() {
        // One who was killed has no list to take it from.
        let _ = write_line(&mut watching.list, "ended", group);
    }
}

/// In one write: a line is in the pipe or it is not.
fn write_line(list: &mut ChildStdin, what: &str, group: u32) -> io::Result<()> {
    list.write_all(format!("{what} {group}\n").as_bytes())
}
