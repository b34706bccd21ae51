"""A run in which nothing goes wrong says nothing on standard error."""

import anyio

from engine import ask, succeeded


async def main():
    said = []
    succeeded(await ask("Hello.", stderr=said.append), "Hello.")
    assert said == [], said


anyio.run(main)
