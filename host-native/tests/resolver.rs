//! The resolver, attacked: every way out of a directory tree that advisories of other sandboxes name, and a few more.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};
use tempfile::TempDir;
use windlass::files::{EntryKind, Files, FsError, Reach, WriteOptions, resolve};
use windlass_core::tool::{Access, DenyPattern, FsGrant, GrantRoot};

/// A temporary directory with `w` (granted) and `outside` (not).
struct Ground {
    dir: TempDir,
}

impl Ground {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let ground = Self { dir };
        ground.put("w/ok", "inside");
        ground.put("w/sub/deep", "deep");
        ground.put("outside/secret", "SECRET");
        ground
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(relative)
    }

    fn text(&self, relative: &str) -> String {
        self.path(relative).to_str().unwrap().to_owned()
    }

    fn put(&self, relative: &str, content: &str) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn link(&self, target: impl AsRef<Path>, at: &str) {
        symlink(target, self.path(at)).unwrap();
    }

    fn content(&self, relative: &str) -> String {
        fs::read_to_string(self.path(relative)).unwrap()
    }

    fn grant(&self, roots: &[(&str, Access)], deny: &[(&str, Access)]) -> FsGrant {
        FsGrant {
            cwd: self.text("w"),
            roots: roots
                .iter()
                .map(|&(path, access)| GrantRoot {
                    path: self.text(path),
                    access,
                })
                .collect(),
            deny: deny
                .iter()
                .map(|&(pattern, access)| DenyPattern {
                    pattern: self.text(pattern),
                    access,
                })
                .collect(),
        }
    }

    fn reach(&self, roots: &[(&str, Access)], deny: &[(&str, Access)]) -> Reach {
        Files::default().reach(&self.grant(roots, deny)).unwrap()
    }

    fn writable(&self) -> Reach {
        self.reach(&[("w", Access::Write)], &[])
    }
}

/// One automaton of so many would be larger than the library builds.
#[test]
fn perm_3_twenty_thousand_deny_patterns_hold() {
    let ground = Ground::new();
    for name in ["open", "a19999", "b19999x"] {
        ground.put(&format!("w/{name}"), name);
    }
    let mut grant = ground.grant(&[("w", Access::Write)], &[]);
    grant.deny = (0..20_000)
        .map(|number| DenyPattern {
            pattern: match number % 2 {
                0 => ground.text(&format!("w/b{}*", number + 1)),
                _ => ground.text(&format!("w/a{number}")),
            },
            access: Access::Read,
        })
        .collect();
    let mut reach = Files::default().reach(&grant).unwrap();
    assert_eq!(read(&mut reach, "open").unwrap(), "open");
    for closed in ["a19999", "b19999x"] {
        assert!(read(&mut reach, closed).is_err(), "{closed}");
    }
}

fn read(reach: &mut Reach, path: &str) -> Result<String, FsError> {
    let bytes = reach.read(0, path, 0, 1 << 20)?;
    Ok(String::from_utf8(bytes).unwrap())
}

fn write(reach: &mut Reach, path: &str) -> Result<(), FsError> {
    reach.write(0, path, b"EVIL", &WriteOptions::default())
}

fn create_new(reach: &mut Reach, path: &str) -> Result<(), FsError> {
    let options = WriteOptions {
        create_new: true,
        ..WriteOptions::default()
    };
    reach.write(0, path, b"EVIL", &options)
}

fn names(reach: &mut Reach, path: &str) -> Result<Vec<String>, FsError> {
    let page = reach.list(0, path, None, false)?;
    Ok(page.entries.into_iter().map(|e| e.name).collect())
}

#[test]
fn card_3_what_was_granted_can_be_used() {
    let ground = Ground::new();
    let mut reach = ground.writable();
    assert_eq!(read(&mut reach, "ok").unwrap(), "inside");
    assert_eq!(read(&mut reach, "./sub//deep").unwrap(), "deep");
    assert_eq!(names(&mut reach, "").unwrap(), ["ok", "sub"]);
    assert_eq!(names(&mut reach, ".").unwrap(), ["ok", "sub"]);
    reach.create_directory(0, "new/").unwrap();
    write(&mut reach, "new/file").unwrap();
    assert_eq!(ground.content("w/new/file"), "EVIL");
    reach.remove(0, "new/file").unwrap();
    reach.remove(0, "new").unwrap();
    assert_eq!(names(&mut reach, "").unwrap(), ["ok", "sub"]);
}

#[test]
fn card_3_no_path_and_no_link_leads_out_of_a_root() {
    let ground = Ground::new();
    ground.link("../outside/secret", "w/link");
    ground.link(ground.path("outside/secret"), "w/absolute");
    ground.link("../outside", "w/dir");
    ground.link(ground.path("outside"), "w/absolute-dir");
    ground.link("..", "w/up");
    ground.link("sub/../../outside/secret", "w/winding");
    ground.link("/", "w/slash");
    ground.link("link", "w/link-to-link");
    ground.link("../outside/new", "w/dangling");
    ground.link("../outside/new/", "w/dangling-slash");
    ground.link("/proc/self/root/etc/passwd", "w/magic");
    ground.link("circle", "w/circle");
    let outside = ground.text("outside/secret");
    let paths = [
        "..",
        "../outside/secret",
        "sub/../../outside/secret",
        "./../outside/secret",
        "sub/..",
        "/etc/passwd",
        &outside,
        "link",
        "link/",
        "link/.",
        "sub/../link/",
        "link-to-link",
        "absolute",
        "absolute/",
        "dir/secret",
        "dir/",
        "dir/.",
        "dir",
        "absolute-dir/secret",
        "up/outside/secret",
        "winding",
        "slash/etc/passwd",
        "dangling",
        "dangling/",
        "dangling/.",
        "dangling/x",
        "dangling-slash",
        "dangling-slash/x",
        "magic",
        "circle",
        "circle/x",
    ];
    for path in paths {
        let mut reach = ground.writable();
        assert!(read(&mut reach, path).is_err(), "read {path}");
        assert!(names(&mut reach, path).is_err(), "list {path}");
        assert!(reach.stat(0, path).is_err(), "stat {path}");
        assert!(write(&mut reach, path).is_err(), "write {path}");
        assert!(create_new(&mut reach, path).is_err(), "create {path}");
        let parents = WriteOptions {
            create_parents: true,
            ..WriteOptions::default()
        };
        let below = format!("{path}/made/here");
        assert!(
            reach.write(0, &below, b"EVIL", &parents).is_err(),
            "write with parents {below}"
        );
        assert!(reach.create_directory(0, path).is_err(), "make {path}");
    }
    assert_eq!(ground.content("outside/secret"), "SECRET");
    let outside: Vec<_> = fs::read_dir(ground.path("outside")).unwrap().collect();
    assert_eq!(outside.len(), 1, "nothing was made outside");
}

#[test]
fn card_3_what_leads_out_looks_like_what_is_missing() {
    let ground = Ground::new();
    ground.link("../outside/secret", "w/link");
    let mut reach = ground.reach(&[("w", Access::Read)], &[("w/ok", Access::Read)]);
    for path in ["link", "ok", "missing", "../outside/secret", "/etc/passwd"] {
        assert_eq!(read(&mut reach, path), Err(FsError::NotFound), "{path}");
    }
    let told: Vec<_> = reach.refusals().iter().map(|r| r.reason).collect();
    assert_eq!(
        told,
        ["its link leads out of the tree", "a deny rule closes it"],
        "the host knows the difference"
    );
}

#[test]
fn card_3_removing_a_link_leaves_what_it_points_to() {
    let ground = Ground::new();
    ground.link("../outside/secret", "w/link");
    ground.link("../outside", "w/dir");
    let mut reach = ground.writable();
    reach.remove(0, "link").unwrap();
    assert_eq!(reach.remove(0, "dir/"), Err(FsError::NotDirectory));
    reach.remove(0, "dir").unwrap();
    assert_eq!(ground.content("outside/secret"), "SECRET");
}

#[test]
fn card_3_links_inside_a_root_are_followed() {
    let ground = Ground::new();
    ground.link("sub/deep", "w/link");
    ground.link("../ok", "w/sub/up");
    ground.link(ground.path("w/sub"), "w/absolute-dir");
    let mut reach = ground.writable();
    assert_eq!(read(&mut reach, "link").unwrap(), "deep");
    assert_eq!(read(&mut reach, "sub/up").unwrap(), "inside");
    assert_eq!(read(&mut reach, "absolute-dir/up").unwrap(), "inside");
    // Writing goes to the file that the link names; the link stays.
    write(&mut reach, "link").unwrap();
    assert_eq!(ground.content("w/sub/deep"), "EVIL");
    assert!(ground.path("w/link").is_symlink());
}

#[test]
fn card_3_a_read_only_root_refuses_every_form_of_writing() {
    let ground = Ground::new();
    ground.link("ok", "w/link");
    fs::create_dir(ground.path("w/empty")).unwrap();
    let mut reach = ground.reach(&[("w", Access::Read)], &[]);
    for path in ["ok", "link", "new", "sub/new", "sub/deep"] {
        assert_eq!(write(&mut reach, path), Err(FsError::ReadOnly), "{path}");
        let empty = reach.write(0, path, b"", &WriteOptions::default());
        assert_eq!(empty, Err(FsError::ReadOnly), "truncate {path}");
        assert!(create_new(&mut reach, path).is_err(), "create {path}");
        assert!(reach.create_directory(0, path).is_err(), "make {path}");
    }
    for path in ["ok", "link", "empty", "sub/deep"] {
        assert_eq!(reach.remove(0, path), Err(FsError::ReadOnly), "{path}");
    }
    let parents = WriteOptions {
        create_parents: true,
        ..WriteOptions::default()
    };
    assert!(reach.write(0, "a/b/c", b"x", &parents).is_err());
    assert_eq!(
        names(&mut reach, "").unwrap(),
        ["empty", "link", "ok", "sub"]
    );
    assert_eq!(ground.content("w/ok"), "inside");
}

#[test]
fn card_3_a_read_only_root_stays_so_beside_a_writable_one() {
    let ground = Ground::new();
    ground.put("rw/file", "mine");
    ground.link(ground.path("w/ok"), "rw/across");
    ground.link("../w", "rw/across-dir");
    let mut reach = ground.reach(&[("w", Access::Read), ("rw", Access::Write)], &[]);
    let roots: Vec<_> = reach.roots().map(|r| (r.path, r.access)).collect();
    assert_eq!(
        roots,
        [
            (ground.text("w"), Access::Read),
            (ground.text("rw"), Access::Write)
        ]
    );
    let options = WriteOptions::default();
    assert_eq!(reach.write(0, "ok", b"x", &options), Err(FsError::ReadOnly));
    for path in ["across", "across-dir/ok", "across-dir/new", "../w/ok"] {
        assert!(reach.write(1, path, b"x", &options).is_err(), "{path}");
    }
    reach.write(1, "file", b"yours", &options).unwrap();
    assert_eq!(ground.content("w/ok"), "inside");
    assert!(!ground.path("w/new").exists());
    assert_eq!(reach.write(2, "ok", b"x", &options), Err(FsError::NotFound));
}

#[test]
fn card_3_a_writable_root_inside_a_read_only_one_is_the_only_place_to_write() {
    let ground = Ground::new();
    let mut reach = ground.reach(&[("w", Access::Read), ("w/sub", Access::Write)], &[]);
    let options = WriteOptions::default();
    for tree in [0, 1] {
        assert_eq!(reach.remove(tree, ""), Err(FsError::Invalid), "tree {tree}");
    }
    assert_eq!(reach.write(0, "ok", b"x", &options), Err(FsError::ReadOnly));
    assert_eq!(reach.remove(0, "ok"), Err(FsError::ReadOnly));
    reach.write(0, "sub/deep", b"x", &options).unwrap();
    reach.write(1, "deep", b"y", &options).unwrap();
    assert_eq!(ground.content("w/sub/deep"), "y");
}

#[test]
fn card_3_denied_entries_are_hidden_and_unreachable() {
    let ground = Ground::new();
    ground.put("w/.env", "KEY=1");
    ground.put("w/sub/.env", "KEY=2");
    ground.put("w/secrets/deep/key", "KEY=3");
    ground.link(".env", "w/harmless");
    ground.link("secrets", "w/open");
    ground.link("../secrets/deep/key", "w/sub/winding");
    let deny = [("w/**/.env", Access::Read), ("w/secrets", Access::Read)];
    let mut reach = ground.reach(&[("w", Access::Write)], &deny);
    let hidden = [
        ".env",
        "sub/.env",
        "harmless",
        "secrets",
        "secrets/deep/key",
        "open/deep/key",
        "sub/winding",
        "./.env",
        ".env/",
    ];
    for path in hidden {
        assert_eq!(read(&mut reach, path), Err(FsError::NotFound), "{path}");
        assert!(reach.stat(0, path).is_err(), "stat {path}");
        assert!(write(&mut reach, path).is_err(), "write {path}");
    }
    assert_eq!(reach.remove(0, ".env"), Err(FsError::NotFound));
    assert_eq!(reach.create_directory(0, "x/.env"), Err(FsError::NotFound));
    assert!(create_new(&mut reach, "sub/.env").is_err());
    assert_eq!(
        names(&mut reach, "").unwrap(),
        ["harmless", "ok", "open", "sub"]
    );
    assert_eq!(names(&mut reach, "sub").unwrap(), ["deep", "winding"]);
    assert!(names(&mut reach, "open").is_err());
    assert_eq!(ground.content("w/.env"), "KEY=1");
}

#[test]
fn card_3_a_denied_write_leaves_reading() {
    let ground = Ground::new();
    ground.link("sub/deep", "w/link");
    let deny = [("w/sub", Access::Write), ("w/*.lock", Access::Write)];
    let mut reach = ground.reach(&[("w", Access::Write)], &deny);
    assert_eq!(read(&mut reach, "sub/deep").unwrap(), "deep");
    for path in ["sub/deep", "sub/new", "link", "Cargo.lock"] {
        assert_eq!(write(&mut reach, path), Err(FsError::ReadOnly), "{path}");
    }
    assert_eq!(reach.remove(0, "sub/deep"), Err(FsError::ReadOnly));
    assert_eq!(reach.create_directory(0, "sub/x"), Err(FsError::ReadOnly));
    write(&mut reach, "ok").unwrap();
}

#[test]
fn card_3_a_denied_directory_stays_closed_when_a_root_lies_inside_it() {
    let ground = Ground::new();
    let inside = [("w/sub", Access::Write)];
    let mut hidden = ground.reach(&inside, &[("w", Access::Read)]);
    assert_eq!(hidden.roots().len(), 0);
    assert_eq!(read(&mut hidden, "deep"), Err(FsError::NotFound));
    let mut frozen = ground.reach(&inside, &[("w", Access::Write)]);
    assert_eq!(read(&mut frozen, "deep").unwrap(), "deep");
    assert_eq!(write(&mut frozen, "deep"), Err(FsError::ReadOnly));
}

#[test]
fn card_3_a_pattern_through_a_link_closes_the_real_place_too() {
    let ground = Ground::new();
    ground.put("w/real/key", "KEY");
    ground.link("real", "w/alias");
    let deny = [("w/alias/**", Access::Read)];
    let mut reach = ground.reach(&[("w", Access::Read)], &deny);
    assert_eq!(read(&mut reach, "alias/key"), Err(FsError::NotFound));
    assert_eq!(read(&mut reach, "real/key"), Err(FsError::NotFound));
}

#[test]
fn card_3_a_root_that_leads_through_a_link_is_not_what_was_judged() {
    let ground = Ground::new();
    ground.link("w", "spelled");
    ground.link("../outside", "w/way");
    ground.link("../outside/secret", "w/file");
    for root in ["spelled", "spelled/ok", "w/way", "w/way/secret", "w/file"] {
        let mut reach = ground.reach(&[(root, Access::Write)], &[]);
        assert_eq!(reach.roots().len(), 0, "{root}");
        let told: Vec<_> = reach.refusals().iter().map(|r| r.reason).collect();
        let reason = "a link stands on the way that was not there when it was judged";
        assert_eq!(told, [reason], "{root}");
    }
}

#[test]
fn card_3_a_root_is_granted_however_its_slashes_are_written() {
    let ground = Ground::new();
    for root in ["w/", "w//", "./w", "w/."] {
        let mut reach = ground.reach(&[(root, Access::Write)], &[]);
        assert_eq!(read(&mut reach, "ok").unwrap(), "inside", "{root}");
        write(&mut reach, "sub/deep").unwrap();
    }
}

#[test]
fn card_3_what_the_host_protects_is_never_handed_out() {
    let ground = Ground::new();
    ground.put("w/.cache/native.cwasm", "code");
    ground.link(".cache", "w/way");
    let files = Files::new([ground.path("w/.cache")]);
    let reach = |root: &str| {
        files
            .reach(&ground.grant(&[(root, Access::Write)], &[]))
            .unwrap()
    };
    let mut around = reach("w");
    assert_eq!(names(&mut around, "").unwrap(), ["ok", "sub", "way"]);
    for path in [".cache/native.cwasm", "way/native.cwasm"] {
        assert_eq!(read(&mut around, path), Err(FsError::NotFound), "{path}");
        assert!(write(&mut around, path).is_err(), "{path}");
    }
    for root in ["w/.cache", "w/.cache/native.cwasm", "w/way"] {
        assert_eq!(reach(root).roots().len(), 0, "{root}");
    }
    assert_eq!(ground.content("w/.cache/native.cwasm"), "code");
}

#[test]
fn card_3_a_granted_file_is_alone_in_its_directory() {
    let ground = Ground::new();
    let mut reach = ground.reach(&[("outside/secret", Access::Read)], &[]);
    ground.put("outside/other", "no");
    let roots: Vec<_> = reach.roots().map(|r| r.path).collect();
    assert_eq!(roots, [ground.text("outside")]);
    assert_eq!(names(&mut reach, "").unwrap(), ["secret"]);
    assert_eq!(read(&mut reach, "secret").unwrap(), "SECRET");
    assert_eq!(read(&mut reach, "other"), Err(FsError::NotFound));
    assert_eq!(write(&mut reach, "secret"), Err(FsError::ReadOnly));
    assert!(write(&mut reach, "new").is_err());
}

#[test]
fn card_3_a_granted_file_that_does_not_exist_can_be_made_and_nothing_else() {
    let ground = Ground::new();
    let mut reach = ground.reach(&[("outside/a/b/new", Access::Write)], &[]);
    let parents = WriteOptions {
        create_parents: true,
        ..WriteOptions::default()
    };
    for path in ["other", "a", "a/b", "a/other", "a/b/other", "secret"] {
        assert!(reach.write(0, path, b"x", &parents).is_err(), "{path}");
    }
    reach.write(0, "a/b/new", b"made", &parents).unwrap();
    assert_eq!(ground.content("outside/a/b/new"), "made");
    assert_eq!(names(&mut reach, "").unwrap(), ["a"]);
    assert!(reach.remove(0, "a").is_err());
}

#[test]
fn card_3_malformed_paths_are_refused() {
    let ground = Ground::new();
    let mut reach = ground.writable();
    let long = "x".repeat(300);
    for path in ["a\0b", "ok\0", long.as_str()] {
        assert_eq!(read(&mut reach, path), Err(FsError::Invalid), "{path:?}");
        assert_eq!(write(&mut reach, path), Err(FsError::Invalid), "{path:?}");
    }
    assert_eq!(read(&mut reach, ""), Err(FsError::IsDirectory));
    assert_eq!(write(&mut reach, ""), Err(FsError::IsDirectory));
    assert_eq!(read(&mut reach, "sub"), Err(FsError::IsDirectory));
    assert_eq!(read(&mut reach, "ok/"), Err(FsError::NotDirectory));
    assert_eq!(read(&mut reach, "ok/x"), Err(FsError::NotDirectory));
    assert_eq!(names(&mut reach, "ok"), Err(FsError::NotDirectory));
}

/// Everything below a directory, as sorted relative paths.
fn tree(below: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![below.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            found.push(path.strip_prefix(below).unwrap().to_path_buf());
            if path.is_dir() {
                open.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A list of `host-browser/js/disguised-paths.js`: what the file systems of pages withstand, this one does.
fn table(name: &str) -> Vec<String> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../host-browser/js/disguised-paths.js"
    );
    let script = fs::read_to_string(path).unwrap();
    let (_, list) = script.split_once(&format!("{name} = ")).unwrap();
    let (list, _) = list.split_once("\n];").unwrap();
    serde_json::from_str(&format!("{list}]")).unwrap()
}

/// What another layer might take for `..`, for a separator or for the root is a name like any other here.
#[test]
fn card_3_no_look_alike_of_two_dots_or_of_a_slash_leads_out_of_a_root() {
    for path in &table("LOOK_ALIKES") {
        let ground = Ground::new();
        let mut reach = ground.writable();
        let leads_up = path.split('/').any(|name| name == "..");
        assert_eq!(read(&mut reach, path), Err(FsError::NotFound), "{path}");
        assert_eq!(reach.stat(0, path).err(), Some(FsError::NotFound), "{path}");
        assert_eq!(reach.remove(0, path), Err(FsError::NotFound), "{path}");
        // Made, it is what it is called, inside of the root.
        let parents = WriteOptions {
            create_parents: true,
            ..WriteOptions::default()
        };
        let before = tree(&ground.path(""));
        let made = reach.write(0, path, b"EVIL", &parents);
        if leads_up {
            assert_eq!(made, Err(FsError::NotFound), "{path}");
            assert_eq!(tree(&ground.path("")), before, "{path}");
            continue;
        }
        assert_eq!(made, Ok(()), "{path}");
        assert_eq!(read(&mut reach, path).unwrap(), "EVIL", "{path}");
        let mut expected = before;
        let whole = Path::new("w").join(path);
        let parts = whole.ancestors().filter(|part| part.starts_with("w/"));
        expected.extend(parts.map(Path::to_path_buf));
        expected.sort();
        expected.dedup();
        assert_eq!(tree(&ground.path("")), expected, "{path}");
        assert_eq!(ground.content("outside/secret"), "SECRET", "{path}");
    }
}

/// A pattern closes names as the file system has them: on Linux other letters are another file, elsewhere they are the same one.
/// No spelling reads or changes the closed file.
#[test]
fn card_3_no_spelling_of_a_closed_name_reaches_the_closed_file() {
    let others = table("SPELLINGS");
    let key = "caf\u{e9}.key";
    let decomposed = "cafe\u{301}.key";
    for there in [false, true] {
        let ground = Ground::new();
        ground.put("w/.env", "KEY=1");
        ground.put(&format!("w/{key}"), "KEY=2");
        let mut expected: Vec<String> = vec!["ok".into(), "sub".into()];
        // Two files of these names can exist where the file system tells them apart.
        let spellings = others.iter().map(String::as_str).chain([decomposed]);
        let spellings: Vec<&str> = spellings
            .filter(|name| !ground.path("w").join(name).exists())
            .collect();
        if cfg!(target_os = "linux") {
            assert_eq!(spellings.len(), others.len() + 1);
        }
        if there {
            for name in &spellings {
                ground.put(&format!("w/{name}"), "other");
            }
            expected.extend(spellings.iter().map(|name| (*name).to_owned()));
        }
        expected.sort();
        let closed = format!("w/{key}");
        let deny = [("w/**/.env", Access::Read), (closed.as_str(), Access::Read)];
        let mut reach = ground.reach(&[("w", Access::Write)], &deny);
        for name in [".env", "./.env", "sub/../.env", key] {
            assert_eq!(read(&mut reach, name), Err(FsError::NotFound), "{name}");
            assert!(write(&mut reach, name).is_err(), "{name}");
            assert_eq!(reach.remove(0, name), Err(FsError::NotFound), "{name}");
        }
        let mut listed = names(&mut reach, "").unwrap();
        listed.sort();
        assert_eq!(listed, expected);
        for name in others.iter().map(String::as_str).chain([decomposed]) {
            let found = read(&mut reach, name);
            match there && spellings.contains(&name) {
                true => assert_eq!(found.unwrap(), "other", "{name}"),
                false => assert_eq!(found, Err(FsError::NotFound), "{name}"),
            }
            // It may be made or not; what is closed stays as it is.
            let _ = write(&mut reach, name);
            let _ = reach.remove(0, name);
        }
        assert_eq!(ground.content("w/.env"), "KEY=1");
        assert_eq!(ground.content(&format!("w/{key}")), "KEY=2");
    }
}

#[test]
fn card_3_a_pipe_in_the_workspace_hangs_nothing() {
    let ground = Ground::new();
    let made = std::process::Command::new("mkfifo")
        .arg(ground.path("w/pipe"))
        .status();
    assert!(made.unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(ground.path("w/socket")).unwrap();
    let mut reach = ground.writable();
    for path in ["pipe", "socket"] {
        assert!(read(&mut reach, path).is_err(), "{path}");
        assert_eq!(write(&mut reach, path), Err(FsError::Invalid), "{path}");
        assert_eq!(reach.stat(0, path).unwrap().kind, EntryKind::Other);
    }
    assert_eq!(read(&mut reach, "pipe"), Err(FsError::Invalid));
}

#[test]
fn card_3_writes_are_whole_keep_the_mode_and_leave_nothing_behind() {
    let ground = Ground::new();
    let script = ground.path("w/ok");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o750)).unwrap();
    let before = fs::File::open(&script).unwrap();
    let mut reach = ground.writable();
    write(&mut reach, "ok").unwrap();
    let mode = fs::metadata(&script).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o750);
    // Whoever had the file open still sees the old content: it was replaced, not overwritten.
    assert_eq!(std::io::read_to_string(before).unwrap(), "inside");
    assert_eq!(names(&mut reach, "").unwrap(), ["ok", "sub"]);
}

#[test]
fn card_3_an_expected_digest_guards_against_changes() {
    let ground = Ground::new();
    let mut reach = ground.writable();
    let expecting = |content: &str| WriteOptions {
        expected_digest: Some(format!("sha256:{:x}", Sha256::digest(content))),
        ..WriteOptions::default()
    };
    let changed = Err(FsError::Changed);
    assert_eq!(reach.write(0, "ok", b"x", &expecting("other")), changed);
    assert_eq!(reach.write(0, "missing", b"x", &expecting("")), changed);
    assert_eq!(ground.content("w/ok"), "inside");
    reach.write(0, "ok", b"new", &expecting("inside")).unwrap();
    assert_eq!(ground.content("w/ok"), "new");
    assert_eq!(create_new(&mut reach, "ok"), Err(FsError::Exists));
    assert_eq!(create_new(&mut reach, "sub"), Err(FsError::Exists));
    create_new(&mut reach, "fresh").unwrap();
    assert_eq!(ground.content("w/fresh"), "EVIL");
}

#[test]
fn card_3_reading_in_parts_sees_one_content_and_sizes_are_capped() {
    let ground = Ground::new();
    ground.put("w/parts", "0123456789");
    let mut reach = ground.writable();
    assert_eq!(reach.read(0, "parts", 0, 4).unwrap(), b"0123");
    // Replaced by somebody else between two parts of one reading.
    fs::write(ground.path("w/other"), "abcdefghij").unwrap();
    fs::rename(ground.path("w/other"), ground.path("w/parts")).unwrap();
    assert_eq!(reach.read(0, "parts", 4, 4).unwrap(), b"4567");
    assert_eq!(reach.read(0, "parts", 8, 4).unwrap(), b"89");
    assert_eq!(reach.read(0, "parts", 10, 4).unwrap(), b"");
    assert_eq!(reach.read(0, "parts", 99, 4).unwrap(), b"");
    assert_eq!(reach.read(0, "parts", 0, u32::MAX).unwrap(), b"abcdefghij");
    let large = fs::File::create(ground.path("w/large")).unwrap();
    large.set_len(1 << 40).unwrap();
    assert_eq!(reach.read(0, "large", 0, u32::MAX), Err(FsError::TooLarge));
    assert_eq!(reach.read(0, "large", 1 << 39, 3).unwrap(), [0, 0, 0]);
}

#[test]
fn card_3_listings_come_sorted_in_pages() {
    let ground = Ground::new();
    for i in 0..2500 {
        ground.put(&format!("w/many/{i:04}"), "x");
    }
    let mut reach = ground.writable();
    let mut all = Vec::new();
    let mut cursor = None;
    let mut pages = 0;
    loop {
        let page = reach.list(0, "many", cursor, true).unwrap();
        pages += 1;
        all.extend(page.entries);
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!((all.len(), pages), (2500, 3));
    assert!(all.windows(2).all(|w| w[0].name < w[1].name));
    assert!(all.iter().all(|e| e.size == 1 && e.modified > 0.0));
    let beyond = reach.list(0, "many", Some(99_999), false).unwrap();
    assert_eq!((beyond.entries.len(), beyond.next), (0, None));
}

#[test]
fn card_3_a_grant_that_cannot_be_enforced_grants_nothing() {
    let files = Files::default();
    let grant = |root: &str, pattern: &str| FsGrant {
        cwd: "/".into(),
        roots: vec![GrantRoot {
            path: root.into(),
            access: Access::Write,
        }],
        deny: vec![DenyPattern {
            pattern: pattern.into(),
            access: Access::Read,
        }],
    };
    for root in ["", "relative", "/tmp/../etc"] {
        let refused = files.reach(&grant(root, "/x")).unwrap_err();
        assert!(
            refused.to_string().contains(&format!("`{root}`")),
            "{refused}"
        );
    }
    let refused = files.reach(&grant("/tmp", "/tmp/[")).unwrap_err();
    assert!(refused.to_string().contains("`/tmp/[`"), "{refused}");
}

#[test]
fn card_3_paths_are_made_absolute_and_real_before_they_are_judged() {
    let ground = Ground::new();
    ground.link("../outside", "w/dir");
    ground.link("../outside/new", "w/dangling");
    ground.link("circle", "w/circle");
    let cwd = ground.text("w");
    let cases = [
        ("ok", "w/ok"),
        ("./sub/../ok", "w/ok"),
        ("sub/new/file", "w/sub/new/file"),
        ("dir/secret", "outside/secret"),
        ("dir/missing/x", "outside/missing/x"),
        ("dangling", "outside/new"),
        ("dangling/x", "outside/new/x"),
        ("../outside/secret", "outside/secret"),
    ];
    for (path, expected) in cases {
        assert_eq!(
            resolve(&cwd, path).unwrap(),
            ground.text(expected),
            "{path}"
        );
    }
    assert_eq!(resolve(&cwd, "/../..").unwrap(), "/");
    for path in ["", "a\0b", "circle", "circle/x"] {
        let error = resolve(&cwd, path).unwrap_err();
        assert_eq!(error.path, path);
    }
    assert!(resolve("relative", "x").is_err());
}

#[test]
fn card_3_a_path_that_cannot_exist_is_refused_before_it_is_followed() {
    let ground = Ground::new();
    let cwd = ground.text("w");
    let told = |path: &str| resolve(&cwd, path).unwrap_err().to_string();
    let components = told(&"a/".repeat(500_000));
    assert!(
        components.ends_with("cannot be resolved: it is longer than 4096 bytes"),
        "{components}"
    );
    assert!(components.len() < 1000, "the message does not repeat it");
    let name = told(&"x".repeat(256));
    assert!(
        name.ends_with("a name in it is longer than 255 bytes"),
        "{name}"
    );
    let names = told(&"a/".repeat(257));
    assert!(names.ends_with("it has more than 256 names"), "{names}");
    let missing = "a/".repeat(256);
    let expected = format!("{cwd}/{}", missing.trim_end_matches('/'));
    assert_eq!(resolve(&cwd, &missing).unwrap(), expected);
    // A link may make it longer than that.
    ground.link("b/".repeat(1990), "w/long");
    let longer = told(&format!("long/{}", "c".repeat(255)));
    assert!(
        longer.contains("a path of more than 4096 bytes"),
        "{longer}"
    );
}

#[test]
fn card_3_links_make_no_way_deeper_than_a_path_may_be() {
    let ground = Ground::new();
    let down = format!("{}ok", "x/".repeat(200));
    ground.put(&format!("w/{down}"), "deep");
    ground.link(format!("{}more", "x/".repeat(200)), "w/a");
    ground.put(&format!("w/{}more/{down}", "x/".repeat(200)), "deeper");
    let mut reach = ground.writable();
    assert_eq!(read(&mut reach, &down).unwrap(), "deep");
    assert_eq!(
        read(&mut reach, &format!("a/{down}")),
        Err(FsError::NotFound)
    );
    let told: Vec<_> = reach.refusals().iter().map(|r| r.reason).collect();
    assert_eq!(told, ["it lies too deep"]);
}

#[test]
fn card_3_a_closed_file_is_closed_under_its_other_names() {
    let ground = Ground::new();
    ground.put("w/.env", "KEY=1");
    ground.put("w/secrets/deep/key", "KEY=2");
    ground.put("w/sub/server.pem", "KEY=3");
    ground.put("w/pnpm", "code");
    for (closed, name) in [
        (".env", "sub/env"),
        ("secrets/deep/key", "key"),
        ("sub/server.pem", "cert"),
        ("../outside/secret", "secret"),
        ("pnpm", "sub/pnpm"),
    ] {
        let closed = ground.path("w").join(closed);
        fs::hard_link(closed, ground.path("w").join(name)).unwrap();
    }
    let rules = [
        ("w/.env", Access::Read),
        ("w/secrets/**", Access::Read),
        ("w/**/*.pem", Access::Read),
        ("outside", Access::Read),
        ("w/pnpm", Access::Write),
    ];
    let mut reach = ground.reach(&[("w", Access::Write)], &rules);
    for path in ["sub/env", "key", "cert", "secret"] {
        assert_eq!(read(&mut reach, path), Err(FsError::NotFound), "{path}");
        let told = reach.refusals().last().unwrap();
        assert_eq!(
            (told.path.as_str(), told.reason),
            (
                ground.text(&format!("w/{path}")).as_str(),
                "a deny rule closes the file under another name"
            )
        );
        // Nothing else is said of it, either.
        assert_eq!(reach.stat(0, path), Err(FsError::NotFound), "{path}");
        assert_eq!(reach.stat_name(0, path), Err(FsError::NotFound), "{path}");
        let guess = WriteOptions {
            expected_digest: Some(format!("sha256:{:x}", Sha256::digest("KEY=1"))),
            ..WriteOptions::default()
        };
        assert_eq!(
            reach.write(0, path, b"EVIL", &guess),
            Err(FsError::Changed),
            "{path}"
        );
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        for details in [true, false] {
            let page = reach.list(0, folder, None, details).unwrap();
            let mut names = page.entries.iter().map(|entry| entry.name.as_str());
            assert!(!names.any(|listed| listed == name), "{path}");
        }
        // Writing replaces the name: what was closed stays as it is.
        write(&mut reach, path).unwrap();
        assert_eq!(read(&mut reach, path).unwrap(), "EVIL");
    }
    assert_eq!(read(&mut reach, "sub/pnpm").unwrap(), "code");
    write(&mut reach, "sub/pnpm").unwrap();
    assert_eq!(ground.content("w/pnpm"), "code");
    assert_eq!(ground.content("w/.env"), "KEY=1");
    assert_eq!(ground.content("outside/secret"), "SECRET");
}

#[test]
fn card_3_files_with_several_names_are_read_while_nothing_is_closed_there() {
    let ground = Ground::new();
    fs::hard_link(ground.path("w/ok"), ground.path("w/same")).unwrap();
    fs::hard_link(ground.path("outside/secret"), ground.path("w/shared")).unwrap();
    for rules in [&[][..], &[("w/.env", Access::Read)]] {
        let mut reach = ground.reach(&[("w", Access::Read)], rules);
        assert_eq!(read(&mut reach, "same").unwrap(), "inside");
        assert_eq!(read(&mut reach, "shared").unwrap(), "SECRET");
    }
}

#[test]
fn card_3_a_link_in_a_rule_closes_every_place_it_led_to() {
    let ground = Ground::new();
    ground.put("w/one/key", "1");
    ground.put("w/two/key", "2");
    ground.link("one", "w/current");
    let files = Files::default();
    let grant = ground.grant(&[("w", Access::Read)], &[("w/current/**", Access::Read)]);
    let mut before = files.reach(&grant).unwrap();
    assert_eq!(read(&mut before, "one/key"), Err(FsError::NotFound));
    assert_eq!(read(&mut before, "two/key").unwrap(), "2");
    fs::remove_file(ground.path("w/current")).unwrap();
    ground.link("two", "w/current");
    let mut after = files.reach(&grant).unwrap();
    for path in ["one/key", "two/key", "current/key"] {
        assert_eq!(read(&mut after, path), Err(FsError::NotFound), "{path}");
    }
}
