//! Sockets, which nobody gets: the functions that make one are refused, and none of the others can be reached.

use wasmtime::component::{Linker, LinkerInstance, Resource, ResourceType, Val};

use crate::plugins::call_state::CallState;

/// A version that every component for WASI 0.2 is compatible with.
const VERSION: &str = "0.2.12";

/// Stands for the network, with which nothing can be done.
#[derive(Debug)]
struct Network;

/// Stands for the resources that are never made.
#[derive(Debug)]
struct Never;

/// A function of a socket was called without a socket.
#[derive(Debug, thiserror::Error)]
#[error("it used a socket, and was given none")]
struct NoSocket;

const TCP: [&str; 28] = [
    "start-bind",
    "finish-bind",
    "start-connect",
    "finish-connect",
    "start-listen",
    "finish-listen",
    "accept",
    "local-address",
    "remote-address",
    "is-listening",
    "address-family",
    "set-listen-backlog-size",
    "keep-alive-enabled",
    "set-keep-alive-enabled",
    "keep-alive-idle-time",
    "set-keep-alive-idle-time",
    "keep-alive-interval",
    "set-keep-alive-interval",
    "keep-alive-count",
    "set-keep-alive-count",
    "hop-limit",
    "set-hop-limit",
    "receive-buffer-size",
    "set-receive-buffer-size",
    "send-buffer-size",
    "set-send-buffer-size",
    "subscribe",
    "shutdown",
];

const UDP: [&str; 13] = [
    "start-bind",
    "finish-bind",
    "stream",
    "local-address",
    "remote-address",
    "address-family",
    "unicast-hop-limit",
    "set-unicast-hop-limit",
    "receive-buffer-size",
    "set-receive-buffer-size",
    "send-buffer-size",
    "set-send-buffer-size",
    "subscribe",
];

/// The resources of an interface that are never made, with their methods.
type Resources<'a> = &'a [(&'a str, &'a [&'a str])];

/// The interfaces with such resources.
const NEVER_MADE: [(&str, Resources<'_>); 3] = [
    ("tcp", &[("tcp-socket", &TCP)]),
    (
        "udp",
        &[
            ("udp-socket", &UDP),
            ("incoming-datagram-stream", &["receive", "subscribe"]),
            (
                "outgoing-datagram-stream",
                &["check-send", "send", "subscribe"],
            ),
        ],
    ),
    (
        "ip-name-lookup",
        &[(
            "resolve-address-stream",
            &["resolve-next-address", "subscribe"],
        )],
    ),
];

/// The functions that would begin something.
const REFUSED: [(&str, &str); 3] = [
    ("tcp-create-socket", "create-tcp-socket"),
    ("udp-create-socket", "create-udp-socket"),
    ("ip-name-lookup", "resolve-addresses"),
];

/// An interface that is being linked. Its functions are added here, so that each call of one is counted.
struct Interface<'a>(LinkerInstance<'a, CallState>);

impl Interface<'_> {
    /// A function with this answer; its results are those of its type.
    fn function(
        &mut self,
        name: &str,
        answer: fn(&mut [Val]) -> wasmtime::Result<()>,
    ) -> wasmtime::Result<()> {
        self.0.func_new(name, move |mut store, _, _, results| {
            store.data_mut().entered().may_go_on()?;
            answer(results)
        })
    }

    /// A function that hands out the network.
    fn network(&mut self, name: &str) -> wasmtime::Result<()> {
        self.0.func_wrap(name, |mut store, (): ()| {
            store.data_mut().entered().may_go_on()?;
            Ok((Resource::<Network>::new_own(0),))
        })
    }

    fn resource<T: 'static>(&mut self, name: &str) -> wasmtime::Result<()> {
        let of = ResourceType::host::<T>();
        self.0.resource(name, of, |mut store, _| {
            store.data_mut().entered().may_go_on()?;
            Ok(())
        })
    }
}

/// Links the interfaces.
pub(super) fn add_to_linker(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    // One instance is opened twice below.
    linker.allow_shadowing(true);
    let name = |interface: &str| format!("wasi:sockets/{interface}@{VERSION}");
    let mut network = Interface(linker.instance(&name("network"))?);
    network.resource::<Network>("network")?;
    network.function("network-error-code", |results| {
        answer(results, Val::Option(None))
    })?;
    Interface(linker.instance(&name("instance-network"))?).network("instance-network")?;
    for (interface, resources) in NEVER_MADE {
        let mut instance = Interface(linker.instance(&name(interface))?);
        for (resource, methods) in resources {
            instance.resource::<Never>(resource)?;
            for method in *methods {
                let function = format!("[method]{resource}.{method}");
                instance.function(&function, |_| Err(NoSocket.into()))?;
            }
        }
    }
    for (interface, function) in REFUSED {
        let mut instance = Interface(linker.instance(&name(interface))?);
        instance.function(function, |results| {
            let code = Val::Enum("access-denied".to_owned());
            answer(results, Val::Result(Err(Some(Box::new(code)))))
        })?;
    }
    linker.allow_shadowing(false);
    Ok(())
}

/// Sets the one result of a function.
fn answer(results: &mut [Val], value: Val) -> wasmtime::Result<()> {
    let result = results.first_mut().ok_or(NoSocket)?;
    *result = value;
    Ok(())
}
