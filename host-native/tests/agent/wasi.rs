//! WASI for components: the files that a call was granted, and nothing else behind it.

use std::fs;

use crate::wasi_guest::{
    BAD_DESCRIPTOR, CREATE, DONE, EXCLUSIVE, EXIST, Ground, Guest, LOOP, NO_ENTRY, NOT_DIRECTORY,
    NOT_PERMITTED, READ, READ_ONLY, TOO_LARGE, TRUNCATE, WRITE,
};

#[test]
fn card_5_nothing_of_wasi_changes_what_may_only_be_read() {
    let ground = Ground::new();
    Guest::default()
        .open(0, "note.txt", TRUNCATE, READ)
        .open(0, "note.txt", TRUNCATE, READ | WRITE)
        .open(0, "note.txt", 0, WRITE)
        .open(0, "new.txt", CREATE, WRITE)
        .open(0, "new.txt", CREATE | EXCLUSIVE, READ)
        .at("$unlink", 0, "note.txt")
        .at("$make", 0, "new")
        .rename((0, "note.txt"), (1, "moved.txt"))
        .rename((1, "note.txt"), (0, "note.txt"))
        .answers(&ground, &[READ_ONLY; 9]);
    // What was opened for reading is not written through its handle.
    Guest::default()
        .open(0, "note.txt", 0, READ)
        .write("gone", 0)
        .set_size(0)
        .then("(call $append (local.get $file) (i32.const 2048)) (call $note (i32.const 4))")
        .answers(
            &ground,
            &[DONE, BAD_DESCRIPTOR, BAD_DESCRIPTOR, BAD_DESCRIPTOR],
        );
    assert_eq!(ground.read("read/note.txt"), "read");
    assert_eq!(ground.read("write/note.txt"), "write");
    assert_eq!(fs::read_dir(ground.path("read")).unwrap().count(), 1);
    assert!(!ground.path("write/moved.txt").exists());
}

#[test]
fn card_5_what_was_not_granted_is_not_there_for_wasi_either() {
    let ground = Ground::new();
    let outside = ground.path("outside/note.txt").display().to_string();
    let mut guest = Guest::default();
    let paths = [
        "../outside/note.txt",
        "a/../../outside/note.txt",
        "/etc/passwd",
        &outside,
        "..",
        "closed.key",
    ];
    for path in paths {
        guest = guest.open(1, path, 0, READ).at("$unlink", 1, path);
    }
    guest = guest.open(1, "closed.key", CREATE, WRITE);
    guest.answers(&ground, &[NO_ENTRY; 13]);
    assert_eq!(ground.read("write/closed.key"), "closed");
}

#[cfg(unix)]
#[test]
fn card_5_no_link_leads_wasi_out_with_a_slash_at_its_end_or_without() {
    use std::os::unix::fs::symlink;
    let ground = Ground::new();
    symlink(ground.path("outside"), ground.path("write/folder")).unwrap();
    symlink("../outside/note.txt", ground.path("write/file")).unwrap();
    symlink("note.txt", ground.path("write/own")).unwrap();
    let mut guest = Guest::default();
    for path in [
        "folder",
        "folder/",
        "folder/.",
        "folder/note.txt",
        "file",
        "file/",
    ] {
        guest = guest.open(1, path, 0, READ);
    }
    guest = guest
        .open(1, "file", CREATE, WRITE)
        .open(1, "folder/new.txt", CREATE, WRITE);
    guest.answers(&ground, &[NO_ENTRY; 8]);
    Guest::default()
        .open(1, "own", 0, READ)
        .open(1, "own/", 0, READ)
        .open(1, "own", CREATE | EXCLUSIVE, WRITE)
        .answers(&ground, &[DONE, NOT_DIRECTORY, EXIST]);
    // Not followed: a link is none of the things that can be opened. And nobody makes one.
    let mut guest = Guest::default();
    let (own, new) = (guest.text("own"), guest.text("new"));
    guest
        .then(&format!(
            "(call $open_at (call $root (i32.const 1)) (i32.const 0) {own} (i32.const 0) (i32.const 1) (i32.const 2048))
            (call $note (i32.const 4))
            (call $link (call $root (i32.const 1)) {own} {new} (i32.const 2048)) (call $note (i32.const 1))"
        ))
        .answers(&ground, &[LOOP, NOT_PERMITTED]);
    assert_eq!(ground.read("outside/note.txt"), "outside");
    assert_eq!(fs::read_dir(ground.path("outside")).unwrap().count(), 1);
}

#[test]
fn card_5_no_number_of_a_guest_is_memory_of_the_host() {
    let ground = Ground::new();
    Guest::default()
        .open(1, "note.txt", 0, WRITE)
        .set_size(u64::MAX)
        .set_size(1 << 40)
        .write("x", 1 << 40)
        .write("x", u64::MAX)
        .answers(&ground, &[DONE, TOO_LARGE, TOO_LARGE, TOO_LARGE, TOO_LARGE]);
    assert_eq!(ground.read("write/note.txt"), "write");
    let random = Guest::default().then("(call $random (i64.const 1099511627776) (i32.const 2048))");
    let zeroes = Guest::default()
        .open(1, "note.txt", 0, WRITE)
        .then("(call $append (local.get $file) (i32.const 2048)) (local.set $stream (i32.load (i32.const 2052)))")
        .then("(call $zeroes (local.get $stream) (i64.const -1) (i32.const 2048))");
    let handles = Guest::default().then("(loop $on (drop (call $root (i32.const 0))) (br $on))");
    for (guest, expected) in [
        (random, "random bytes"),
        (zeroes, "to a stream at once"),
        (handles, "more handles"),
    ] {
        let result = guest.run(&ground);
        let text = format!("{:?}", result.content);
        assert!(result.is_error && text.contains(expected), "{text}");
    }
}

#[test]
fn card_5_what_wasi_wrote_is_there_whole_when_it_is_synced_looked_at_or_the_call_ends() {
    let ground = Ground::new();
    let writes = |guest: Guest| {
        guest
            .open(1, "new.txt", CREATE, WRITE)
            .write("all of it", 0)
    };
    writes(Guest::default()).answers(&ground, &[DONE; 2]);
    assert_eq!(ground.read("write/new.txt"), "all of it");

    // What a call that fails had not closed or synced is not there.
    let failed = Guest::default()
        .open(1, "new.txt", TRUNCATE, WRITE)
        .write("synced", 0)
        .then("(call $sync (local.get $file) (i32.const 2048))")
        .write("not this", 0)
        .then("(call $exit (i32.const 0))")
        .run(&ground);
    assert!(
        failed.is_error && format!("{failed:?}").contains("exit"),
        "{failed:?}"
    );
    assert_eq!(ground.read("write/new.txt"), "synced");

    let mut guest = Guest::default().open(1, "new.txt", 0, WRITE);
    let more = guest.text(" and more");
    guest
        .then("(call $append (local.get $file) (i32.const 2048)) (local.set $stream (i32.load (i32.const 2052)))")
        .then(&format!("(call $put (local.get $stream) {more} (i32.const 2048)) (call $note (i32.const 4))"))
        .rename((1, "new.txt"), (1, "moved.txt"))
        .at("$unlink", 1, "note.txt")
        .answers(&ground, &[DONE; 4]);
    assert_eq!(ground.read("write/moved.txt"), "synced and more");
    assert!(!ground.path("write/new.txt").exists() && !ground.path("write/note.txt").exists());
}

#[test]
fn card_5_the_clock_of_wasi_stands_still_and_the_environment_is_empty() {
    let ground = Ground::new();
    Guest::default()
        .then(
            "(local.set $first (call $now))
            (loop $on
                (local.set $file (i32.add (local.get $file) (i32.const 1)))
                (br_if $on (i32.lt_u (local.get $file) (i32.const 1000000))))
            (call $say (i32.add (i32.const 48) (i64.ne (local.get $first) (call $now))))
            (call $environment (i32.const 2048))
            (call $say (i32.add (i32.const 48) (i32.load (i32.const 2052))))",
        )
        .answers(&ground, &['0', '0']);
}
