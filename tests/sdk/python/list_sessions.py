"""Listings of what the engine writes: of a directory with the git worktrees of its repository, of all projects, up to a limit;
what stands for a session is its title, or else what was said first."""

import subprocess

import anyio

from claude_agent_sdk import list_sessions, rename_session
from engine import WORK, ask, succeeded


def git(*args):
    who = ["-c", "user.name=t", "-c", "user.email=t@t"]
    subprocess.run(["git", *who, *args], cwd=WORK / "tree", check=True)


async def main():
    for folder in ["tree", "elsewhere"]:
        (WORK / folder).mkdir()
    git("init", "--quiet", "--initial-branch=main")
    git("commit", "--quiet", "--allow-empty", "-m", "begin")
    git("worktree", "add", "--quiet", "-b", "side", "../side")

    said = {}
    for folder in ["tree", "side", "elsewhere"]:
        end = succeeded(await ask(f"In {folder}.", cwd=WORK / folder), "Yes.")
        said[folder] = end.session_id
    here = str(WORK / "tree")
    listed = {session.session_id: session for session in list_sessions(directory=here)}
    assert set(listed) == {said["tree"], said["side"]}, listed
    assert listed[said["side"]].git_branch == "side" and listed[said["tree"]].git_branch == "main"
    alone = list_sessions(directory=here, include_worktrees=False)
    assert [session.session_id for session in alone] == [said["tree"]]
    assert {session.session_id for session in list_sessions()} == set(said.values())
    assert [session.session_id for session in list_sessions(limit=1)] == [said["elsewhere"]]

    assert listed[said["tree"]].summary == "In tree."
    rename_session(said["tree"], "Roses", directory=here)
    titles = {session.session_id: session.summary for session in list_sessions(directory=here)}
    assert titles == {said["tree"]: "Roses", said["side"]: "In side."}, titles


anyio.run(main)
