//! Files that the SDK asks about and that are none, or never end.

use std::{path::Path, process::Command};

use serde_json::{Value, json};

use crate::support::{Sdk, says};

fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

/// The words in which a request is refused.
async fn refused(sdk: &mut Sdk, request: Value) -> String {
    let reply = sdk.request(request).await;
    assert_eq!(reply["subtype"], "error", "{reply}");
    reply["error"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn what_is_no_file_is_told_and_holds_nothing_up() {
    let mut sdk = Sdk::start(&[], json!([says("Here.")]));
    sdk.initialize(json!({})).await;
    let at = |name: &str| sdk.folder.path().join(name);
    pipe(&at("pipe"));
    std::os::unix::fs::symlink("/dev/zero", at("endless")).unwrap();
    for path in ["pipe", "endless", "/dev/zero"] {
        let read = json!({"subtype": "read_file", "path": path});
        // With a time at which it counts as it is now, and with one at which it has changed since.
        let seed = |mtime: i64| json!({"subtype": "seed_read_state", "path": path, "mtime": mtime});
        for request in [read, seed(9_000_000_000_000)] {
            let error = refused(&mut sdk, request).await;
            assert!(error.starts_with(path), "{error}");
            assert!(error.contains("a pipe, a socket or a device"), "{error}");
        }
        sdk.request(seed(0)).await;
    }
    let error = refused(&mut sdk, json!({"subtype": "read_file", "path": "."})).await;
    assert!(error.contains("a folder"), "{error}");
    sdk.prompt("go").await;
    assert_eq!(sdk.first("result").await["result"], "Here.");
}

#[tokio::test]
async fn a_file_without_end_does_not_count_as_read() {
    let mut sdk = Sdk::start(&[], json!([says("Here.")]));
    sdk.initialize(json!({})).await;
    let file = std::fs::File::create(sdk.folder.path().join("long")).unwrap();
    // Nothing of it is on the disk.
    file.set_len(1 << 40).unwrap();
    let seed =
        json!({"subtype": "seed_read_state", "path": "long", "mtime": 9_000_000_000_000_i64});
    let error = refused(&mut sdk, seed).await;
    assert!(error.contains("larger than"), "{error}");
}
