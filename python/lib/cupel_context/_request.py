"""Where the messages of a request are, and the same request with fewer of them."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from typing import Any

from . import _native
from ._errors import CupelError

_LISTS = ("contents", "input", "items", "messages")
"""Where formats keep their messages, in the order in which the engine looks."""

_MOST_MESSAGES = 10_000_000
"""Longest sequence that is no list yet: it may be computed, and larger than memory."""


class Request:
    """Request of the caller: its own messages, and the shape around them."""

    __slots__ = ("fields", "given", "has_lines", "messages", "name")

    def __init__(self, given: Any) -> None:
        self.given: Any = given
        self.name: str | None = None
        self.messages: Sequence[Any] | None = None
        self.has_lines = False
        self.fields: dict[Any, Any] = {}
        # A caller may go on with its list and its dict: what was handed in is noted as it is now.
        if isinstance(given, (str, bytes, bytearray)):
            self.given, self.has_lines = _plain(given)
        elif isinstance(given, (list, tuple)):
            self.messages = list(given)
        elif isinstance(given, Mapping):
            found = next((name for name in _LISTS if name in given), None)
            if found is not None and isinstance(given[found], (list, tuple)):
                self.name, self.messages = found, list(given[found])
                self.fields = {**given}
        elif isinstance(given, Sequence):
            if len(given) > _MOST_MESSAGES:
                rule = f"a sequence of {len(given):,} messages is more than {_MOST_MESSAGES:,}"
                remedy = "give less at a time"
                raise CupelError(f"{rule}; {remedy}", code="too-large", rule=rule, remedy=remedy)
            self.given = self.messages = list(given)

    def kept(
        self,
        kept: Sequence[int],
        text: str,
        is_repaired: bool,
        rewritten: Sequence[tuple[int, str]] = (),
    ) -> list[Any]:
        """The messages that stay: the caller's own objects, unless only a text was given.

        Those that were shortened are copies, of the same type where that can be.
        """
        own = self.messages
        if own is None:
            return _listed(json.loads(text)) if text.lstrip()[:1] in "[{" else []
        if is_repaired:
            return _matched(own, _listed(json.loads(text)))
        if not rewritten:
            return [own[at] for at in kept]
        shorter = {at: _copied(own[at], json.loads(changed)) for at, changed in rewritten}
        return [shorter.get(at, own[at]) for at in kept]

    def like(self, messages: list[Any], text: str, *, has_other_tools: bool = False) -> Any:
        """The request with these messages, in the shape in which it was given, and with the tools of ``text``
        if they are others."""
        if isinstance(self.given, (str, bytes)):
            text = "\n".join(map(_native.dumps, messages)) + "\n" if self.has_lines else text
            return text if isinstance(self.given, str) else text.encode()
        if self.messages is None:
            # Its messages are no list of their own, as a text for `contents`.
            return json.loads(text)
        if self.name is None:
            return messages
        fields = self.fields
        if has_other_tools:
            changed = json.loads(text)
            fields = {name: _own_or(value, changed.get(name)) for name, value in fields.items()}
        return {**fields, self.name: messages}


def _own_or(own: Any, changed: Any) -> Any:
    """The caller's own value, unless it says something else than what it became."""
    return own if json.loads(_native.dumps(own)) == changed else changed


def _plain(given: str | bytes | bytearray) -> tuple[str | bytes, bool]:
    """JSON without the mark of a byte order, and whether it was a message on each line."""
    if isinstance(given, str):
        text = given.removeprefix("\ufeff")
        listed = _list_of_lines(text)
        return listed or text, listed is not None
    data = bytes(given).removeprefix(BOM_UTF8)
    try:
        listed = _list_of_lines(data.decode()) if b"\n" in data.strip() else None
    except UnicodeDecodeError:
        listed = None
    return listed.encode() if listed else data, listed is not None


def _list_of_lines(text: str) -> str | None:
    """JSON lines as one list, if the first of several lines is a message."""
    lines = [line for line in text.split("\n") if line.strip()] if text.lstrip()[:1] == "{" else []
    if len(lines) < 2:
        return None
    try:
        first = json.loads(lines[0])
    except ValueError:
        # One request, on many lines.
        return None
    is_message = isinstance(first, dict) and not first.keys().isdisjoint(("role", "type"))
    return f"[{','.join(lines)}]" if is_message else None


def _listed(value: Any) -> list[Any]:
    if isinstance(value, dict):
        for name in _LISTS:
            if isinstance(value.get(name), list):
                listed: list[Any] = value[name]
                return listed
        return [value]
    return list(value)


def _matched(own: Sequence[Any], repaired: list[Any]) -> list[Any]:
    """The caller's own object for each message that was not changed, in order."""
    written = [json.loads(_native.dumps(message)) for message in own]
    at, messages = 0, []
    for message in repaired:
        found = next((i for i in range(at, len(own)) if written[i] == message), None)
        if found is None:
            messages.append(message)
        else:
            messages.append(own[found])
            at = found + 1
    return messages


def _copied(own: Any, changed: Any) -> Any:
    """A message like the caller's, with what changed; its JSON where its type is not known."""
    if not hasattr(own, "model_copy"):
        return changed
    before = json.loads(_native.dumps(own))
    updates = {name: value for name, value in changed.items() if before.get(name) != value}
    if all(isinstance(value, str) and name in type(own).model_fields for name, value in updates.items()):
        return own.model_copy(update=updates)
    try:
        return type(own).model_validate({**before, **updates})
    except ValueError:
        return changed
