//! Pages and what they load, on loopback, and `/report`, to which a page posts what it has seen.

use std::{
    convert::Infallible,
    fs,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, mpsc},
    thread::{self, JoinHandle},
    time::Duration,
};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{
    Method, Request, Response, StatusCode, body::Incoming, header::CONTENT_TYPE,
    server::conn::http1, service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpListener, sync::oneshot};
use windlass_tests::artefacts;

/// A server that runs until it is dropped.
pub(crate) struct Pages {
    address: SocketAddr,
    site: Arc<Site>,
    reports: mpsc::Receiver<String>,
    stop: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<()>>,
}

impl Pages {
    /// Serves the package, the pages of the tests, this bundle of a demonstration, and plugins, which are in this directory.
    pub(crate) fn serve(bundle: String, plugins: PathBuf) -> Self {
        let (report, reports) = mpsc::channel();
        let site = Arc::new(Site {
            bundle,
            plugins,
            report,
            asked: Mutex::default(),
        });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()
            .unwrap();
        let listener = runtime
            .block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))
            .unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let shared = Arc::clone(&site);
        let serving = thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = accept(listener, shared) => {}
                    _ = stopped => {}
                }
            });
        });
        Self {
            address,
            site,
            reports,
            stop: Some(stop),
            serving: Some(serving),
        }
    }

    /// The address of a page.
    pub(crate) fn url(&self, page: &str) -> String {
        format!("http://{}{page}", self.address)
    }

    /// What a page has posted first; none if none does in this time.
    pub(crate) fn report(&self, limit: Duration) -> Option<String> {
        self.reports.recv_timeout(limit).ok()
    }

    /// All that was asked for until now, a request in a line.
    pub(crate) fn asked(&self) -> String {
        self.site.asked.lock().unwrap().join("\n")
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        drop(self.stop.take());
        // It has said itself why it panicked.
        let _ = self.serving.take().map(JoinHandle::join);
    }
}

struct Site {
    bundle: String,
    plugins: PathBuf,
    report: mpsc::Sender<String>,
    asked: Mutex<Vec<String>>,
}

async fn accept(listener: TcpListener, site: Arc<Site>) {
    loop {
        let (connection, _) = listener.accept().await.unwrap();
        let site = Arc::clone(&site);
        let service = service_fn(move |request| {
            let site = Arc::clone(&site);
            async move { Ok::<_, Infallible>(site.answer(request).await) }
        });
        // The browser may hang up.
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(connection), service));
    }
}

impl Site {
    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let path = request.uri().path().to_string();
        let asked = format!("{} {path}", request.method());
        self.asked.lock().unwrap().push(asked);
        if *request.method() == Method::POST {
            let body = request.into_body().collect().await.unwrap().to_bytes();
            // The first one counts; nobody listens to a second.
            let _ = self.report.send(String::from_utf8(body.into()).unwrap());
            return empty(StatusCode::NO_CONTENT);
        }
        match self.content(&path) {
            Some(bytes) => Response::builder()
                .header(CONTENT_TYPE, content_type(&path))
                .body(Full::from(bytes))
                .unwrap(),
            None => empty(StatusCode::NOT_FOUND),
        }
    }

    fn content(&self, path: &str) -> Option<Vec<u8>> {
        match path {
            "/bundle.json" => Some(self.bundle.clone().into_bytes()),
            _ => match path.strip_prefix("/plugins/") {
                Some(plugin) => fs::read(self.plugins.join(plugin)).ok(),
                None => file(path),
            },
        }
    }
}

fn empty(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::default();
    *response.status_mut() = status;
    response
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
