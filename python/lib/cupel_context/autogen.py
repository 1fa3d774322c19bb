"""AutoGen: a model context that keeps every message and hands out those that fit.

from autogen_agentchat.agents import AssistantAgent
from cupel_context.autogen import CupelChatCompletionContext

context = CupelChatCompletionContext(client, max_tokens=32_000, tools=tools, system_message=prompt)
agent = AssistantAgent("clerk", client, tools=tools, system_message=prompt, model_context=context)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from autogen_core import Image
from autogen_core.model_context import ChatCompletionContext
from autogen_core.models import (
    AssistantMessage,
    ChatCompletionClient,
    FunctionExecutionResultMessage,
    LLMMessage,
    SystemMessage,
    UserMessage,
)
from autogen_core.tools import BaseTool, FunctionTool

from . import _flat
from ._flat import Flat, content, media, text
from ._sessions import WindowOptions, fitter
from ._summaries import in_thread

if TYPE_CHECKING:
    from typing_extensions import Unpack
else:
    from ._lazy import Unpack

__all__ = ["CupelChatCompletionContext"]


class CupelChatCompletionContext(ChatCompletionContext):
    """Keeps every message, and hands out those that fit; ``save_state`` has them all.

    The agent adds its system message and its tools behind the context: give them to it as well, so that they
    are counted. Without ``max_tokens`` the window is that of the client's model. Each context is a session,
    whose windows keep the provider's cache.
    """

    component_type = "chat_completion_context"

    def __init__(
        self,
        model_client: ChatCompletionClient | None = None,
        max_tokens: int | None = None,
        *,
        tools: Sequence[Any] = (),
        system_message: str | None = None,
        initial_messages: list[LLMMessage] | None = None,
        **options: Unpack[WindowOptions],
    ) -> None:
        super().__init__(initial_messages)
        self._head: dict[str, Any] = {}
        self._prompt = system_message
        name = _model(model_client)
        if name is not None:
            self._head["model"] = name
        if tools:
            self._head["tools"] = [_flat.tool(_schema(one)) for one in tools]
        self._fitter = fitter(max_tokens, options, format="openai-chat")

    async def get_messages(self) -> list[LLMMessage]:
        """The messages that fit: the very objects that are stored."""
        return await in_thread(self._fitting)

    def _fitting(self) -> list[LLMMessage]:
        messages = list(self._messages)
        if not messages:
            return messages
        flat = Flat()
        if self._prompt:
            flat.add(-1, {"role": "system", "content": self._prompt})
        for at, message in enumerate(messages):
            _flatten(flat, at, message)
        return flat.fitting(self._fitter, messages, _note, "context", **self._head)


def _note(words: str) -> UserMessage:
    return UserMessage(content=words, source="summary")


def _model(client: Any) -> str | None:
    """The name of the model that a client calls."""
    if client is None:
        return None
    for name in ("_raw_config", "_create_args"):
        told = getattr(client, name, None)
        if isinstance(told, dict) and isinstance(told.get("model"), str):
            return str(told["model"])
    named = getattr(client, "model", None)
    return named if isinstance(named, str) else None


def _schema(tool: Any) -> Any:
    """A tool's definition; functions are made tools as the agent makes them."""
    if isinstance(tool, BaseTool):
        return tool.schema
    if callable(tool) and not hasattr(tool, "schema"):
        return FunctionTool(tool, description=tool.__doc__ or "").schema
    return getattr(tool, "schema", tool)


def _flatten(flat: Flat, at: int, message: LLMMessage) -> None:
    if isinstance(message, FunctionExecutionResultMessage):
        for result in message.content:
            flat.add(at, {"role": "tool", "tool_call_id": result.call_id, "content": result.content})
        return
    if isinstance(message, SystemMessage):
        flat.add(at, {"role": "system", "content": message.content})
        return
    if isinstance(message, AssistantMessage):
        plain: dict[str, Any] = {"role": "assistant", "content": message.thought or ""}
        if isinstance(message.content, str):
            plain["content"] = "\n".join(filter(None, (message.thought, message.content)))
        else:
            plain["tool_calls"] = [flat.call(one.name, one.arguments, one.id) for one in message.content]
        flat.add(at, plain)
        return
    parts = [message.content] if isinstance(message.content, str) else message.content
    blocks = [_image(part) if isinstance(part, Image) else text(str(part)) for part in parts]
    # The name of whoever speaks is sent beside the words.
    flat.add(at, {"role": "user", "content": content(blocks), "name": message.source})


def _image(image: Image) -> dict[str, Any]:
    return media("image/png", data=image.to_base64())
