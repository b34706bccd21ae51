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
#[allow(dead_code, reason = "its main serves until it is stopped")]
#[path = "../../examples/tutor_page.rs"]
mod tutor_page;

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

/// What a page gets for a path of the example that serves one.
async fn of_page(address: std::net::SocketAddr, path: &str) -> String {
    // One provider for the process; another test may have been first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let response = reqwest::get(format!("http://{address}{path}")).await;
    response.unwrap().text().await.unwrap()
}

#[tokio::test]
async fn sprout_4_the_example_serves_events_to_a_page_that_shows_them() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let local = tokio::task::LocalSet::new();
    local.spawn_local(tutor_page::serve(listener));
    let (page, feed) = local
        .run_until(async {
            let page = of_page(address, "/").await;
            (page, of_page(address, "/events?small=true").await)
        })
        .await;
    assert!(page.contains("new EventSource('/events"), "{page}");
    let events: Vec<&str> = feed.split_terminator("\n\n").collect();
    assert_eq!(
        events,
        [
            "event: agent_reasoning\ndata: {\"agent\":\"topic\",\"text\":\"A tree is a graph without cycles, so graphs come first.\"}",
            "event: tool_call\ndata: {\"tool\":\"add_concept\",\"input\":{ \"name\": \"Graphs\" }}",
            "event: tool_result\ndata: {\"tool\":\"add_concept\",\"summary\":\"Graphs added\"}",
            "event: tool_call\ndata: {\"tool\":\"add_concept\",\"input\":{ \"name\": \"Trees\" }}",
            "event: tool_result\ndata: {\"tool\":\"add_concept\",\"summary\":\"Trees added\"}",
            "event: agent_reasoning\ndata: {\"agent\":\"topic\",\"text\":\"Two concepts: first graphs, then trees.\"}",
            "event: done\ndata: null",
        ]
    );
}
