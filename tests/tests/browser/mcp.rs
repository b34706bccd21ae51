//! MCP servers over HTTP: in Node, and from a page of Chromium.

use crate::node;

/// Real servers on loopback, and such as die, hang, flood, refuse, or are none.
#[test]
fn card_4_tools_of_mcp_servers_are_tools_of_the_agent() {
    node::test("mcp.test.js");
}

/// Another origin and a strict content security policy; esbuild bundles the page.
#[test]
fn card_4_a_page_uses_mcp_servers_of_another_origin() {
    node::test("mcp-page.test.js");
}
