//! The network: nothing but what the settings allow, by way of the proxies.

use std::{
    io::{self, Read as _, Write as _},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::json;

use crate::support::Place;

/// A server on this machine that answers each request with the same text, and remembers what it was sent.
struct Server {
    address: SocketAddr,
    heard: Arc<Mutex<String>>,
}

impl Server {
    fn start(answer: impl Into<String>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let heard = Arc::new(Mutex::new(String::new()));
        let hears = Arc::clone(&heard);
        let answer = answer.into();
        thread::spawn(move || {
            for connection in listener.incoming() {
                let Ok(mut connection) = connection else {
                    return;
                };
                let mut buffer = [0; 4096];
                let read = connection.read(&mut buffer).unwrap_or_default();
                hears
                    .lock()
                    .unwrap()
                    .push_str(&String::from_utf8_lossy(&buffer[..read]));
                let _ = connection.write_all(answer.as_bytes());
                let _ = connection.shutdown(Shutdown::Write);
                // A request comes in pieces. A connection that is closed with some of it unread is reset, and an answer that nobody
                // has read by then is lost.
                thread::spawn(move || io::copy(&mut connection, &mut io::sink()));
            }
        });
        Self { address, heard }
    }

    fn saying(text: &str) -> Self {
        Self::start(format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
            text.len()
        ))
    }

    fn port(&self) -> u16 {
        self.address.port()
    }

    fn heard(&self) -> String {
        self.heard.lock().unwrap().clone()
    }
}

/// Sends a request through the proxy for HTTP, without a program that might be missing.
///
/// Bash writes line by line, and a proxy that answers early closes the connection: what it said by then is read all
/// the same, so the signal of a closed connection must not end the shell.
fn by_proxy(request: &str) -> String {
    format!(
        "trap '' PIPE; exec 3<>/dev/tcp/127.0.0.1/3128; printf '{}' >&3; timeout 20 cat <&3",
        request
            .replace('\r', "\\r")
            .replace('\n', "\\n")
            .replace('%', "%%")
    )
}

fn get(url: &str, host: &str) -> String {
    by_proxy(&format!(
        "GET {url} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    ))
}

#[tokio::test]
async fn no_address_is_reached_directly() {
    let Some(place) =
        Place::new(json!({"network": {"allowedDomains": ["*", "localhost", "127.0.0.1"]}}))
    else {
        return;
    };
    let server = Server::saying("reached");
    let port = server.port();
    for attack in [
        format!("exec 3<>/dev/tcp/127.0.0.1/{port} && cat <&3"),
        format!("exec 3<>/dev/tcp/localhost/{port} && cat <&3"),
        "exec 3<>/dev/tcp/8.8.8.8/53 && echo reached".to_owned(),
        "exec 3<>/dev/udp/8.8.8.8/53 && echo x >&3 && echo reached".to_owned(),
        "exec 3<>/dev/tcp/example.com/80 && echo reached".to_owned(),
        "exec 3<>/dev/tcp/169.254.169.254/80 && echo reached".to_owned(),
        format!("exec 3<>'/dev/tcp/::1/{port}' && echo reached"),
        format!("curl -s --noproxy '*' http://127.0.0.1:{port}/"),
        format!("HTTP_PROXY= http_proxy= ALL_PROXY= curl -s http://127.0.0.1:{port}/"),
    ] {
        let ran = place.run(&attack).await;
        assert!(!ran.stdout.contains("reached"), "{attack}: {ran:?}");
    }
    let ran = place
        .run("getent ahosts example.com; cat /proc/net/dev /proc/net/route")
        .await;
    assert!(
        !ran.stdout.contains("eth") && !ran.stdout.contains("STREAM"),
        "{ran:?}"
    );
    assert_eq!(server.heard(), "");
}

#[tokio::test]
async fn an_allowed_host_is_reached_by_the_proxies_and_no_other_is() {
    let server = Server::saying("hello from the server");
    let port = server.port();
    let settings = json!({"network": {"allowedDomains": ["localhost"], "deniedDomains": [format!("localhost:{}", port.wrapping_add(1))]}});
    let Some(place) = Place::new(settings) else {
        return;
    };
    let ran = place
        .run(&get(
            &format!("http://localhost:{port}/a?b"),
            &format!("localhost:{port}"),
        ))
        .await;
    assert!(ran.stdout.contains("hello from the server"), "{ran:?}");
    assert!(
        server.heard().starts_with("GET /a?b HTTP/1.1\r\n"),
        "{}",
        server.heard()
    );
    // The server hears the host that was judged, whatever the header said.
    let ran = place
        .run(&get(&format!("http://localhost:{port}/"), "evil.test"))
        .await;
    assert!(ran.stdout.contains("hello"), "{ran:?}");
    assert!(!server.heard().contains("evil.test"), "{}", server.heard());
    let tunnel = format!(
        "CONNECT localhost:{port} HTTP/1.1\r\nHost: x\r\n\r\nGET /tunnelled HTTP/1.1\r\n\r\n"
    );
    let ran = place.run(&by_proxy(&tunnel)).await;
    assert!(
        ran.stdout.contains("200 OK") && ran.stdout.contains("hello"),
        "{ran:?}"
    );
    // SOCKS, by name.
    let socks = format!(
        "exec 3<>/dev/tcp/127.0.0.1/1080; printf '\\5\\1\\0\\5\\1\\0\\3\\11localhost\\x{:02x}\\x{:02x}' >&3; \
         printf 'GET /socks HTTP/1.1\\r\\n\\r\\n' >&3; timeout 20 cat <&3 | tr -d '\\0'",
        port >> 8,
        port & 0xff
    );
    let ran = place.run(&socks).await;
    assert!(ran.stdout.contains("hello"), "{ran:?}");
    assert!(server.heard().contains("GET /tunnelled") && server.heard().contains("GET /socks"));

    let before = server.heard();
    for (request, reason) in [
        (
            get(&format!("http://127.0.0.1:{port}/"), "localhost"),
            "127.0.0.1",
        ),
        (get("http://denied.test/", "localhost"), "denied.test"),
        (
            get(&format!("http://localhost.evil.test:{port}/"), "localhost"),
            "localhost.evil.test",
        ),
        (
            get(&format!("http://localhost:{}/", port.wrapping_add(1)), "x"),
            "denied domains",
        ),
        (get(&format!("http://[::1]:{port}/"), "localhost"), "[::1]"),
        (
            get(&format!("http://2130706433:{port}/"), "localhost"),
            "127.0.0.1",
        ),
        (get("http://user:pass@localhost/", "localhost"), "password"),
        (
            by_proxy(&format!(
                "CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: localhost\r\n\r\n"
            )),
            "127.0.0.1",
        ),
        (
            by_proxy("CONNECT evil.test:443 HTTP/1.1\r\nHost: localhost\r\n\r\n"),
            "evil.test:443",
        ),
    ] {
        let ran = place.run(&request).await;
        assert!(!ran.stdout.contains("hello"), "{request}: {ran:?}");
        let told = ran
            .stderr
            .split("<sandbox_violations>")
            .nth(1)
            .unwrap_or_default();
        assert!(
            told.contains("network: ") && told.contains(reason),
            "{request}: {ran:?}"
        );
    }
    assert_eq!(server.heard(), before);
}

/// One connection may carry several requests: none is sent on because one before it was.
#[tokio::test]
async fn a_second_request_on_one_connection_is_not_sent_on_unjudged() {
    let server = Server::saying("hello");
    let port = server.port();
    let Some(place) = Place::new(json!({"network": {"allowedDomains": ["localhost"]}})) else {
        return;
    };
    let two = format!(
        "GET http://localhost:{port}/one HTTP/1.1\r\nHost: x\r\n\r\nGET http://127.0.0.1:{port}/two HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    );
    let ran = place.run(&by_proxy(&two)).await;
    // The server ends the connection behind its answer, so the proxy may refuse the second request or never read it.
    assert!(ran.stdout.contains("hello"), "{ran:?}");
    assert!(
        server.heard().contains("/one") && !server.heard().contains("/two"),
        "{}",
        server.heard()
    );
}

#[tokio::test]
async fn a_redirection_to_another_host_is_judged_as_that_host() {
    let inner = Server::saying("reached");
    let outer = Server::start(format!(
        "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{}/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        inner.port()
    ));
    let Some(place) = Place::new(json!({"network": {"allowedDomains": ["localhost"]}})) else {
        return;
    };
    // The addresses of this machine are not asked of a proxy unless that is said.
    let ran = place
        .run(&format!(
            "NO_PROXY= no_proxy= curl -sL --max-time 20 http://localhost:{}/",
            outer.port()
        ))
        .await;
    assert!(!ran.stdout.contains("reached"), "{ran:?}");
    assert_eq!(inner.heard(), "");
}

/// With every name allowed, an address that is not public stays closed: by itself, and behind a name.
#[tokio::test]
async fn a_name_that_leads_to_this_machine_is_refused() {
    let server = Server::saying("reached");
    let port = server.port();
    let Some(place) = Place::new(json!({"network": {"allowedDomains": ["*"]}})) else {
        return;
    };
    for host in [
        "localhost",
        "127.0.0.1",
        "0.0.0.0",
        "0x7f.1",
        "[::ffff:127.0.0.1]",
        "169.254.169.254",
    ] {
        let ran = place
            .run(&get(&format!("http://{host}:{port}/"), "x"))
            .await;
        assert!(
            !ran.stdout.contains("reached") && ran.stdout.contains("403"),
            "{host}: {ran:?}"
        );
    }
    assert_eq!(server.heard(), "");
}

#[tokio::test]
async fn a_proxy_of_the_persons_own_decides_itself() {
    let (http, socks) = (Server::saying("own http"), Server::saying("own socks"));
    let Some(place) = Place::new(
        json!({"network": {"httpProxyPort": http.port(), "socksProxyPort": socks.port()}}),
    ) else {
        return;
    };
    let ran = place.run(&get("http://anything.test/", "x")).await;
    assert!(ran.stdout.contains("own http"), "{ran:?}");
    assert!(
        http.heard()
            .starts_with("GET http://anything.test/ HTTP/1.1"),
        "{}",
        http.heard()
    );
    let ran = place
        .run("exec 3<>/dev/tcp/127.0.0.1/1080; printf hello >&3; timeout 20 cat <&3")
        .await;
    assert!(
        ran.stdout.contains("own socks") && socks.heard() == "hello",
        "{ran:?}"
    );
}

/// Programs are told of the proxies by the variables they look for.
#[tokio::test]
async fn programs_find_the_proxies() {
    let server = Server::saying("found");
    let port = server.port();
    let Some(place) = Place::new(json!({"network": {"allowedDomains": ["localhost"]}})) else {
        return;
    };
    let ran = place.run("env | grep -i _proxy= | sort").await;
    for name in [
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
    ] {
        assert!(ran.stdout.contains(&format!("{name}=")), "{name}: {ran:?}");
    }
    let ran = place
        .run(&format!(
            "NO_PROXY= no_proxy= curl -s --max-time 20 http://localhost:{port}/"
        ))
        .await;
    assert!(
        ran.stdout == "found" || ran.stderr.contains("not found"),
        "{ran:?}"
    );
}

#[tokio::test]
async fn what_waits_for_connections_needs_the_setting_and_is_reached_within_only() {
    let serve = "perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(LocalAddr => \"127.0.0.1\", LocalPort => 4321, \
                 Listen => 1, ReuseAddr => 1) or die \"refused: $!\\n\"; print \"listening\\n\"; $| = 1; \
                 $c = $s->accept; print $c \"hello\"; close $c'";
    let Some(place) = Place::new(json!({})) else {
        return;
    };
    let ran = place.run(serve).await;
    assert!(ran.stderr.contains("refused"), "{ran:?}");
    let Some(place) = Place::new(json!({"network": {"allowLocalBinding": true}})) else {
        return;
    };
    let both = format!(
        "{serve} & for i in $(seq 500); do exec 3<>/dev/tcp/127.0.0.1/4321 && break; sleep 0.02; done 2>/dev/null; cat <&3; wait"
    );
    let ran = place.run(&both).await;
    assert!(ran.stdout.contains("hello"), "{ran:?}");
    // Another command of the same sandbox reaches what still runs; this machine does not.
    let bash = place.bash();
    let call = place.call(&format!("{serve}; echo done > ended"));
    let serving = tokio::spawn(async move {
        bash.call(&call, windlass::core::host::CancelSignal::new())
            .await
    });
    let reach = "for i in $(seq 500); do exec 3<>/dev/tcp/127.0.0.1/4321 && break; sleep 0.02; done 2>/dev/null; cat <&3";
    let ran = place.run(reach).await;
    assert!(ran.stdout.contains("hello"), "{ran:?}");
    assert!(std::net::TcpStream::connect("127.0.0.1:4321").is_err());
    serving.await.unwrap();
}
