from dataclasses import dataclass
from typing import Annotated

from windlass_plugin import Plugin

plugin = Plugin("{{name}}", "0.1.0", filesystem="read", memory_bytes=128 * 1024 * 1024, timeout_ms=20_000)


@dataclass
class CountLines:
    file_path: Annotated[str, "The text file."]


# Permission rules judge the fields in `paths`, and a call reaches what they name.
@plugin.tool(read_only=True, idempotent=True, paths={"file_path": "read"}, retry="run_again")
def count_lines(input: CountLines) -> str:
    """Counts the lines of a text file."""
    with open(input.file_path, encoding="utf-8") as file:
        return f"{sum(1 for _ in file)} lines"


WitWorld = plugin.exports()
