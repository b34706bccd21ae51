"""The system prompt is the caller's, the engine's own by preset, that with something behind it, or a file's."""

import anyio

from engine import WORK, ask, succeeded


async def main():
    succeeded(await ask("Own.", system_prompt="You are a pirate."), "Arr.")
    preset = {"type": "preset", "preset": "claude_code"}
    succeeded(await ask("Preset.", system_prompt=preset), "Preset.")
    succeeded(await ask("Longer.", system_prompt={**preset, "append": "End with a fact."}), "Fact.")
    (WORK / "prompt.md").write_text("You are a lighthouse.")
    file = {"type": "file", "path": str(WORK / "prompt.md")}
    succeeded(await ask("From a file.", system_prompt=file), "Beam.")
    succeeded(await ask("None."), "Bare.")


anyio.run(main)
