//! The resolver, raced: somebody swaps folders, links and files while paths are judged and used.
//!
//! An access is judged as the core judges it and gets the grant that the core would give. Meanwhile another thread renames,
//! links and exchanges what lies on the way. Nothing may be read from, listed in or written to a place that was not judged.
//! `WINDLASS_ATTACK_ROUNDS` says how many accesses are tried in all.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::{
    fs,
    os::unix::fs::symlink,
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use tempfile::TempDir;
use windlass::files::{Files, Reach, WriteOptions, resolve};
use windlass_core::tool::{Access, DenyPattern, FsGrant, GrantRoot};

const SECRET: &str = "SECRET";

/// Accesses in the test command, all swaps together.
const ROUNDS: usize = 10_000;

/// What the other thread does again and again, in a workspace `w` with a folder `race/d` and a file `race/d/f`.
#[derive(Debug, Clone, Copy)]
enum Swap {
    /// `race/d` is moved aside, a link takes its place, and back.
    Rename,
    /// `race/d` and a link beside it change places in one step.
    Exchange,
    /// The same with the folder above.
    ExchangeAbove,
    /// The same with the granted root.
    ExchangeRoot,
    /// `race/d/f` and a link beside it change places.
    ExchangeFile,
    /// `race/d` and a folder whose `f` is a link change places.
    ExchangeFolders,
    /// `race/d` is removed and made anew, as a link and as a folder.
    Remake,
}

const SWAPS: [Swap; 7] = [
    Swap::Rename,
    Swap::Exchange,
    Swap::ExchangeAbove,
    Swap::ExchangeRoot,
    Swap::ExchangeFile,
    Swap::ExchangeFolders,
    Swap::Remake,
];

/// Where the links lead.
const PLACES: [&str; 2] = ["outside", "w/closed"];

/// What is there, for links that take the place of the file, of its folder, of the one above and of the root.
const CLOSED: [&str; 6] = [
    "outside/f",
    "outside/d/f",
    "outside/race/d/f",
    "w/closed/f",
    "w/closed/d/f",
    "w/closed/race/d/f",
];

/// What is tried at `race/d/f`.
#[derive(Debug, Clone, Copy)]
enum Try {
    Read,
    /// The same where a rule allows this file, and the workspace is elsewhere.
    ReadByRule,
    Write,
    Edit,
    Create,
    List,
    Search,
    Remove,
}

const TRIES: [Try; 8] = [
    Try::Read,
    Try::ReadByRule,
    Try::Write,
    Try::Edit,
    Try::Create,
    Try::List,
    Try::Search,
    Try::Remove,
];

struct Arena {
    _dir: TempDir,
    root: PathBuf,
    files: Files,
    swap: Swap,
    place: &'static str,
}

impl Arena {
    fn new(swap: Swap, place: &'static str) -> Self {
        let dir = TempDir::new().unwrap();
        let arena = Self {
            root: dir.path().canonicalize().unwrap(),
            _dir: dir,
            files: Files::default(),
            swap,
            place,
        };
        for folder in ["w/race/d", "w/race/e"] {
            fs::create_dir_all(arena.path(folder)).unwrap();
        }
        for file in CLOSED {
            let path = arena.path(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, SECRET).unwrap();
        }
        let target = arena.path(place);
        symlink(&target, arena.path("w/race/link")).unwrap();
        symlink(&target, arena.path("w/link")).unwrap();
        symlink(&target, arena.path("link")).unwrap();
        symlink(target.join("f"), arena.path("w/race/e/f")).unwrap();
        arena.restore();
        arena
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    fn text(&self, relative: &str) -> String {
        self.path(relative).to_str().unwrap().to_owned()
    }

    /// The file that is tried for, as far as it is there.
    fn restore(&self) {
        let _ = fs::write(self.path("w/race/d/own"), "own");
    }

    /// Swaps there and back until it is told to stop.
    fn attack(&self, stop: &AtomicBool) {
        let at = |relative: &str| self.path(relative);
        let exchange = |a: &str, b: &str| {
            let (a, b) = (at(a), at(b));
            move || {
                // While something is missing, nothing is exchanged: the next time.
                let _ = renameat_with(CWD, &a, CWD, &b, RenameFlags::EXCHANGE);
            }
        };
        let target = at(self.place);
        let (folder, aside) = (at("w/race/d"), at("w/race/aside"));
        let swap: Box<dyn Fn()> = match self.swap {
            Swap::Rename => Box::new(move || {
                let _ = fs::rename(&folder, &aside);
                let _ = symlink(&target, &folder);
                let _ = fs::remove_file(&folder);
                let _ = fs::rename(&aside, &folder);
            }),
            Swap::Exchange => Box::new(exchange("w/race/d", "w/race/link")),
            Swap::ExchangeAbove => Box::new(exchange("w/race", "w/link")),
            Swap::ExchangeRoot => Box::new(exchange("w", "link")),
            Swap::ExchangeFile => {
                symlink(target.join("f"), at("w/race/f-link")).unwrap();
                Box::new(exchange("w/race/d/f", "w/race/f-link"))
            }
            Swap::ExchangeFolders => Box::new(exchange("w/race/d", "w/race/e")),
            Swap::Remake => Box::new(move || {
                let _ = fs::remove_dir_all(&folder);
                let _ = symlink(&target, &folder);
                let _ = fs::remove_file(&folder);
                let _ = fs::create_dir(&folder);
            }),
        };
        while !stop.load(Ordering::Relaxed) {
            swap();
            // The kernel looks a path up anew as long as something is renamed meanwhile: without a pause nothing is ever tried.
            std::thread::yield_now();
        }
    }

    /// The grant of a call that names a path, if rules let it pass: everything in the workspace but what is closed.
    fn judged(&self, path: &str, access: Access) -> Option<FsGrant> {
        let workspace = self.text("w");
        let real = resolve(&workspace, path).ok()?;
        let below = real.strip_prefix(&workspace)?;
        if below.starts_with("/closed") {
            return None;
        }
        let mut roots = vec![GrantRoot {
            path: workspace.clone(),
            access: Access::Read,
        }];
        if access == Access::Write {
            roots.push(GrantRoot { path: real, access });
        }
        Some(FsGrant {
            roots,
            deny: vec![DenyPattern {
                pattern: format!("{workspace}/closed/**"),
                access: Access::Read,
            }],
            cwd: workspace,
        })
    }

    /// Whether something got through that was not judged.
    fn access(&self, attempt: Try) -> bool {
        match attempt {
            Try::Read => self.read(self.judged("race/d/f", Access::Read)),
            Try::ReadByRule => self.read(self.judged("race/d/f", Access::Read).map(|mut grant| {
                grant.roots[0].path = self.text("w/race/d/f");
                grant
            })),
            Try::Write => self.write("race/d/f"),
            Try::Edit => self.edit("race/d/f"),
            Try::Create => self.write("race/d/new/f"),
            Try::List => self.list("race/d"),
            Try::Search => self.search("race"),
            Try::Remove => self.remove("race/d/f"),
        }
    }

    fn reach(&self, path: &str, access: Access) -> Option<(Reach, usize, String)> {
        self.reach_with(path, self.judged(path, access)?)
    }

    fn reach_with(&self, path: &str, grant: FsGrant) -> Option<(Reach, usize, String)> {
        let mut reach = self.files.reach(&grant).unwrap();
        let absolute = self.text(&format!("w/{path}"));
        // As components do it: the innermost tree.
        let roots: Vec<_> = reach.roots().map(|root| root.path).collect();
        let inside = |root: &String| Some(absolute.strip_prefix(root)?.trim_start_matches('/'));
        let (tree, below) = (0..)
            .zip(&roots)
            .filter_map(|(tree, root)| Some((tree, inside(root)?)))
            .min_by_key(|(_, below)| below.len())?;
        let below = below.to_owned();
        Some((reach, tree, below))
    }

    fn read(&self, grant: Option<FsGrant>) -> bool {
        let reach = grant.and_then(|grant| self.reach_with("race/d/f", grant));
        let Some((mut reach, tree, below)) = reach else {
            return false;
        };
        let read = reach.read(tree, &below, 0, 1 << 10);
        read.is_ok_and(|bytes| bytes == SECRET.as_bytes())
    }

    fn write(&self, path: &str) -> bool {
        let Some((mut reach, tree, below)) = self.reach(path, Access::Write) else {
            return false;
        };
        let options = WriteOptions {
            create_parents: true,
            ..WriteOptions::default()
        };
        let _ = reach.write(tree, &below, b"written", &options);
        self.is_changed()
    }

    fn edit(&self, path: &str) -> bool {
        let Some((mut reach, tree, below)) = self.reach(path, Access::Write) else {
            return false;
        };
        let Ok(bytes) = reach.read(tree, &below, 0, 1 << 10) else {
            return false;
        };
        let _ = reach.write(tree, &below, b"edited", &WriteOptions::default());
        bytes == SECRET.as_bytes() || self.is_changed()
    }

    fn list(&self, path: &str) -> bool {
        let Some((mut reach, tree, below)) = self.reach(path, Access::Read) else {
            return false;
        };
        let listed = reach.list(tree, &below, None, true);
        // Only the places that links lead to have a folder of this name.
        listed.is_ok_and(|page| page.entries.iter().any(|entry| entry.name == "d"))
    }

    fn search(&self, path: &str) -> bool {
        let Some((mut reach, tree, below)) = self.reach(path, Access::Read) else {
            return false;
        };
        let folder = format!("{below}/d");
        let Ok(page) = reach.list(tree, &folder, None, false) else {
            return false;
        };
        page.entries.iter().any(|entry| {
            let read = reach.read(tree, &format!("{folder}/{}", entry.name), 0, 1 << 10);
            read.is_ok_and(|bytes| bytes == SECRET.as_bytes())
        })
    }

    fn remove(&self, path: &str) -> bool {
        let Some((mut reach, tree, below)) = self.reach(path, Access::Write) else {
            return false;
        };
        let _ = reach.remove(tree, &below);
        self.is_changed()
    }

    /// Whether anything was written or removed where links lead; mended, so that the next access is counted by itself.
    fn is_changed(&self) -> bool {
        let mut changed = false;
        for file in CLOSED {
            // While the root is exchanged, what lies in it cannot be looked at; it is looked at in the end.
            if file.starts_with("w/") && matches!(self.swap, Swap::ExchangeRoot) {
                continue;
            }
            let path = self.path(file);
            if fs::read_to_string(&path).unwrap_or_default() != SECRET {
                changed = true;
                fs::write(&path, SECRET).unwrap();
            }
        }
        for made in ["outside/new", "w/closed/new"] {
            let path = self.path(made);
            changed |= fs::remove_dir_all(path).is_ok();
        }
        changed
    }
}

#[test]
fn conf_5_whatever_is_swapped_meanwhile_only_what_was_judged_is_reached() {
    let rounds = std::env::var("WINDLASS_ATTACK_ROUNDS");
    let rounds = rounds.map_or(ROUNDS, |rounds| rounds.parse().unwrap());
    let kinds = SWAPS.len() * PLACES.len() * TRIES.len();
    let each = rounds.div_ceil(kinds);
    let mut through = Vec::new();
    for swap in SWAPS {
        for place in PLACES {
            let arena = Arena::new(swap, place);
            let stop = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| arena.attack(&stop));
                for attempt in TRIES {
                    let count = (0..each).filter(|_| {
                        arena.restore();
                        arena.access(attempt)
                    });
                    let count = count.count();
                    if count > 0 {
                        through.push(format!("{swap:?} {attempt:?} → {place}: {count} of {each}"));
                    }
                }
                stop.store(true, Ordering::Relaxed);
            });
        }
    }
    eprintln!("tried: {} accesses", each * kinds);
    assert!(through.is_empty(), "got through:\n{}", through.join("\n"));
}
