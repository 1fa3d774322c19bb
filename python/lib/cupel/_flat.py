"""Messages of frameworks as messages of OpenAI Chat, and the way back to the framework's own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ._sessions import Fitter


class Flat:
    """A request whose messages belong to the messages of a framework."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self._owners: list[int] = []

    def add(self, owner: int, message: dict[str, Any]) -> None:
        """Adds a message of the framework's message at this index."""
        self.messages.append(message)
        self._owners.append(owner)

    def call(self, name: str, arguments: Any, call_id: str) -> dict[str, Any]:
        """A call, as OpenAI Chat has it."""
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, default=str)
        return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}

    def owners(self, positions: Sequence[int]) -> list[int]:
        """The indices of the framework's messages that these belong to, in order."""
        return sorted({self._owners[at] for at in positions})

    def kept(self, fitter: Fitter, key: str | None = None, **request: Any) -> list[int]:
        """The indices of the framework's messages that stay, in order."""
        # A framework's own message is in or out as it is.
        window = fitter.window({**request, "messages": self.messages}, key, shorten="off")
        return self.owners(window.kept)


def chosen(messages: Sequence[Any], kept: Sequence[int]) -> list[Any]:
    """The framework's own objects."""
    return [messages[at] for at in kept]
