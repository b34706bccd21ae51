//! A terminal in front of the command, and somebody who types.

use std::{
    fs::File,
    io::{Read as _, Write as _},
    os::fd::OwnedFd,
    process::{Child, Stdio},
};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::support::Windlass;

/// The command at a terminal of its own.
pub(crate) struct Terminal {
    controller: File,
    child: Child,
    seen: String,
}

impl Terminal {
    pub(crate) fn run(windlass: &Windlass, args: &[&str]) -> Self {
        // Held by the command too, it would keep the terminal alive that the command waits for.
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let controller = openpt(flags).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap();
        let open = || -> OwnedFd {
            File::options()
                .read(true)
                .write(true)
                .open(name.to_str().unwrap())
                .unwrap()
                .into()
        };
        let child = (windlass.command(args))
            .env("TERM", "xterm")
            // With a key the program begins anew, and must have the terminal back.
            .env("ANTHROPIC_API_KEY", "sk-ant-for-the-terminal")
            .stdin(Stdio::from(open()))
            .stdout(Stdio::from(open()))
            .stderr(Stdio::from(open()))
            .spawn()
            .unwrap();
        Self {
            controller: controller.into(),
            child,
            seen: String::new(),
        }
    }

    /// Reads until these words have come since the last time.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, words: &str) -> String {
        let mut piece = [0; 4096];
        loop {
            if let Some(place) = self.seen.find(words) {
                let rest = self.seen.split_off(place + words.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            // Linux reports the end of a terminal as an error.
            let count = self.controller.read(&mut piece).unwrap_or(0);
            assert!(count > 0, "it ended before {words:?} came: {:?}", self.seen);
            self.seen
                .push_str(&String::from_utf8_lossy(&piece[..count]));
        }
    }

    pub(crate) fn type_in(&mut self, text: &str) {
        self.controller.write_all(text.as_bytes()).unwrap();
    }

    pub(crate) fn exit_code(mut self) -> Option<i32> {
        // Read on, or a full terminal would hold it up.
        let mut rest = Vec::new();
        let _ = self.controller.read_to_end(&mut rest);
        self.child.wait().unwrap().code()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A test that failed half-way leaves nobody behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
