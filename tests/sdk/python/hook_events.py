"""Every hook event of the SDK can be registered, and those that come about arrive with what they promise."""

import anyio

from claude_agent_sdk import AgentDefinition, ClaudeSDKClient, HookMatcher
from engine import WORK, options, succeeded, turn

EVENTS = [
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "UserPromptSubmit",
    "Stop",
    "SubagentStop",
    "PreCompact",
    "Notification",
    "SubagentStart",
    "PermissionRequest",
]
seen = []


async def note(hook_input, tool_use_id, context):
    seen.append((hook_input["hook_event_name"], hook_input, tool_use_id))
    return {}


def of(event):
    found = [(data, tool_use_id) for name, data, tool_use_id in seen if name == event]
    assert found, f"no {event} in {[name for name, _, _ in seen]}"
    return found


async def main():
    (WORK / "note.txt").write_text("Buy milk.\n")
    agents = {"reader": AgentDefinition(description="reads", prompt="Read.", tools=["Read"])}
    hooks = {event: [HookMatcher(hooks=[note])] for event in EVENTS}
    async with ClaudeSDKClient(options(hooks=hooks, agents=agents)) as client:
        succeeded(await turn(client, "Read, fail, delegate."), "All done.")

    names = [name for name, _, _ in seen]
    assert names[0] == "UserPromptSubmit" and names[-1] == "Stop", names
    for _, data, _ in seen:
        assert data["session_id"] and data["cwd"] == str(WORK), data
        assert data["transcript_path"].endswith(".jsonl"), data
    (prompt, _), *_ = of("UserPromptSubmit")
    assert prompt["prompt"] == "Read, fail, delegate."
    assert prompt["permission_mode"] == "default", prompt

    (before, call), *_ = of("PreToolUse")
    assert before["tool_name"] == "Read" and call == "toolu_1_1", before
    assert before["tool_use_id"] == "toolu_1_1"
    assert before["tool_input"] == {"file_path": str(WORK / "note.txt")}
    (after, call), *_ = of("PostToolUse")
    assert call == "toolu_1_1" and "Buy milk." in str(after["tool_response"]), after
    (failed, call), *_ = of("PostToolUseFailure")
    assert call == "toolu_2_1" and failed["error"] and failed["tool_name"] == "Read", failed
    (asked, _), *_ = of("PermissionRequest")
    assert asked["tool_name"] == "Bash", asked

    (started, _), *_ = of("SubagentStart")
    assert started["agent_type"] == "reader" and started["agent_id"], started
    (stopped, _), *_ = of("SubagentStop")
    assert stopped["agent_id"] == started["agent_id"], stopped
    assert stopped["agent_transcript_path"].endswith(".jsonl"), stopped
    assert stopped["stop_hook_active"] is False
    (stop, _), *_ = of("Stop")
    assert stop["stop_hook_active"] is False, stop


anyio.run(main)
