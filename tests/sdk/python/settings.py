"""Settings, agents, commands and instructions come from the sources that are named, and from no others."""

import json

import anyio

from engine import WORK, ask, init, results, succeeded


async def main():
    project = WORK / ".claude"
    (project / "agents").mkdir(parents=True)
    (project / "commands").mkdir()
    (project / "agents/reviewer.md").write_text(
        "---\nname: reviewer\ndescription: Reviews\n---\nYou review.\n"
    )
    (project / "commands/commit.md").write_text("---\ndescription: Commits\n---\nCommit it.\n")
    (project / "settings.local.json").write_text(json.dumps({"outputStyle": "pirate"}))
    (project / "settings.json").write_text(json.dumps({"permissions": {"deny": ["Read(secret.txt)"]}}))
    (WORK / "CLAUDE.md").write_text("Always answer in verse.\n")
    (WORK / "secret.txt").write_text("hidden\n")

    messages = await ask("With.", setting_sources=["user", "project", "local"])
    succeeded(messages, "In verse.")
    about = init(messages)
    assert "reviewer" in about["agents"] and "commit" in about["slash_commands"], about
    assert about["output_style"] == "pirate", about
    assert results(messages)["toolu_1_1"].is_error

    messages = await ask("Without.", setting_sources=[])
    succeeded(messages, "In prose.")
    about = init(messages)
    assert "reviewer" not in about["agents"] and "commit" not in about["slash_commands"]
    assert about["output_style"] == "default", about


anyio.run(main)
