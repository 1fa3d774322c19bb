"""The command, the gateway and the package take the same steps: windows are the same bytes in each of them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import cupel_context as cupel
import pytest

TOKENIZER = "o200k_base"
"""Exact for whoever names it, so that nothing is kept free for errors."""

CONVERSATION = "x-cupel-conversation"

Body = dict[str, Any]


@dataclass
class Step:
    """A request of a conversation, and what becomes of it."""

    body: Body
    max_tokens: int
    is_answered: bool = True
    """Whether the provider answers; else it fails, and the step does not count."""
    waits: bool = False
    """Whether the provider has forgotten the step before."""


@dataclass
class Situation:
    """A conversation that the three are led through."""

    steps: list[Step]
    path: str = "/v1/chat/completions"
    name: str | None = "one"
    """The name that the gateway is told; without one it knows a conversation by its history."""
    settings: dict[str, str] = field(default_factory=dict)
    """Settings of the engine, as flags, in the gateway's file and as keywords."""


# ---------------------------------------------------------------------------------------------------------------------
# What is said


def user(text: str) -> Body:
    return {"role": "user", "content": text}


def assistant(text: str) -> Body:
    return {"role": "assistant", "content": text}


def talk(turns: int, size: int = 12) -> list[Body]:
    """So many answered questions, and one more; a longer talk begins with a shorter one."""
    said: list[Body] = []
    for turn in range(turns + 1):
        said.append(user(f"Question {turn}: where is box {turn * 37} of the depot?"))
        said.append(assistant(f"Box {turn * 37} is in hall {turn}. " + f"It is row {turn}. " * size))
    return said[:-1]


def work(steps: int, at_once: int = 1) -> list[Body]:
    """An agent that reads files, so many at once; a longer run begins with a shorter one."""
    said = [user("Find out which file opens the valve, and mend it.")]
    for step in range(steps):
        ids = [f"call_{step}_{one}" for one in range(at_once)]
        calls = [
            {
                "id": id,
                "type": "function",
                "function": {"name": "read", "arguments": json.dumps({"path": f"src/part_{id}.py"})},
            }
            for id in ids
        ]
        said.append({"role": "assistant", "content": None, "tool_calls": calls})
        for id in ids:
            text = f"# part {id}\n" + "".join(f"valve_{id}_{line} = {line}\n" for line in range(12))
            said.append({"role": "tool", "tool_call_id": id, "content": text})
    return said


def blocks(steps: int, marked: bool = False) -> list[Body]:
    """The same in the manner of Anthropic, with thinking; with a mark for the cache behind the newest."""
    said = [user("Find out which file opens the valve, and mend it.")]
    for step in range(steps):
        thinking = {"type": "thinking", "thinking": f"Part {step} is next.", "signature": f"s{step}"}
        call = {"type": "tool_use", "id": f"t{step}", "name": "read", "input": {"path": f"part_{step}.py"}}
        said.append({"role": "assistant", "content": [thinking, call]})
        text = "".join(f"valve_{step}_{line} = {line}\n" for line in range(14))
        result: Body = {"type": "tool_result", "tool_use_id": f"t{step}", "content": text}
        if marked and step == steps - 1:
            result["cache_control"] = {"type": "ephemeral"}
        said.append({"role": "user", "content": [result]})
    return said


def chat(messages: list[Body], model: str = "tiny", **fields: Any) -> Body:
    return {"model": model, "messages": messages, **fields}


def anthropic(messages: list[Body], **fields: Any) -> Body:
    thinking = {"type": "enabled", "budget_tokens": 1024}
    return {"model": "tiny", "max_tokens": 0, "thinking": thinking, "messages": messages, **fields}


def gemini(steps: int) -> Body:
    said: list[Body] = [{"role": "user", "parts": [{"text": "Which file opens the valve?"}]}]
    for step in range(steps):
        call = {"functionCall": {"name": "read", "args": {"path": f"part_{step}.py"}}}
        said.append({"role": "model", "parts": [call]})
        result = {"lines": [f"valve_{step}_{line} = {line}" for line in range(12)]}
        said.append({"role": "user", "parts": [{"functionResponse": {"name": "read", "response": result}}]})
    return {"contents": said}


def responses(steps: int) -> Body:
    said: list[Body] = [{"type": "message", "role": "user", "content": "Which file opens the valve?"}]
    for step in range(steps):
        arguments = json.dumps({"path": f"part_{step}.py"})
        said.append({"type": "function_call", "call_id": f"c{step}", "name": "read", "arguments": arguments})
        output = "".join(f"valve_{step}_{line} = {line}\n" for line in range(12))
        said.append({"type": "function_call_output", "call_id": f"c{step}", "output": output})
    return {"model": "tiny", "input": said}


TOOL = {"type": "function", "function": {"name": "read", "parameters": {"type": "object", "properties": {}}}}


def growing(bodies: list[Body], max_tokens: int) -> list[Step]:
    return [Step(body, max_tokens) for body in bodies]


def situations() -> dict[str, Situation]:
    long = "The depot has many halls. " * 30
    edited = talk(8)
    edited[5] = assistant("Box 74 was moved to hall 99.")
    compacted = [user("So far: boxes 0 to 259 were found."), assistant("Yes."), *talk(8)[16:]]
    accents = [user("Où est la caisse n° 7 – « bleue » ? 📦"), assistant('In "hall"\t3\\4. ' * 30), *talk(4)]
    system = {"role": "system", "content": "You know the depot."}
    other = {"role": "system", "content": "You know another depot."}
    return {
        "all of it fits": Situation(growing([chat(talk(turns)) for turns in range(1, 5)], 4_000)),
        "a talk outgrows its room": Situation(growing([chat(talk(turns)) for turns in range(1, 14)], 500)),
        "known by its history alone": Situation(
            growing([chat(talk(turns)) for turns in range(1, 14)], 500), name=None
        ),
        "the first request is too long": Situation(growing([chat(talk(20)), chat(talk(21))], 500)),
        "small room, then room for all": Situation(
            [Step(chat(talk(9)), 200), Step(chat(talk(9), "large"), 100_000)]
        ),
        "room for all, then small room": Situation(
            [Step(chat(talk(9)), 100_000), Step(chat(talk(10), "small"), 300)]
        ),
        "the same request again": Situation(growing([chat(talk(12))] * 3, 400)),
        "a call that failed is repeated": Situation(
            [
                Step(chat(talk(9)), 400),
                Step(chat(talk(12)), 400, is_answered=False),
                Step(chat(talk(12)), 400),
            ]
        ),
        "a call that failed is left behind": Situation(
            [
                Step(chat(talk(9)), 400),
                Step(chat([*talk(10), assistant(long)]), 400, is_answered=False),
                Step(chat(talk(11)), 400),
            ]
        ),
        "the history was edited": Situation(
            growing(
                [chat(talk(7)), chat(edited), chat([*edited, assistant("Yes."), user("And box 1?")])], 450
            )
        ),
        "the user went back": Situation(growing([chat(talk(12)), chat(talk(6)), chat(talk(7))], 450)),
        "the history was compacted": Situation(growing([chat(talk(8)), chat(compacted), chat(talk(9))], 450)),
        "another conversation by the same name": Situation(
            growing([chat(talk(9)), chat(work(9)), chat(work(10))], 450)
        ),
        "the system prompt changed": Situation(
            growing(
                [chat([head, *talk(turns)]) for head, turns in ((system, 8), (other, 9), (other, 10))], 450
            )
        ),
        "tools came along": Situation(
            growing([chat(work(5)), chat(work(6), tools=[TOOL]), chat(work(7), tools=[TOOL])], 700)
        ),
        "another model": Situation(
            growing(
                [chat(talk(8), "gpt-4o"), chat(talk(9), "gpt-4o-mini"), chat(talk(10), "gpt-4o-mini")], 450
            )
        ),
        "the provider has forgotten": Situation(
            [Step(chat(talk(9)), 400), Step(chat(talk(10)), 400, waits=True), Step(chat(talk(11)), 400)]
        ),
        "one message takes nearly all of the room": Situation(
            growing([chat(talk(9)), chat([*talk(9), assistant("So?"), user(long)]), chat(talk(10))], 450)
        ),
        "what must be kept does not fit": Situation(
            [
                Step(chat(talk(5)), 450),
                Step(chat([system, *talk(5), assistant("So?"), user(long * 4)]), 450),
                Step(chat(talk(6)), 450),
            ]
        ),
        "steps of an agent": Situation(growing([chat(work(steps)) for steps in range(1, 16)], 900)),
        "several calls at once": Situation(growing([chat(work(steps, 3)) for steps in range(1, 7)], 1_200)),
        "results may be shortened": Situation(
            growing([chat(work(steps)) for steps in range(1, 12)], 700), settings={"shorten": "all"}
        ),
        "letters beyond ASCII": Situation(growing([chat(accents), chat([*accents, *talk(6)[8:]])], 300)),
        "thinking and results in blocks": Situation(
            growing([anthropic(blocks(steps)) for steps in range(1, 12)], 1_000), path="/v1/messages"
        ),
        "marks for the cache": Situation(
            growing([anthropic(blocks(steps, marked=True)) for steps in range(1, 12)], 1_000),
            path="/v1/messages",
        ),
        "parts of Gemini": Situation(
            growing([gemini(steps) for steps in range(1, 12)], 900),
            path="/v1beta/models/tiny:generateContent",
        ),
        "items of Responses": Situation(
            growing([responses(steps) for steps in range(1, 12)], 900), path="/v1/responses"
        ),
    }


# ---------------------------------------------------------------------------------------------------------------------
# The three


def built() -> Path:
    """The command with its gateway, as `./test` has built it."""
    if "BUILT" not in os.environ:
        pytest.skip("`./test` builds the gateway; BUILT names the folder of the command")
    return Path(os.environ["BUILT"]) / "cupel"


class Upstream:
    """A provider that answers nothing, and notes what it is sent."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.is_up = True
        self.url = ""


@contextmanager
def upstream() -> Iterator[Upstream]:
    provider = Upstream()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            provider.sent.append(self.rfile.read(int(self.headers["content-length"])).decode())
            self.send_response(200 if provider.is_up else 500)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    provider.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()


def by_gateway(situation: Situation, folder: Path) -> list[str | None]:
    """The windows that a provider is sent; none where the gateway refuses."""
    lines = ['listen = "127.0.0.1:0"', f'tokenizer = "{TOKENIZER}"', 'fail = "closed"', 'log = "off"']
    lines += [f'{name} = "{value}"' for name, value in situation.settings.items()]
    # The gateway has a budget for each model; of one model all steps have the same here.
    rooms = {step.body.get("model", "tiny"): step.max_tokens for step in situation.steps}
    lines += [f'[[limits]]\nmodel = "{model}"\nmax = {room}' for model, room in rooms.items()]
    lines += ['[sessions]\ncache_marks = "keep"\nresend = "30%"\nlifetime = "2s"']
    file = folder / "gateway.toml"
    windows: list[str | None] = []
    with upstream() as provider:
        file.write_text("\n".join([f'upstream = "{provider.url}"', *lines]), encoding="utf-8")
        gateway = subprocess.Popen(
            [built(), "gateway", "--config", file],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            assert gateway.stdout is not None
            said = gateway.stdout.readline()
            address = re.search(r"http://[\w.:]+", said)
            assert address, said + gateway.stdout.read()
            for step in situation.steps:
                if step.waits:
                    time.sleep(2.1)
                provider.is_up = step.is_answered
                windows.append(asked(address[0] + situation.path, situation.name, step, provider))
        finally:
            gateway.terminate()
            gateway.wait(timeout=10)
    return windows


def asked(url: str, name: str | None, step: Step, provider: Upstream) -> str | None:
    headers = {"content-type": "application/json", "authorization": "Bearer k"}
    if name:
        headers[CONVERSATION] = name
    before = len(provider.sent)
    request = urllib.request.Request(url, text_of(step).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            answer.read()
    except urllib.error.HTTPError as error:
        error.read()
    return provider.sent[-1] if len(provider.sent) > before else None


def by_command(situation: Situation, folder: Path) -> list[str | None]:
    windows: list[str | None] = []
    session, input, output = folder / "session", folder / "request.json", folder / "window.json"
    flags = [word for name, value in situation.settings.items() for word in (f"--{name}", value)]
    for now, step in clocked(situation):
        input.write_text(text_of(step), encoding="utf-8")
        output.unlink(missing_ok=True)
        command = [str(built()), "select", str(input), "--max", str(step.max_tokens)]
        command += ["--tokenizer", TOKENIZER, *flags, "--session", str(session)]
        command += ["--at", str(now), "--output", str(output)]
        command += [] if step.is_answered else ["--propose"]
        ran = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
        assert ran.returncode in (0, 1), ran.stderr
        windows.append(output.read_text(encoding="utf-8") if ran.returncode == 0 else None)
    return windows


def by_package(situation: Situation) -> list[str | None]:
    windows: list[str | None] = []
    # The package ends shortened texts with their handle unless it is told not to; the others do if they are told to.
    engine = cupel.Engine(tokenizer=TOKENIZER, handles=False, **situation.settings)  # type: ignore[arg-type]
    session = engine.session()
    for now, step in clocked(situation):
        try:
            window = session.next(text_of(step), max_tokens=step.max_tokens, now=now)
        except cupel.DoesNotFitError:
            windows.append(None)
            continue
        windows.append(window.text)
        if step.is_answered:
            session.accept()
    return windows


def clocked(situation: Situation) -> Iterator[tuple[int, Step]]:
    now = 1_000_000
    for step in situation.steps:
        now += 400 if step.waits else 1
        yield now, step


def text_of(step: Step) -> str:
    return json.dumps(step.body, ensure_ascii=False, indent=1)


@pytest.mark.parametrize("name", situations())
def test_windows_are_the_same_bytes_whoever_asks(name: str, tmp_path: Path) -> None:
    situation = situations()[name]
    by_file = [window and window.removesuffix("\n") for window in by_command(situation, tmp_path)]
    assert by_package(situation) == by_file
    assert by_gateway(situation, tmp_path) == by_file


def test_the_situations_are_what_they_say() -> None:
    for name, situation in situations().items():
        windows, texts = by_package(situation), [text_of(step) for step in situation.steps]
        refused = [at for at, window in enumerate(windows) if window is None]
        assert refused == ([1] if name == "what must be kept does not fit" else []), name
        is_cut = [window != text for window, text in zip(windows, texts)]
        if name == "all of it fits":
            assert not any(is_cut)
        elif name == "small room, then room for all":
            assert is_cut == [True, False]
        else:
            assert is_cut[-1], name
