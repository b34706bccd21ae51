//! Pages in headless Chromium. A page says itself that it is done.

use std::{
    fs::{self, File},
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use windlass_tests::artefacts;

use crate::pages::Pages;

/// Longer than a page takes on a busy machine: past it something hangs.
const LIMIT: Duration = Duration::from_secs(100);

/// Opens a page, which gets this bundle and the plugins of a directory, and gives what it posts to `/report`.
pub(crate) fn report_of(page: &str, bundle: &Value, plugins: &Path) -> String {
    let pages = Pages::serve(bundle.to_string(), plugins.to_owned());
    let profile = tempfile::tempdir().unwrap();
    let browser = Browser::open(&pages.url(page), profile.path());
    let report = pages.report(LIMIT);
    drop(browser);
    report.unwrap_or_else(|| {
        let said = fs::read_to_string(profile.path().join("stderr.txt")).unwrap_or_default();
        panic!(
            "the page did not report within {LIMIT:?}; asked for were:\n{}\nChromium said:\n{said}",
            pages.asked()
        )
    })
}

/// A Chromium of our own, in a process group of its own; nothing of it stays.
struct Browser(Child);

impl Browser {
    fn open(url: &str, profile: &Path) -> Self {
        let said = File::create(profile.join("stderr.txt")).unwrap();
        let child = Command::new(artefacts::chromium())
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--no-default-browser-check",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-extensions",
                "--disable-sync",
            ])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(url)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said)
            .spawn()
            .unwrap();
        Self(child)
    }
}

impl Drop for Browser {
    /// Ends it and every process it started.
    fn drop(&mut self) {
        let group = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw);
        // It may have ended by itself.
        let _ = group.map(|group| kill_process_group(group, Signal::KILL));
        let _ = self.0.wait();
    }
}
