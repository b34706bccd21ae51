//! A host for the agent component: files by the resolver of the native host, HTTP by a scripted model, time that
//! passes only when it is waited for.

use std::{collections::VecDeque, sync::OnceLock};

use bytes::Bytes;
use serde_json::Value;
use wasmtime::{
    Config, Engine, OptLevel, RegallocAlgorithm, Store,
    component::{Component, HasSelf, Linker, Resource, ResourceAny, ResourceTable},
};
use windlass::files::{self, EntryKind, Files, FsError, Reach};
use windlass_core::tool::{Access, FsGrant};
use windlass_testkit::{Piece, RequestView, Script, ScriptedModel};

mod bindings {
    #![allow(missing_docs, unreachable_pub, clippy::all)]

    wasmtime::component::bindgen!({
        path: ["../wit/host", "../wit/agent"],
        world: "windlass:agent/agent",
        imports: { default: trappable },
        with: {
            "windlass:host/filesystem.directory": super::Tree,
            "windlass:host/http.body": super::Exchange,
        },
    });
}

use bindings::windlass::host::{clock, filesystem, http, log, types};

/// Stands for a directory: a handle's number is the index of a tree of the reach.
#[allow(unreachable_pub)] // The generated code re-exports it.
pub struct Tree;

/// The rest of an answer.
#[allow(unreachable_pub)] // As above.
pub struct Exchange {
    pieces: VecDeque<Piece>,
    /// What of a piece did not fit the last read.
    left: Bytes,
}

struct HostState {
    reach: Reach,
    model: ScriptedModel,
    bodies: ResourceTable,
    now: u64,
}

/// The component, compiled once, and quickly: it does little here.
pub(crate) fn component() -> &'static Component {
    static COMPILED: OnceLock<Component> = OnceLock::new();
    COMPILED.get_or_init(|| {
        let mut config = Config::new();
        config
            .cranelift_opt_level(OptLevel::None)
            .cranelift_regalloc_algorithm(RegallocAlgorithm::SinglePass);
        Component::new(&Engine::new(&config).unwrap(), windlass_builtin::AGENT).unwrap()
    })
}

/// The component, started once, with the sessions in it.
pub(crate) struct Agent {
    store: Store<HostState>,
    bindings: bindings::Agent,
}

impl Agent {
    pub(crate) fn with_script(grant: FsGrant, script: Script) -> Self {
        let component = component();
        let engine = component.engine();
        let mut linker = Linker::new(engine);
        bindings::Agent::add_to_linker::<_, HasSelf<HostState>>(&mut linker, |state| state)
            .unwrap();
        let state = HostState {
            reach: Files::default().reach(&grant).unwrap(),
            model: ScriptedModel::new(script),
            bodies: ResourceTable::new(),
            now: 0,
        };
        let mut store = Store::new(engine, state);
        let bindings = bindings::Agent::instantiate(&mut store, component, &linker).unwrap();
        Self { store, bindings }
    }

    pub(crate) fn start(&mut self, task: &str) -> Result<ResourceAny, String> {
        let session = self.bindings.windlass_agent_conversation().session();
        session.call_start(&mut self.store, task).unwrap()
    }

    pub(crate) fn next(&mut self, session: ResourceAny) -> Option<Value> {
        let sessions = self.bindings.windlass_agent_conversation().session();
        let line = sessions.call_next(&mut self.store, session).unwrap()?;
        Some(serde_json::from_str(&line).unwrap())
    }

    pub(crate) fn interrupt(&mut self, session: ResourceAny) {
        let sessions = self.bindings.windlass_agent_conversation().session();
        sessions.call_interrupt(&mut self.store, session).unwrap();
    }

    /// Fails when the script was not followed to its end.
    pub(crate) fn verify(&self) {
        self.store.data().model.verify().unwrap();
    }

    pub(crate) fn waited_ms(&self) -> u64 {
        self.store.data().now
    }
}

type Handle = Resource<Tree>;
type Answer<T> = wasmtime::Result<Result<T, types::ErrorCode>>;

impl types::Host for HostState {}

impl filesystem::Host for HostState {
    fn roots(&mut self) -> wasmtime::Result<Vec<filesystem::Root>> {
        let roots = self
            .reach
            .roots()
            .zip(0..)
            .map(|(root, index)| filesystem::Root {
                path: root.path,
                access: match root.access {
                    Access::Read => filesystem::Access::Read,
                    Access::Write => filesystem::Access::Write,
                },
                directory: Handle::new_own(index),
            });
        Ok(roots.collect())
    }

    fn working_directory(&mut self) -> wasmtime::Result<String> {
        Ok(self.reach.working_directory().to_owned())
    }
}

impl HostState {
    fn ask<T>(
        &mut self,
        directory: &Handle,
        question: impl FnOnce(&mut Reach, usize) -> Result<T, FsError>,
    ) -> Answer<T> {
        Ok(question(&mut self.reach, directory.rep() as usize).map_err(error_code))
    }
}

impl filesystem::HostDirectory for HostState {
    fn stat(&mut self, directory: Handle, path: String) -> Answer<filesystem::Stat> {
        self.ask(&directory, |reach, tree| {
            let stat = reach.stat(tree, &path)?;
            Ok(filesystem::Stat {
                kind: kind(stat.kind),
                size: stat.size as f64,
                modified: stat.modified,
            })
        })
    }

    fn read(&mut self, directory: Handle, path: String, offset: f64, max: u32) -> Answer<Vec<u8>> {
        self.ask(&directory, |reach, tree| {
            reach.read(tree, &path, offset as u64, max)
        })
    }

    fn list(
        &mut self,
        directory: Handle,
        path: String,
        cursor: Option<u32>,
        details: bool,
    ) -> Answer<filesystem::Page> {
        self.ask(&directory, |reach, tree| {
            let page = reach.list(tree, &path, cursor, details)?;
            let entry = |entry: files::Entry| filesystem::Entry {
                name: entry.name,
                kind: kind(entry.kind),
                size: entry.size as f64,
                modified: entry.modified,
            };
            Ok(filesystem::Page {
                entries: page.entries.into_iter().map(entry).collect(),
                next: page.next,
            })
        })
    }

    fn write(
        &mut self,
        directory: Handle,
        path: String,
        data: Vec<u8>,
        options: filesystem::WriteOptions,
    ) -> Answer<()> {
        let options = files::WriteOptions {
            expected_digest: options.expected_digest,
            create_new: options.create_new,
            create_parents: options.create_parents,
        };
        self.ask(&directory, |reach, tree| {
            reach.write(tree, &path, &data, &options)
        })
    }

    fn create_directory(&mut self, directory: Handle, path: String) -> Answer<()> {
        self.ask(&directory, |reach, tree| {
            reach.create_directory(tree, &path)
        })
    }

    fn remove(&mut self, directory: Handle, path: String) -> Answer<()> {
        self.ask(&directory, |reach, tree| reach.remove(tree, &path))
    }

    fn drop(&mut self, _: Handle) -> wasmtime::Result<()> {
        Ok(())
    }
}

impl http::Host for HostState {
    fn send(
        &mut self,
        request: http::Request,
    ) -> wasmtime::Result<Result<http::Response, http::Failure>> {
        let headers: Vec<(String, String)> = request
            .headers
            .into_iter()
            .map(|header| (header.name, header.value))
            .collect();
        let answer = self.model.answer(&RequestView {
            path: &request.url,
            headers: &headers,
            body: &request.body.concat(),
        });
        let mut pieces = VecDeque::from(answer);
        let Some(Piece::Head { status, headers }) = pieces.pop_front() else {
            let why = "the scripted model closed the connection".to_owned();
            return Ok(Err(http::Failure::Interrupted(why)));
        };
        let exchange = Exchange {
            pieces,
            left: Bytes::new(),
        };
        Ok(Ok(http::Response {
            status,
            headers: headers
                .into_iter()
                .map(|(name, value)| http::Header { name, value })
                .collect(),
            body: self.bodies.push(exchange)?,
        }))
    }
}

impl http::HostBody for HostState {
    fn read(
        &mut self,
        body: Resource<Exchange>,
        max: u32,
    ) -> wasmtime::Result<Result<Vec<u8>, http::Failure>> {
        let exchange = self.bodies.get_mut(&body)?;
        while exchange.left.is_empty() {
            match exchange.pieces.pop_front() {
                Some(Piece::Bytes(bytes)) => exchange.left = bytes,
                Some(Piece::Delay(ms)) => self.now += ms,
                Some(Piece::End) | None => return Ok(Ok(Vec::new())),
                Some(other) => {
                    return Ok(Err(http::Failure::Interrupted(format!("{other:?}"))));
                }
            }
        }
        let length = exchange.left.len().min(max as usize);
        Ok(Ok(exchange.left.split_to(length).to_vec()))
    }

    fn drop(&mut self, body: Resource<Exchange>) -> wasmtime::Result<()> {
        self.bodies.delete(body)?;
        Ok(())
    }
}

impl log::Host for HostState {
    fn log(&mut self, _: log::Level, message: String) -> wasmtime::Result<()> {
        println!("agent: {message}");
        Ok(())
    }
}

impl clock::Host for HostState {
    fn now(&mut self) -> wasmtime::Result<clock::Instant> {
        Ok(clock::Instant {
            mono: self.now as f64,
            wall: 1_767_225_600_000.0 + self.now as f64,
        })
    }

    fn wait_until(&mut self, mono: f64) -> wasmtime::Result<()> {
        self.now = self.now.max(mono as u64);
        Ok(())
    }
}

fn kind(kind: EntryKind) -> filesystem::EntryKind {
    match kind {
        EntryKind::File => filesystem::EntryKind::File,
        EntryKind::Directory => filesystem::EntryKind::Directory,
        EntryKind::Symlink => filesystem::EntryKind::Symlink,
        EntryKind::Other => filesystem::EntryKind::Other,
    }
}

fn error_code(error: FsError) -> types::ErrorCode {
    use types::ErrorCode as E;
    match error {
        FsError::NotFound => E::NotFound,
        FsError::Exists => E::Exists,
        FsError::NotDirectory => E::NotDirectory,
        FsError::IsDirectory => E::IsDirectory,
        FsError::ReadOnly => E::ReadOnly,
        FsError::Invalid => E::Invalid,
        FsError::TooLarge => E::TooLarge,
        FsError::Changed => E::Changed,
        FsError::Io => E::Io,
    }
}
