//! Pages in headless Chromium, served from loopback. A page says itself that it is done.

use std::{
    fs::{self, File},
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group};
use tiny_http::{Header, Method, Request, Response, Server};
use windlass_tests::artefacts;

use crate::facts::Facts;

/// Longer than a page takes on a busy machine: past it something hangs.
const LIMIT: Duration = Duration::from_secs(70);

/// A headless Chromium sometimes hangs before it has shown anything; a page that hangs does so in each.
const BROWSERS: usize = 2;

/// Opens a page and gives what it posts to `/report`.
pub(crate) fn report_of(page: &str, facts: &Facts) -> String {
    let server = Arc::new(Server::http("127.0.0.1:0").unwrap());
    let address = server.server_addr().to_ip().unwrap();
    let (reports, reported) = mpsc::channel();
    let serving = {
        let (server, bundle) = (Arc::clone(&server), facts.bundle.to_string());
        thread::spawn(move || {
            for request in server.incoming_requests() {
                serve(request, &bundle, &reports);
            }
        })
    };
    let mut said = String::new();
    let report = (0..BROWSERS).find_map(|_| {
        let profile = tempfile::tempdir().unwrap();
        let browser = Browser::open(&format!("http://{address}{page}"), profile.path());
        let report = reported.recv_timeout(LIMIT);
        drop(browser);
        said = fs::read_to_string(profile.path().join("stderr.txt")).unwrap_or_default();
        report.ok()
    });
    server.unblock();
    serving.join().unwrap();
    report.unwrap_or_else(|| {
        panic!("{BROWSERS} browsers did not report within {LIMIT:?} each; the last said:\n{said}")
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

fn serve(mut request: Request, bundle: &str, reports: &mpsc::Sender<String>) {
    if *request.method() == Method::Post {
        let mut report = String::new();
        request.as_reader().read_to_string(&mut report).unwrap();
        // The first one counts; nobody listens to a second.
        let _ = reports.send(report);
        let _ = request.respond(Response::empty(204));
        return;
    }
    let path = request
        .url()
        .split('?')
        .next()
        .unwrap_or_default()
        .to_owned();
    let found = match path.as_str() {
        "/bundle.json" | "/package/demo/bundle.json" => Some(bundle.as_bytes().to_vec()),
        "/package/demo/index.html" => observed(&path),
        _ => file(&path),
    };
    // The browser may have gone in the meantime.
    let _ = match found {
        Some(bytes) => {
            let kind = Header::from_bytes("content-type", content_type(&path)).unwrap();
            request.respond(Response::from_data(bytes).with_header(kind))
        }
        None => request.respond(Response::empty(404)),
    };
}

/// The page of the demonstration, watched.
fn observed(path: &str) -> Option<Vec<u8>> {
    let mut page = file(path)?;
    page.extend_from_slice(b"<script type=\"module\" src=\"/tests/observe.js\"></script>\n");
    Some(page)
}

fn file(path: &str) -> Option<Vec<u8>> {
    let (place, rest) = path.strip_prefix('/')?.split_once('/')?;
    let directory = match place {
        "package" => artefacts::browser_package(),
        "tests" => artefacts::repository().join("tests/browser"),
        _ => return None,
    };
    fs::read(directory.join(rest)).ok()
}

fn content_type(path: &str) -> &'static str {
    match Path::new(path).extension().and_then(|e| e.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json") => "application/json",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    }
}
