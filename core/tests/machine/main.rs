//! The machine from outside: inputs in, outputs out; no clock, no socket, no waiting.

#![allow(clippy::unwrap_used)]

mod api;
mod background;
mod bad_input;
mod clearing;
mod command_state;
mod compaction;
mod compaction_limits;
mod configure;
mod context_prompts;
mod continued;
mod core_tools;
mod decoding;
mod forks;
mod golden_sessions;
mod harness;
mod hooks;
mod interrupted_words;
mod journals;
mod loop_choices;
mod loop_failures;
mod loop_interrupts;
mod loop_limits;
mod loop_messages;
mod loop_output;
mod loop_refusals;
mod loop_silence;
mod loop_steering;
mod loop_tools;
mod path_patterns;
mod permission_answers;
mod permissions;
mod prompt_cache;
mod requests;
mod restores;
mod sessions;
mod simulation;
mod subagents;
mod suggestions;
mod tool_search;
mod worktree_rules;
mod worktrees;
