"""Questions to a table in a CSV file, answered with Python's own csv module.

A table is read once for a session, and again when its file has changed: the instance is kept from call to call.
"""

import csv
import os
from collections import defaultdict
from dataclasses import dataclass
from typing import Annotated, Literal

from windlass_plugin import Plugin, Result, ToolError

plugin = Plugin(
    "csv",
    "0.1.0",
    filesystem="read",
    memory_bytes=128 << 20,
    timeout_ms=20_000,
    output_bytes=1 << 20,
    instance="session",
)


@dataclass
class QueryCsv:
    file_path: Annotated[str, "The CSV file; its first line has the names of the columns."]
    column: Annotated[str, "The column with the values."]
    operation: Annotated[Literal["sum", "mean", "min", "max", "count"], "What to do with them."]
    group_by: Annotated[str | None, "A column: one answer for each of its values."] = None


@dataclass
class Table:
    version: tuple[int, int]
    columns: list[str]
    rows: list[tuple[int, dict[str, str]]]


OPERATIONS = {
    "sum": sum,
    "mean": lambda values: sum(values) / len(values),
    "min": min,
    "max": max,
    "count": len,
}

#: The table that was asked last, by its path: memory is limited for as long as the instance lasts.
kept: dict[str, Table] = {}


@plugin.tool(read_only=True, idempotent=True, paths={"file_path": "read"}, retry="run_again")
def query_csv(input: QueryCsv) -> Result:
    """Adds up, averages or counts the numbers in a column of a CSV file, all of them or by groups."""
    table = _table(input.file_path)
    for name in filter(None, (input.column, input.group_by)):
        if name not in table.columns:
            raise ToolError(f"There is no column {name}; there are {', '.join(table.columns)}.")
    groups: defaultdict[str, list[float]] = defaultdict(list)
    for line, row in table.rows:
        group = row[input.group_by] if input.group_by else ""
        groups[group].append(_number(row[input.column], input, line))
    answers = {group: OPERATIONS[input.operation](values) for group, values in sorted(groups.items())}
    lines = [f"{group}: {answer:g}" if group else f"{answer:g}" for group, answer in answers.items()]
    return Result(["\n".join(lines) or "The file has no rows."], structured=answers)


def _table(path: str) -> Table:
    found = os.stat(path)
    version = (found.st_mtime_ns, found.st_size)
    if path in kept and kept[path].version == version:
        return kept[path]
    kept.clear()
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        rows = [(reader.line_num, row) for row in reader]
        kept[path] = Table(version, list(reader.fieldnames or []), rows)
    return kept[path]


def _number(text: str, input: QueryCsv, line: int) -> float:
    if input.operation == "count":
        return 0.0
    try:
        return float(text)
    except (TypeError, ValueError):
        raise ToolError(f"Line {line}: {text!r} in the column {input.column} is no number.") from None


WitWorld = plugin.exports()
