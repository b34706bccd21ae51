"""A plugin's folder brings commands and agents under its name; one that cannot be loaded is left out."""

import anyio

from engine import WORK, ask, init, succeeded


async def main():
    plugin = WORK / "plugins/notes"
    (plugin / ".claude-plugin").mkdir(parents=True)
    (plugin / "commands").mkdir()
    (plugin / "agents").mkdir()
    (plugin / ".claude-plugin/plugin.json").write_text('{"name": "notes", "version": "1.0.0"}')
    (plugin / "commands/greet.md").write_text("---\ndescription: Greets\n---\nSay hello to $ARGUMENTS.\n")
    (plugin / "agents/writer.md").write_text("---\nname: writer\ndescription: Writes\n---\nYou write.\n")

    said = []
    plugins = [{"type": "local", "path": str(plugin)}, {"type": "local", "path": str(WORK / "gone")}]
    messages = await ask("/notes:greet Ada", plugins=plugins, stderr=said.append)
    succeeded(messages, "Hello.")
    about = init(messages)
    assert about["plugins"] == [{"name": "notes", "path": str(plugin)}], about["plugins"]
    assert "notes:greet" in about["slash_commands"] and "notes:writer" in about["agents"], about
    assert any("gone" in line for line in said), said


anyio.run(main)
