//! The command, run as a person or a program runs it: real processes, a real socket, a real terminal.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

#[path = "../attacks/mod.rs"]
mod attack_lines;
mod attacks;
mod bad_input;
mod behaviour;
mod closed_names;
mod demo;
mod engine_endings;
mod environment;
mod flags;
#[path = "../guest/mod.rs"]
mod guest;
mod hostile_registry;
#[path = "../servers/http.rs"]
mod http;
mod journal;
mod led_to;
mod mcp;
mod mcp_conformance;
mod mcp_serve;
mod output;
mod permission;
mod places;
mod plugin_authoring;
mod plugin_bounds;
#[cfg(unix)]
mod plugin_consent;
#[cfg(unix)]
mod plugin_folders;
mod plugin_grants;
mod plugin_install;
mod plugin_least;
mod plugin_owners;
#[allow(dead_code)]
#[path = "../agent/plugin_probe.rs"]
mod plugin_probe;
#[cfg(unix)]
mod plugin_reports;
mod plugin_roles;
mod plugin_sources;
mod plugin_tests;
mod plugin_tutorial;
mod plugin_updates;
mod plugins;
mod project;
mod prompts;
mod provider;
mod registry;
mod registry_attacks;
#[cfg(target_os = "linux")]
mod sandbox;
mod secrets;
mod sessions;
mod settings;
mod signals;
mod support;
mod terminal;
#[path = "../tls/mod.rs"]
mod tls;
mod tls_files;
mod trust;
mod unknown_kinds;
mod usage;
