"""Where an engine runs and as whom, which of the folder it takes up, on whose behalf it asks: cwd, user, model, permission_mode,
skills, strict_mcp_config, client_app, stderr."""

import json
import os
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import anyio

from claude_agent_sdk import CLIConnectionError, ResultError
from engine import ENGINE, TESTS, WORK, ToolResultBlock, ask, blocks, init, said_by, succeeded

heard = []


class Refusing(BaseHTTPRequestHandler):
    """A model server that only looks who asks."""

    def do_POST(self):
        heard.append(self.headers["user-agent"])
        self.send_error(400)

    def log_message(self, *_):
        pass


def project() -> Path:
    """A folder with skills and a server."""
    folder = WORK / "project"
    for name in ["knots", "sails"]:
        skill = folder / f".claude/skills/{name}"
        skill.mkdir(parents=True)
        (skill / "SKILL.md").write_text(f"---\nname: {name}\ndescription: About {name}\n---\nDo it.\n")
    server = {"command": "python3", "args": [str(TESTS / "servers/notes.py")]}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"notes": server}}))
    return folder


async def as_nobody():
    """Only root may start an engine as somebody else."""
    if os.getuid() != 0:
        try:
            messages = await ask("Who am I?", user="nobody")
            raise AssertionError(messages)
        except CLIConnectionError:
            return
    world = WORK.parent
    for folder in [world, *(entry for entry in world.iterdir() if entry.is_dir())]:
        folder.chmod(0o777)
    # The way there may be closed to others.
    engine = world / "bin/engine"
    engine.write_bytes(Path(ENGINE).read_bytes())
    engine.chmod(0o755)
    theirs = world / "theirs"
    theirs.mkdir()
    theirs.chmod(0o777)
    given = {"user": "nobody", "cli_path": engine, "allowed_tools": ["Bash"]}
    messages = await ask("Who am I?", env={"CLAUDE_CONFIG_DIR": str(theirs)}, **given)
    succeeded(messages, "Nobody.")
    (who,) = blocks(messages, ToolResultBlock)
    assert "nobody" in said_by(who), who


async def main():
    folder = project()
    messages = await ask(
        "All of it.", cwd=folder, model="claude-haiku-4-5", setting_sources=["project"]
    )
    succeeded(messages, "1")
    about = init(messages)
    assert about["cwd"] == str(folder.resolve()), about
    assert [server["name"] for server in about["mcp_servers"]] == ["notes"], about
    assert sorted(about["skills"]) == ["knots", "sails"], about
    messages = await ask("Less.", cwd=folder, skills=["knots"], strict_mcp_config=True)
    succeeded(messages, "2")
    about = init(messages)
    assert about["mcp_servers"] == [] and about["skills"] == ["knots"], about

    succeeded(await ask("Write.", permission_mode="acceptEdits"), "4")
    succeeded(await ask("Write.", permission_mode="default"), "6")
    assert (WORK / "made.txt").exists() and not (WORK / "refused.txt").exists()

    server = HTTPServer(("127.0.0.1", 0), Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    elsewhere = {
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_port}",
        "CLAUDE_CODE_MAX_RETRIES": "0",
    }
    try:
        messages = await ask("Who asks?", env=elsewhere, client_app="tests/1.0")
        raise AssertionError(messages)
    except ResultError:
        assert heard and all("tests/1.0" in agent for agent in heard), heard

    loud = []
    succeeded(await ask("Aloud.", stderr=loud.append, extra_args={"debug-to-stderr": None}), "7")
    assert loud, "what the engine says on standard error reaches the callback"

    if os.getuid() != 0:
        succeeded(await ask("Who am I?", allowed_tools=["Bash"]), "Nobody.")
    await as_nobody()


anyio.run(main)
