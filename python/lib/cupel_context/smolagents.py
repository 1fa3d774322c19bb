"""smolagents: a model that is sent what fits; the agent's memory stays whole.

from smolagents import ToolCallingAgent
from cupel_context.smolagents import CupelModel

agent = ToolCallingAgent(tools=tools, model=CupelModel(model, max_tokens=32_000))
"""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

from smolagents.models import (  # type: ignore[import-untyped]
    ChatMessage,
    MessageRole,
    Model,
    get_tool_json_schema,
)

from ._flat import Flat, content, media, text
from ._sessions import WindowOptions, fitter

if TYPE_CHECKING:
    from typing_extensions import Unpack
else:
    from ._lazy import Unpack

__all__ = ["CupelModel"]


class CupelModel(Model):  # type: ignore[misc]
    """Another model, which is sent what fits.

    Without ``max_tokens`` the window is that of the model, where Cupel knows its ``model_id``. What was
    called stays with what came of it. Runs that begin alike are a session, whose windows keep the
    provider's cache.
    """

    def __init__(
        self, model: Model, /, max_tokens: int | None = None, **options: Unpack[WindowOptions]
    ) -> None:
        super().__init__(
            flatten_messages_as_text=model.flatten_messages_as_text,
            tool_name_key=model.tool_name_key,
            tool_arguments_key=model.tool_arguments_key,
            model_id=model.model_id,
        )
        self.model = model
        self._fitter = fitter(max_tokens, options, format="openai-chat")
        # An agent streams where its model can.
        if hasattr(model, "generate_stream"):
            self.generate_stream = self._stream

    def generate(self, messages: list[ChatMessage], *given: Any, **named: Any) -> ChatMessage:
        """Answer of the model to the messages that fit."""
        return self.model.generate(self._fitting(messages, named), *given, **named)

    def _stream(self, messages: list[ChatMessage], *given: Any, **named: Any) -> Generator[Any]:
        yield from self.model.generate_stream(self._fitting(messages, named), *given, **named)

    def parse_tool_calls(self, message: ChatMessage) -> ChatMessage:
        """As the model does."""
        return self.model.parse_tool_calls(message)

    def to_dict(self) -> dict[str, Any]:
        """The model as a dict."""
        written: dict[str, Any] = self.model.to_dict()
        return written

    def _fitting(self, messages: Sequence[ChatMessage | dict[str, Any]], named: Any) -> list[Any]:
        head: dict[str, Any] = {"model": self.model_id} if self.model_id else {}
        if tools := named.get("tools_to_call_from"):
            head["tools"] = [get_tool_json_schema(tool) for tool in tools]
        most = named.get("max_tokens") or self.model.kwargs.get("max_tokens")
        if isinstance(most, int):
            head["max_tokens"] = most
        return _flat(messages).fitting(self._fitter, messages, _note, "calls", **head)


def _note(words: str) -> ChatMessage:
    return ChatMessage(role=MessageRole.USER, content=[{"type": "text", "text": words}])


def _flat(messages: Sequence[ChatMessage | dict[str, Any]]) -> Flat:
    """Calls and what came of them are sent as words; that they belong together is told as a call."""
    flat, call = Flat(), None
    for at, given in enumerate(messages):
        message = ChatMessage.from_dict(dict(given)) if isinstance(given, dict) else given
        role = message.role.value if isinstance(message.role, MessageRole) else str(message.role)
        parts = content(_blocks(message.content))
        if role == MessageRole.TOOL_CALL.value:
            call = f"call_{at}"
            words = parts if isinstance(parts, str) else str(parts)
            flat.add(at, {"role": "assistant", "content": "", "tool_calls": [flat.call("call", words, call)]})
        elif role == MessageRole.TOOL_RESPONSE.value and call is not None:
            flat.add(at, {"role": "tool", "tool_call_id": call, "content": parts})
            call = None
        else:
            if call is not None:
                # What was called has no result: it is words like any others.
                _unanswered(flat)
                call = None
            speaker = "user" if role == MessageRole.TOOL_RESPONSE.value else role
            flat.add(at, {"role": speaker, "content": parts})
    if call is not None:
        _unanswered(flat)
    return flat


def _unanswered(flat: Flat) -> None:
    last = flat.messages[-1]
    call = last.pop("tool_calls")[0]
    last["content"] = call["function"]["arguments"]


def _blocks(given: Any) -> list[dict[str, Any]]:
    if given is None:
        return []
    if isinstance(given, str):
        return [text(given)]
    return [_block(part) for part in given]


def _block(part: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(part) or not isinstance(part, dict):
        return text(str(part))
    if part.get("type") == "text":
        return text(str(part.get("text", "")))
    if part.get("type") == "image" and hasattr(part.get("image"), "save"):
        data = io.BytesIO()
        part["image"].save(data, format="PNG")
        return media("image/png", data=data.getvalue())
    if part.get("type") == "image_url":
        return media("image/png", url=part["image_url"]["url"])
    return text(str(part))
