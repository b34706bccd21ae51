"""What hooks add reaches the model; a hook can keep the turn going, end it, or drop the prompt."""

import anyio

from claude_agent_sdk import ClaudeSDKClient, HookMatcher
from engine import WORK, options, result, succeeded, texts, turn

kept = []


async def favourite(hook_input, tool_use_id, context):
    if "secret" in hook_input["prompt"]:
        return {"decision": "block", "reason": "No secrets here."}
    output = {"hookEventName": "UserPromptSubmit", "additionalContext": "The colour is teal."}
    return {"hookSpecificOutput": output}


async def remark(hook_input, tool_use_id, context):
    if "halt.txt" in str(hook_input["tool_input"]):
        return {"continue_": False, "stopReason": "That is enough."}
    output = {"hookEventName": "PostToolUse", "additionalContext": "The note is old."}
    return {"hookSpecificOutput": output}


async def keep_going(hook_input, tool_use_id, context):
    if kept or not hook_input.get("last_assistant_message", "").startswith("Half"):
        return {}
    kept.append(hook_input)
    return {"decision": "block", "reason": "Do the other half."}


async def main():
    (WORK / "note.txt").write_text("Buy milk.\n")
    (WORK / "halt.txt").write_text("Stop.\n")
    hooks = {
        "UserPromptSubmit": [HookMatcher(hooks=[favourite])],
        "PostToolUse": [HookMatcher(matcher="Read", hooks=[remark])],
        "Stop": [HookMatcher(hooks=[keep_going])],
    }
    async with ClaudeSDKClient(options(hooks=hooks)) as client:
        succeeded(await turn(client, "Which colour?"), "Teal, and the note is old.")
        succeeded(await turn(client, "Do the work."), "Both halves.")
        assert len(kept) == 1

        stopped = result(await turn(client, "Read the other note."))
        assert stopped.subtype == "success" and not stopped.is_error, stopped
        assert stopped.terminal_reason == "hook_stopped", stopped

        messages = await turn(client, "Tell the secret.")
        blocked = result(messages)
        assert texts(messages) == [] and blocked.num_turns == 0, blocked
        assert "No secrets here." in blocked.result, blocked
        succeeded(await turn(client, "Goodbye."), "Goodbye.")


anyio.run(main)
