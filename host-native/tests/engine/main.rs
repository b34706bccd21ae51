//! The engine of the SDKs, driven through in-memory pipes as an SDK drives it, with a scripted model behind it.
#![allow(clippy::unwrap_used)]

mod agent_contexts;
#[cfg(unix)]
mod agent_servers;
mod agents;
mod as_the_original;
#[cfg(unix)]
#[path = "../attacks/mod.rs"]
mod attack_lines;
#[cfg(unix)]
mod attacks;
mod background;
mod bad_input;
mod checkpoints;
mod clearing;
mod command_hooks;
mod contexts;
mod control;
mod core_tools;
mod debugging;
mod elicitation;
mod endings;
#[path = "../guest/mod.rs"]
mod guest;
mod hook_answers;
mod hook_events;
mod hook_inputs;
mod hooks;
#[path = "../servers/http.rs"]
mod http;
mod http_servers;
mod instructions;
mod long_frames;
#[cfg(unix)]
mod looking;
mod model_keys;
mod model_table;
mod model_variables;
mod models;
mod permissions;
mod plugins;
mod prompts;
mod resources;
#[cfg(target_os = "linux")]
mod sandbox;
mod server_prompts;
mod servers;
mod sessions;
mod settings;
mod support;
mod tool_search;
mod turns;
mod web;
#[path = "../web_server/mod.rs"]
#[allow(dead_code, reason = "the library is tested with more of it")]
mod web_server;
mod worktrees;
