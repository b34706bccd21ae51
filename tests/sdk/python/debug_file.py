"""What the engine does, in a file, where it is asked for."""

import anyio

from engine import WORK, ask, succeeded


async def main():
    said = []
    log = WORK / "debug.log"
    arguments = {"debug-file": str(log)}
    succeeded(await ask("Hello.", stderr=said.append, extra_args=arguments), "Hello.")
    assert log.stat().st_size > 0 and said == [], said


anyio.run(main)
