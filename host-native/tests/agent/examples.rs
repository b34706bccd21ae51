//! The examples run to their end without a network. Those with a script check by themselves that it was followed.
//!
//! They are compiled into this test, so that no further programs have to be linked.

#[path = "../../examples/cancel.rs"]
mod cancel;
#[path = "../../examples/closure_tools.rs"]
mod closure_tools;
#[path = "../../examples/custom_host.rs"]
mod custom_host;
#[path = "../../examples/custom_provider.rs"]
mod custom_provider;
#[path = "../../examples/permissions.rs"]
mod permissions;
#[path = "../../examples/restart.rs"]
mod restart;
#[path = "../../examples/ten_lines.rs"]
mod ten_lines;

#[test]
fn api_1_the_example_of_ten_lines_runs() {
    ten_lines::main().unwrap();
}

#[test]
fn sess_1_the_example_of_a_program_that_restarts_runs() {
    restart::main().unwrap();
}

#[test]
fn tool_19_the_example_of_closure_tools_runs() {
    closure_tools::main().unwrap();
}

#[test]
fn perm_9_the_example_of_permissions_runs() {
    permissions::main().unwrap();
}

#[test]
fn api_2_the_example_of_cancelling_runs() {
    cancel::main().unwrap();
}

#[test]
fn the_example_of_a_custom_host_runs() {
    custom_host::main().unwrap();
}

#[test]
fn the_example_of_a_custom_provider_runs() {
    custom_provider::main().unwrap();
}
