"""Files go back to what they were at a prompt; without checkpoints that is refused in words."""

import anyio

from claude_agent_sdk import ClaudeSDKClient, UserMessage
from engine import WORK, of_type, options, succeeded, turn


async def main():
    path = WORK / "poem.txt"
    path.write_text("Roses are red.\n")
    given = options(
        enable_file_checkpointing=True,
        permission_mode="acceptEdits",
        extra_args={"replay-user-messages": None},
    )
    async with ClaudeSDKClient(given) as client:
        messages = await turn(client, "Improve the poem.")
        succeeded(messages, "Improved.")
        assert path.read_text() == "Violets are blue.\n" and (WORK / "new.txt").exists()
        prompts = [
            m
            for m in of_type(messages, UserMessage)
            if "Improve the poem." in str(m.content) and m.uuid
        ]
        await client.rewind_files(prompts[0].uuid)
        assert path.read_text() == "Roses are red.\n" and not (WORK / "new.txt").exists()
    async with ClaudeSDKClient(options()) as client:
        succeeded(await turn(client, "Hello."), "Hello.")
        try:
            await client.rewind_files(prompts[0].uuid)
            raise AssertionError("rewound without checkpoints")
        except Exception as error:
            assert "not enabled" in str(error), error


anyio.run(main)
