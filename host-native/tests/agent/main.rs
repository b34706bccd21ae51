//! The Rust API from outside: agents with closure tools against a scripted model.

#![allow(clippy::unwrap_used)]

#[cfg(unix)]
#[path = "../attacks/mod.rs"]
mod attack_lines;
#[cfg(unix)]
mod attacks;
mod authoring;
mod building;
mod components;
mod contexts;
mod control;
mod endings;
mod examples;
#[path = "../guest/mod.rs"]
mod guest;
mod hooks;
#[path = "../servers/http.rs"]
mod http;
mod http_servers;
#[cfg(unix)]
mod long_output;
mod mcp_servers;
mod permissions;
mod plugin_files;
mod plugin_hooks;
mod plugin_https;
mod plugin_instances;
mod plugin_kept_handles;
mod plugin_limits;
mod plugin_network;
mod plugin_observations;
mod plugin_places;
mod plugin_probe;
mod plugin_reentrancy;
mod plugin_roles;
mod plugin_secrets;
mod plugin_state;
mod plugin_turns;
mod plugin_versions;
mod plugins;
mod programs;
mod queries;
mod races;
#[cfg(target_os = "linux")]
mod sandbox;
mod sessions;
mod settings;
mod silence;
mod stores;
mod support;
#[path = "../tls/mod.rs"]
mod tls;
mod tools;
mod wasi;
mod wasi_guest;
mod wasi_limits;
mod web_fetch;
mod web_search;
#[path = "../web_server/mod.rs"]
mod web_server;
