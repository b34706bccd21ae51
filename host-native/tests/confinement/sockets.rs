//! Sockets in the file system, behind which services of this machine stand.

use std::{
    io::Write as _,
    os::unix::net::{UnixDatagram, UnixListener},
    path::Path,
    thread,
};

use serde_json::json;

use crate::support::Place;

/// A service that says hello to whoever connects.
fn service(path: &Path) {
    let listener = UnixListener::bind(path).unwrap();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let _ = connection.unwrap().write_all(b"hello from the service");
        }
    });
}

fn connect(path: &str) -> String {
    format!(
        "perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die \"no socket: $!\\n\"; \
         connect($s, pack_sockaddr_un(\"{path}\")) or die \"no connection: $!\\n\"; print <$s>'"
    )
}

#[tokio::test]
async fn a_service_behind_a_socket_is_not_reached() {
    let Some(place) = Place::new(json!({})) else {
        return;
    };
    service(&place.outside.join("service"));
    service(&place.inside.join("own"));
    let (outside, inside) = (place.outside.display(), place.inside.display());
    for attack in [
        connect(&format!("{outside}/service")),
        connect(&format!("{inside}/own")),
        connect("own"),
        format!("ln -s {outside}/service here; {}", connect("here")),
        "python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect(\"own\"); print(s.recv(99))'".to_owned(),
        "curl -s --unix-socket own http://localhost/".to_owned(),
        "nc -U own < /dev/null".to_owned(),
    ] {
        let ran = place.run(&attack).await;
        assert!(!ran.stdout.contains("hello"), "{attack}: {ran:?}");
    }
}

/// A pair of sockets that keeps messages apart could be turned on any other.
#[tokio::test]
async fn a_pair_of_sockets_is_no_way_to_a_service() {
    let Some(place) = Place::new(json!({})) else {
        return;
    };
    let service = UnixDatagram::bind(place.inside.join("log")).unwrap();
    service.set_nonblocking(true).unwrap();
    let ran = place
        .run(
            "perl -MSocket -e 'for my $kind (SOCK_DGRAM, SOCK_STREAM, SOCK_SEQPACKET) { \
             socketpair(my $a, my $b, AF_UNIX, $kind, 0) or next; \
             send($a, \"evil\", 0, pack_sockaddr_un(\"log\")); connect($a, pack_sockaddr_un(\"log\")); send($a, \"evil\", 0); }'",
        )
        .await;
    let mut buffer = [0; 16];
    assert!(service.recv(&mut buffer).is_err(), "{ran:?}");
}

#[tokio::test]
async fn only_the_sockets_that_the_settings_name_are_reached() {
    let Some(place) = Place::with(
        |_, outside| json!({"network": {"allowUnixSockets": [format!("{outside}/service")]}}),
    ) else {
        return;
    };
    service(&place.outside.join("service"));
    service(&place.outside.join("other"));
    let outside = place.outside.display();
    let ran = place.run(&connect(&format!("{outside}/service"))).await;
    assert_eq!(ran.stdout, "hello from the service", "{ran:?}");
    let ran = place.run(&connect(&format!("{outside}/other"))).await;
    assert!(ran.stderr.contains("no connection"), "{ran:?}");
}

#[tokio::test]
async fn all_sockets_are_reached_where_the_settings_say_so() {
    let Some(place) = Place::new(json!({"network": {"allowAllUnixSockets": true}})) else {
        return;
    };
    service(&place.outside.join("service"));
    let ran = place
        .run(&connect(&format!("{}/service", place.outside.display())))
        .await;
    assert_eq!(ran.stdout, "hello from the service", "{ran:?}");
}
