"""Commands of a settings file are hooks: they deny a call, hear of another, add context and keep the loop going."""

import json

import anyio

from claude_agent_sdk import HookEventMessage
from engine import WORK, ask, of_type, results, succeeded


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

    given = {"setting_sources": ["project"], "include_hook_events": True}
    messages = await ask("Read them.", **given)
    succeeded(messages, "Goodbye.")
    told = [(m.subtype, m.data["hook_event"]) for m in of_type(messages, HookEventMessage)]
    assert ("hook_started", "PreToolUse") in told and ("hook_response", "Stop") in told, told
    assert "Not that file." in str(results(messages)["toolu_1_1"].content)
    assert (WORK / "was-read").exists()

    messages = await ask("Read it.", setting_sources=[])
    succeeded(messages, "Freely read.")

    # Where nobody wants to know, hooks run without a word.
    messages = await ask("Read another.", setting_sources=["project"])
    assert not of_type(messages, HookEventMessage), messages
    assert "Not that file." in str(results(messages)["toolu_7_1"].content)


anyio.run(main)
