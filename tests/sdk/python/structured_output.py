"""A schema for the answer: what does not fit is sent back, what fits is the result as data."""

import json

import anyio

from engine import ask, succeeded

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "legs": {"type": "integer"}},
    "required": ["name", "legs"],
    "additionalProperties": False,
}


async def main():
    shape = {"type": "json_schema", "schema": SCHEMA}
    messages = await ask("Describe a spider.", output_format=shape)
    end = succeeded(messages)
    assert end.structured_output == {"name": "spider", "legs": 8}, end
    assert json.loads(end.result) == end.structured_output, end


anyio.run(main)
