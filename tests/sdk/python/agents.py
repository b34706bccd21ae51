"""A subagent defined by option: named at the start, run by the Agent tool, its frames marked as its own."""

import anyio

from claude_agent_sdk import (
    AgentDefinition,
    AssistantMessage,
    TaskNotificationMessage,
    TaskStartedMessage,
    UserMessage,
)
from engine import WORK, ask, init, of_type, results, said_by, succeeded


async def main():
    (WORK / "note.txt").write_text("Buy milk.\n")
    agents = {
        "reader": AgentDefinition(
            description="Reads notes", prompt="You read notes.", tools=["Read"], model="haiku"
        )
    }
    messages = await ask("Have it read.", agents=agents)
    assert "reader" in init(messages)["agents"], init(messages)["agents"]
    succeeded(messages, "Milk.")
    assert "It says: buy milk." in said_by(results(messages)["toolu_1_1"])
    own = [
        m
        for m in of_type(messages, AssistantMessage) + of_type(messages, UserMessage)
        if m.parent_tool_use_id == "toolu_1_1"
    ]
    assert len(own) == 2, own
    assert {block.id for m in own[:1] for block in m.content} == {"toolu_2_1"}, own
    (started,) = of_type(messages, TaskStartedMessage)
    (ended,) = of_type(messages, TaskNotificationMessage)
    assert started.task_id == ended.task_id and ended.status == "completed", ended
    assert started.tool_use_id == "toolu_1_1", started

    # Its words come too where they are asked for.
    messages = await ask("Have it read.", agents=agents, forward_subagent_text=True)
    said = [
        block.text
        for m in of_type(messages, AssistantMessage)
        if m.parent_tool_use_id
        for block in m.content
        if hasattr(block, "text")
    ]
    assert said == ["It says: buy milk."], said


anyio.run(main)
