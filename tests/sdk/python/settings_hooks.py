"""Commands of a settings file are hooks: they deny a call, hear of another, add context and keep the loop going."""

import json

import anyio

from engine import WORK, ask, results, succeeded


def command(line: str) -> dict:
    return {"type": "command", "command": line, "timeout": 30}


HOOKS = {
    "SessionStart": [{"hooks": [command("echo It is spring.")]}],
    "PreToolUse": [
        {"matcher": "Read", "hooks": [command("grep -q secret && { echo Not that file. >&2; exit 2; }; exit 0")]}
    ],
    "PostToolUse": [{"hooks": [command('touch "$CLAUDE_PROJECT_DIR/was-read"')]}],
    "Stop": [{"hooks": [command("test -e stopped && exit 0; touch stopped; echo Say goodbye too. >&2; exit 2")]}],
}


async def main():
    (WORK / ".claude").mkdir()
    (WORK / ".claude/settings.json").write_text(json.dumps({"hooks": HOOKS}))
    (WORK / "secret.txt").write_text("hidden\n")
    (WORK / "poem.txt").write_text("Roses are red.\n")

    messages = await ask("Read them.", setting_sources=["project"])
    succeeded(messages, "Goodbye.")
    assert "Not that file." in str(results(messages)["toolu_1_1"].content)
    assert (WORK / "was-read").exists()

    messages = await ask("Read it.", setting_sources=[])
    succeeded(messages, "Freely read.")


anyio.run(main)
