"""Tools read, write and run; what is allowed by name runs unasked, what is not is denied where nobody can be asked."""

import anyio

from engine import WORK, ask, calls, init, results, said_by, succeeded


async def main():
    (WORK / "note.txt").write_text("Buy milk.\n")
    messages = await ask(
        "Work.",
        allowed_tools=["Write", "Bash(touch made.txt)"],
        disallowed_tools=["Glob"],
        tools=["Read", "Write", "Bash", "Glob"],
    )
    about = init(messages)
    assert "Read" in about["tools"] and "Glob" not in about["tools"], about["tools"]
    assert "Grep" not in about["tools"], about["tools"]
    assert calls(messages) == ["Read", "Write", "Bash", "Bash"], calls(messages)
    answers = results(messages)
    assert "Buy milk." in said_by(answers["toolu_1_1"])
    assert not answers["toolu_2_1"].is_error and (WORK / "new.txt").read_text() == "new\n"
    assert not answers["toolu_3_1"].is_error and (WORK / "made.txt").exists()
    assert answers["toolu_3_2"].is_error and not (WORK / "other.txt").exists()
    end = succeeded(messages, "Done.")
    assert end.num_turns == 5, end
    denied = end.permission_denials
    assert [denial["tool_name"] for denial in denied] == ["Bash"], denied
    assert denied[0]["tool_use_id"] == "toolu_3_2", denied


anyio.run(main)
