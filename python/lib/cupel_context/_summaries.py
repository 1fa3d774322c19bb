"""Summaries of what windows leave out, as messages among those that stay."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, Union

from . import _native
from ._errors import CupelError

T = TypeVar("T")

Summarize = Callable[[list[Any]], Union[str, Awaitable[str]]]
"""From messages that a window leaves out to a text, which is sent in their place."""

_MOST = 8
"""So many summaries stand side by side; then one is made of them."""

_LOOP: contextvars.ContextVar[asyncio.AbstractEventLoop | None] = contextvars.ContextVar("loop", default=None)


async def in_thread(function: Callable[..., T], *given: Any, **named: Any) -> T:
    """Calls a function off the event loop, which runs what of it is asynchronous meanwhile."""
    token = _LOOP.set(asyncio.get_running_loop())
    try:
        return await asyncio.to_thread(function, *given, **named)
    finally:
        _LOOP.reset(token)


@dataclass(frozen=True)
class _Note:
    """A summary, the message that it stands before, and that message's handle."""

    before: int
    handle: str
    text: str


@dataclass
class Summaries:
    """The summaries of a conversation."""

    notes: list[_Note] = field(default_factory=list)
    covered: set[int] = field(default_factory=set)

    def check(self, own: Sequence[Any]) -> None:
        """Forgets all of them if the history is another one than before."""
        for note in self.notes:
            if note.before >= len(own) or _handle(own[note.before]) != note.handle:
                self.notes.clear()
                self.covered.clear()
                return

    def among(self, own: Sequence[Any], make: Callable[[str], Any]) -> tuple[list[Any], list[int | str]]:
        """The messages with summaries among them; of each its index, or the words of the summary."""
        laid: list[Any] = []
        order: list[int | str] = []
        for at, message in enumerate(own):
            for note in self.notes:
                if note.before == at:
                    laid.append(make(note.text))
                    order.append(note.text)
            laid.append(message)
            order.append(at)
        return laid, order

    def left(self, order: Sequence[int | str], kept: Sequence[int]) -> list[int]:
        """The messages that a window leaves out and no summary tells of."""
        stay = set(kept)
        out = (one for at, one in enumerate(order) if at not in stay and isinstance(one, int))
        return [one for one in out if one not in self.covered]

    def add(self, own: Sequence[Any], left: Sequence[int], summarize: Summarize) -> None:
        """Has these messages summarized, each once."""
        told = _told(summarize, [own[at] for at in left])
        self.covered.update(left)
        if not told:
            return
        # The user's last question is behind all summaries, so that it stays the last one.
        before = min(left[-1] + 1, _last_question(own))
        self.notes.append(_Note(before, _handle(own[before]), _words(len(left), told)))
        if len(self.notes) > _MOST:
            told = _told(summarize, [{"role": "user", "content": note.text} for note in self.notes])
            last = max(self.notes, key=lambda note: note.before)
            self.notes = [_Note(last.before, last.handle, _words(len(self.covered), told))]


def _words(count: int, told: str) -> str:
    return f"Summary of {count} messages of this conversation that are not shown:\n{told}"


def _handle(message: Any) -> str:
    return _native.handle(_native.dumps(message))


def _told(summarize: Summarize, messages: list[Any]) -> str:
    told = summarize(messages)
    if inspect.isawaitable(told):
        told = _awaited(told)
    if not isinstance(told, str):
        rule = f"must return a text, got `{type(told).__name__}`"
        raise CupelError(f"summarize: {rule}", path="summarize", rule=rule)
    return told


def _awaited(told: Awaitable[str]) -> str:
    async def waited() -> str:
        return await told

    loop = _LOOP.get()
    if loop is not None:
        return asyncio.run_coroutine_threadsafe(waited(), loop).result()
    made = waited()
    try:
        return asyncio.run(made)
    except RuntimeError as error:
        made.close()
        rule = "is asynchronous, but the framework's call is not; give a plain function"
        raise CupelError(f"summarize: {rule}", path="summarize", rule=rule) from error


def _last_question(own: Sequence[Any]) -> int:
    """The index of the last message of the user that is no result of a tool."""
    for at in range(len(own) - 1, -1, -1):
        told = json.loads(_native.dumps(own[at]))
        if (told.get("role") or told.get("type")) in ("user", "human"):
            blocks = told.get("parts") or told.get("content")
            if not isinstance(blocks, list) or not any(map(_is_result, blocks)):
                return at
    return 0


_RESULTS = ("tool_result", "functionResponse", "function_response", "toolResult")


def _is_result(block: Any) -> bool:
    """Whether a block holds the result of a tool; Google's objects have a field of each kind."""
    return isinstance(block, dict) and (
        block.get("type") in _RESULTS or any(block.get(name) is not None for name in _RESULTS)
    )
