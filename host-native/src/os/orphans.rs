//! Ends the programs of this process after it was killed.
//!
//! A killed process (SIGKILL, out of memory) runs no more code. So a separate shell process of a few hundred KiB
//! watches: it is started with the first program, holds the other end of a pipe, and keeps a list of the running
//! process groups. When the pipe closes for any reason, it ends the groups that are left.

use std::{
    io::{self, Write as _},
    os::unix::process::CommandExt as _,
    process::{Child, ChildStdin, Stdio},
    sync::{Mutex, PoisonError},
};

use crate::child_env::command;

/// Reads `begun N` and `ended N`. At the end of its input it asks the remaining groups to end, and then kills them.
/// It has its own process group and no terminal, so it is not ended together with those whom it watches.
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
            // It outlives this process, so it inherits none of its environment.
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

/// Starts the watching process before the first program: starting it takes longer than a program needs to begin its
/// work, and it could miss a group that is reported too late.
pub(super) fn watch() {
    let mut watcher = WATCHER.lock().unwrap_or_else(PoisonError::into_inner);
    if watcher.is_none() {
        // If there is no shell, an orderly end still leaves nothing behind.
        *watcher = Watcher::start().ok();
    }
}

/// Registers a process group: it is ended together with this process, however that ends.
pub(super) fn begun(group: u32) {
    let mut watcher = WATCHER.lock().unwrap_or_else(PoisonError::into_inner);
    // If the watching process was killed, another one is started, which knows the groups registered from now on.
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

/// Removes a process group, whose id may be reused.
pub(super) fn ended(group: u32) {
    let mut watcher = WATCHER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(watching) = watcher.as_mut() {
        // If the watching process was killed, there is no list to remove it from.
        let _ = write_line(&mut watching.list, "ended", group);
    }
}

/// Writes a line with a single write, so that it is in the pipe completely or not at all.
fn write_line(list: &mut ChildStdin, what: &str, group: u32) -> io::Result<()> {
    list.write_all(format!("{what} {group}\n").as_bytes())
}
