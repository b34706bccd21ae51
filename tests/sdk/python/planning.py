"""What shapes a run beside its prompt: budgets, what is shown of thinking, where the place is told, the tool that decides, the
words as they are, settings."""

import json

import anyio

from claude_agent_sdk import create_sdk_mcp_server, tool
from engine import WORK, ToolResultBlock, ask, blocks, init, succeeded


@tool("decide", "Decides", {"tool_name": str, "input": dict})
async def decide(asked):
    answer = {"behavior": "allow", "updatedInput": asked["input"]}
    return {"content": [{"type": "text", "text": json.dumps(answer)}]}


async def main():
    succeeded(await ask("Within a budget.", task_budget={"total": 50_000}), "1")
    thinking = {"type": "adaptive", "display": "omitted"}
    succeeded(await ask("Silently.", model="claude-opus-4-6", thinking=thinking), "2")
    preset = {"type": "preset", "preset": "claude_code", "exclude_dynamic_sections": True}
    succeeded(await ask("Somewhere.", system_prompt=preset), "3")

    judge = create_sdk_mcp_server("judge", tools=[decide])
    name = "mcp__judge__decide"
    given = {"mcp_servers": {"judge": judge}, "permission_prompt_tool_name": name}
    messages = await ask("Who decides?", **given)
    succeeded(messages, "5")
    assert not any(block.is_error for block in blocks(messages, ToolResultBlock)), messages

    commands = WORK / ".claude/commands"
    commands.mkdir(parents=True)
    (commands / "greet.md").write_text("Greet warmly.\n")
    succeeded(await ask("/greet", verbatim_prompts=True), "6")
    succeeded(await ask("/greet"), "7")

    library = WORK.parent / "library"
    library.mkdir()
    (library / "book.txt").write_text("Chapter one.\n")
    settings = json.dumps({"outputStyle": "terse", "env": {"FROM_SETTINGS": "yes"}})
    messages = await ask(
        "Look.",
        settings=settings,
        add_dirs=[library],
        allowed_tools=["Bash"],
        env={"FROM_OPTIONS": "too"},
    )
    succeeded(messages, "9")
    assert init(messages)["output_style"] == "terse"
    read, ran = blocks(messages, ToolResultBlock)
    assert "Chapter one" in read.content and "yes too" in ran.content, (read, ran)


anyio.run(main)
