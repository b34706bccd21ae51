"""A command in the background: told when it starts, stopped by its id, told when it has ended."""

import anyio

from claude_agent_sdk import (
    ClaudeSDKClient,
    ResultMessage,
    TaskNotificationMessage,
    TaskStartedMessage,
)
from engine import options, turn, of_type


async def main():
    async with ClaudeSDKClient(options(allowed_tools=["Bash"])) as client:
        messages = await turn(client, "Wait in the background.")
        (started,) = of_type(messages, TaskStartedMessage)
        await client.stop_task(started.task_id)
        async for message in client.receive_messages():
            if isinstance(message, TaskNotificationMessage):
                assert message.task_id == started.task_id, message
                assert message.status == "stopped", message
                break
    assert of_type(messages, ResultMessage)


anyio.run(main)
