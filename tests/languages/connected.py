"""A guest that uses everything beside files: hooks, requests, a secret, what it remembers, settings and reports."""

from dataclasses import dataclass

from windlass_plugin import (
    Directory,
    HookEvent,
    Judgement,
    Plugin,
    Request,
    Response,
    Secret,
    ask,
    config,
    deny,
    http,
    narrow,
    pass_,
    progress,
    secrets,
    state,
)

SERVER = "http://localhost"

plugin = Plugin(
    "connected-python",
    "0.1.0",
    filesystem="read",
    directories=[Directory("outside", "read", "where something is to read")],
    http=[{"origin": SERVER, "methods": ["GET", "POST"]}],
    secrets=[Secret("TOKEN", "A token of the server", [SERVER])],
    env=["CARGO_PKG_NAME"],
    state="session",
    host_calls=10_000,
    log_bytes=10_000,
    http_bytes=1 << 20,
)


@dataclass
class Use:
    how: str
    path: str = ""
    url: str = ""


@plugin.tool(paths={"path": "read"})
def use(input: Use) -> str:
    """Uses what the plugin was granted."""
    return ACTIONS[input.how](input)


def shown(answer: Response) -> str:
    return f"{answer.status} {answer.header('Content-Type')} {answer.text()}"


def remember(_: Use) -> str:
    state.set_json("list", [1, "zwei"])
    state.set("bytes", bytes([0, 255]))
    state.set("gone", b"text")
    state.remove("gone")
    return " ".join(state.keys())


def report(_: Use) -> str:
    progress.report("half", 0.5)
    progress.report("more")
    return "reported"


def read(input: Use) -> str:
    with open(input.path, encoding="utf-8") as file:
        return file.read()


def directory(_: Use) -> str:
    with open(f"{config.directory('outside')}/secret.txt", encoding="utf-8") as file:
        return f"{file.read()} {config.directory('other')}"


ACTIONS = {
    "get": lambda input: shown(http.get(input.url, {"x-mine": "1"})),
    "post": lambda input: shown(http.post_json(input.url, {"text": "grün"})),
    "put": lambda input: shown(http.send(Request("PUT", input.url, body="x"))),
    "secret": lambda input: shown(secrets.send(Request("GET", input.url), secrets.bearer("TOKEN"))),
    "basic": lambda input: shown(secrets.send(Request("POST", input.url, body="[1]"), secrets.basic("bot", "TOKEN"))),
    "long": lambda input: http.get(input.url).text(10),
    "available": lambda _: f"{secrets.available('TOKEN')} {secrets.available('OTHER')}".lower(),
    "config": lambda _: f"{config.get('CARGO_PKG_NAME')} {config.get('HOME')}",
    "remember": remember,
    "recall": lambda _: f"{state.get_json('list')} {list(state.get('bytes'))} {state.get('gone')}",
    "seen": lambda _: " ".join(state.get_json("seen")),
    "key": lambda _: state.get(""),
    "progress": report,
    "read": read,
    "directory": directory,
}


@plugin.judge(on="PreToolUse", matcher="Use", timeout_ms=60_000)
def policy(event: HookEvent) -> Judgement:
    match event.input["tool_input"].get("url"):
        case "denied":
            return deny(f"denied at {event.event}, {type(event.tool_use_id).__name__}")
        case "asked":
            return ask("asked by the policy")
        case "narrowed":
            return narrow(without=["secret.txt"], within_ms=20_000)
        case "nothing":
            return None
        case "failing":
            raise ValueError("the policy broke")
    return pass_()


@plugin.observer(on="PostToolUse", timeout_ms=60_000)
def audit(event: HookEvent) -> None:
    state.set_json("seen", [*(state.get_json("seen") or []), event.input["tool_input"]["how"]])


WitWorld = plugin.exports()
