"""A text prompt gives a stream of typed messages: what the session is, what the model says, how it ended."""

import anyio

from claude_agent_sdk import AssistantMessage, SystemMessage
from engine import MODEL, WORK, ask, init, of_type, succeeded, texts


async def main():
    messages = await ask("Say hello.")
    assert isinstance(messages[0], SystemMessage), messages
    about = init(messages)
    assert about["model"] == MODEL and about["cwd"] == str(WORK), about
    assert about["permissionMode"] == "default" and "Read" in about["tools"], about
    assert about["apiKeySource"] and about["claude_code_version"].count(".") == 2, about
    assert texts(messages) == ["Hello from the engine."]
    spoken = of_type(messages, AssistantMessage)[0]
    assert spoken.model == MODEL and spoken.parent_tool_use_id is None and spoken.uuid
    end = succeeded(messages, "Hello from the engine.")
    assert end.session_id == about["session_id"] == spoken.session_id
    assert end.num_turns == 1 and end.stop_reason == "end_turn"
    assert end.duration_ms >= 0 and end.duration_api_ms >= 0
    assert end.usage["input_tokens"] == 1000 and end.usage["output_tokens"] == 100
    # $3 and $15 for a million tokens.
    assert abs(end.total_cost_usd - 0.0045) < 1e-9, end.total_cost_usd
    assert end.model_usage[MODEL]["outputTokens"] == 100, end.model_usage
    assert end.permission_denials in (None, [])


anyio.run(main)
