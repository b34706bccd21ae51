"""Commands are confined by the operating system: unasked in the workspace, and not beyond it."""

import anyio

from engine import WORK, ask, results, said_by, succeeded


async def main():
    said = []
    messages = await ask("Work.", sandbox={"enabled": True}, stderr=said.append)
    if any("commands are not confined here" in line for line in said):
        print("not tried:", said)
        return
    answers = results(messages)
    assert "within" in said_by(answers["toolu_1_1"]), answers
    assert (WORK / "inside.txt").read_text() == "within\n"
    assert answers["toolu_1_2"].is_error, answers
    assert not (WORK.parent / "outside.txt").exists()
    assert not succeeded(messages, "Done.").permission_denials


anyio.run(main)
