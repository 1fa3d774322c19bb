"""Messages of frameworks as messages of OpenAI Chat, and the way back to the framework's own."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from ._sessions import Fitter


class Flat:
    """A request whose messages belong to the messages of a framework."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self._owners: list[int] = []
        self._name = "messages"

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

    def as_items(self) -> Flat:
        """The same as items of OpenAI Responses, where a call is one of its own."""
        made = Flat()
        made._name = "input"
        for owner, message in zip(self._owners, self.messages):
            if message["role"] == "tool":
                result = {"call_id": message["tool_call_id"], "output": message["content"]}
                made.add(owner, {"type": "function_call_output", **result})
                continue
            calls = message.get("tool_calls") or []
            if message["content"] or not calls:
                made.add(owner, {"role": message["role"], "content": _input(message["content"])})
            for call in calls:
                made.add(owner, {"type": "function_call", "call_id": call["id"], **call["function"]})
        return made

    def fitting(
        self,
        fitter: Fitter,
        messages: Sequence[Any],
        note: Callable[[str], Any],
        key: Hashable | None = None,
        *,
        window: int | None = None,
        **request: Any,
    ) -> list[Any]:
        """The framework's messages that stay, with summaries of others among them."""
        left: list[Any] = []
        last = -1
        for one in self.kept(fitter, key, window=window, **request):
            if isinstance(one, str):
                left.append(note(one))
            elif one > last:
                left.append(messages[one])
                last = one
        return left

    def kept(
        self, fitter: Fitter, key: Hashable | None = None, *, window: int | None = None, **request: Any
    ) -> list[int | str]:
        """The owner of each message that stays, and the words of summaries where they stand."""
        # A framework's own message is in or out as it is.
        whole = {**request, self._name: self.messages}
        if self._name == "input" and "tools" in whole:
            whole["tools"] = [{"type": "function", **one["function"]} for one in whole["tools"]]
        fitted = fitter.window(whole, key, window=window, shorten="off")
        return [one if isinstance(one, str) else self._owners[one] for one in fitted.order]


def _input(given: Any) -> Any:
    """Content as OpenAI Responses has it."""
    return given if isinstance(given, str) else [_part(block) for block in given]


def _part(block: dict[str, Any]) -> dict[str, Any]:
    if block["type"] == "text":
        return {"type": "input_text", "text": block["text"]}
    if block["type"] == "image_url":
        return {"type": "input_image", "image_url": block["image_url"]["url"]}
    return {"type": "input_file", **block["file"]} if block["type"] == "file" else block


def tool(given: Any) -> dict[str, Any]:
    """A definition of a tool as OpenAI Chat has it, whoever's shape it is in."""
    if not isinstance(given, dict):
        return tool(given.model_dump() if hasattr(given, "model_dump") else {"name": str(given)})
    if isinstance(given.get("function"), dict):
        return given
    known: dict[str, Any] = given.get("toolSpec") or given
    schema = known.get("parameters") or known.get("input_schema") or known.get("inputSchema") or {}
    if not isinstance(known.get("name"), str):
        # A tool that the provider hosts: what is sent of it is its definition.
        known = {"name": "hosted", "description": json.dumps(given, default=str)}
    described = {"name": known["name"], "description": known.get("description") or ""}
    return {"type": "function", "function": {**described, "parameters": schema.get("json", schema)}}


def chosen(messages: Sequence[Any], kept: Sequence[int]) -> list[Any]:
    """The framework's own objects."""
    return [messages[at] for at in kept]


def text(words: str) -> dict[str, Any]:
    """A text, as a block of content."""
    return {"type": "text", "text": words}


def media(kind: str | None, *, data: bytes | str | None = None, url: str | None = None) -> dict[str, Any]:
    """A picture, a sound or a file as a block of content, which the engine weighs as what it is.

    ``kind`` is its media type, as ``image/png``; ``data`` are its bytes, or their Base64.
    """
    kind = kind or "application/octet-stream"
    if url is not None and url.startswith("data:") and ";base64," in url:
        data = url.partition(";base64,")[2]
    if data is not None:
        plain = data if isinstance(data, str) else base64.b64encode(data).decode()
        family, _, form = kind.partition("/")
        if family == "audio":
            return {"type": "input_audio", "input_audio": {"data": plain, "format": form}}
        url = f"data:{kind};base64,{plain}"
    if kind.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    # What lies elsewhere is not fetched, but it is no less of a file.
    return {"type": "file", "file": {"file_url" if data is None else "file_data": url}}


def content(blocks: Sequence[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """Blocks as the content of a message: one text where there is nothing else."""
    if all(block["type"] == "text" for block in blocks):
        return "\n".join(block["text"] for block in blocks)
    return list(blocks)
