"""A run that all frameworks play: sixty steps with tools, and what must hold of every request."""

from __future__ import annotations

import functools
import json
import struct
import zlib
from dataclasses import dataclass
from typing import Any

STEPS = 60
"""How often the model calls tools before it answers."""

BUDGETS = (850, 950, 1_100, 1_300, 1_600, 2_000, 2_500, 3_200, 4_500, 100_000)
"""Ten budgets: from little more than what must be in, to everything."""

SYSTEM = "You keep the books of a harbour. Look things up, never guess."
QUESTION = "Which ships were late this week, and by how much? The office wants ship 17 first."
ANSWER = "Ship 17 was late by three hours."


@dataclass
class Call:
    """A call of a tool."""

    id: str
    name: str
    arguments: dict[str, Any]


def calls(step: int) -> list[Call]:
    """What the model calls at a step; every fifth time two tools at once."""
    found = [Call(f"call_{step}_a", "look_up", {"ship": step, "field": "arrival"})]
    if step % 5 == 0:
        found.append(Call(f"call_{step}_b", "look_up", {"ship": step, "field": "cargo"}))
    return found


def look_up(ship: int, field: str) -> str:
    """Looks up what the books say of a ship."""
    return json.dumps(
        {
            "ship": ship,
            "field": field,
            "value": f"{field} of ship {ship}: "
            + f"berth {ship % 7}, tide {ship * 3 % 11}, crew {ship + 5}. " * 3,
        }
    )


def total_calls() -> int:
    return sum(len(calls(step)) for step in range(STEPS))


@dataclass
class Sent:
    """A message as the model got it, in words that all frameworks share."""

    role: str
    calls: list[str]
    answers: list[str]


def unpaired(messages: list[Sent]) -> str | None:
    """What a provider would refuse: a call that what directly follows does not answer, or the reverse.

    Shares no code with Cupel.
    """
    open_calls: list[str] = []
    for message in messages:
        for answer in message.answers:
            if answer not in open_calls:
                return f"the result of {answer} has no call before it"
            open_calls.remove(answer)
        if open_calls and (message.calls or not message.answers):
            return f"{open_calls} are not answered"
        open_calls += message.calls
    return f"{open_calls} are not answered" if open_calls else None


def check_pairs(messages: list[Sent]) -> None:
    """Every call has its result, and the user speaks first."""
    assert unpaired(messages) is None, unpaired(messages)
    roles = [message.role for message in messages if message.role != "system"]
    assert roles and roles[0] == "user", f"begins with {roles[:1]}"


def check_run(windows: list[list[Sent]], tokens: list[int], budget: int) -> None:
    """All requests of a run: valid, within the budget, and trimmed where they must be."""
    assert len(windows) == STEPS + 1
    for window in windows:
        check_pairs(window)
    assert max(tokens) <= budget, f"{max(tokens)} tokens in a budget of {budget}"
    results = [sum(len(message.answers) for message in window) for window in windows]
    if budget >= 100_000:
        assert results[-1] == total_calls(), "everything fits, but something is missing"
    else:
        assert results[-1] < total_calls(), "nothing was left out"
    # The newest results are what the model is about to use.
    newest = {call.id for call in calls(STEPS - 1)}
    assert newest <= {answer for message in windows[-1] for answer in message.answers}


def of_chat(messages: list[Any]) -> list[Sent]:
    """Messages of OpenAI Chat, as a framework sends them."""
    return [
        Sent(
            "system" if one["role"] == "developer" else one["role"],
            [call["id"] for call in one.get("tool_calls") or []],
            [one["tool_call_id"]] if one["role"] == "tool" else [],
        )
        for one in messages
    ]


@functools.cache
def chat_types() -> Any:
    """What the openai package says that a list of messages is."""
    from openai.types.chat import ChatCompletionMessageParam
    from pydantic import TypeAdapter

    return TypeAdapter(list[ChatCompletionMessageParam])


def check_chat(messages: list[Any]) -> None:
    """What a framework makes of a window for OpenAI Chat: of the right types, and in pairs."""
    for message in chat_types().validate_python(messages):
        # These are read only when somebody asks for them.
        list(message.get("tool_calls") or [])
    check_pairs(of_chat(messages))


def picture(side: int) -> bytes:
    """A grey square as PNG."""
    rows = zlib.compress(b"".join(b"\0" + b"\x80" * side for _ in range(side)))
    made = b"\x89PNG\r\n\x1a\n"
    for name, data in (
        (b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)),
        (b"IDAT", rows),
        (b"IEND", b""),
    ):
        made += struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    return made
