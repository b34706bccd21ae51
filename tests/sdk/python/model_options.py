"""Effort, thinking, betas, fallback and a client's name reach the model server as its API spells them."""

import anyio

from engine import ask, succeeded


async def main():
    succeeded(await ask("Effort.", model="claude-opus-4-6", effort="low"), "1")
    budget = {"type": "enabled", "budget_tokens": 2048}
    succeeded(await ask("Budget.", thinking=budget), "2")
    succeeded(await ask("None.", thinking={"type": "disabled"}), "3")
    succeeded(await ask("Old limit.", max_thinking_tokens=3000), "4")
    adaptive = {"type": "adaptive"}
    succeeded(await ask("Adaptive.", model="claude-opus-4-6", thinking=adaptive), "5")
    succeeded(await ask("Beta.", betas=["context-1m-2025-08-07"]), "6")
    end = succeeded(
        await ask("Fall back.", fallback_model="claude-haiku-4-5", env={"CLAUDE_CODE_MAX_RETRIES": "0"})
    )
    assert end.result == "8" and "claude-haiku-4-5" in end.model_usage, end


anyio.run(main)
