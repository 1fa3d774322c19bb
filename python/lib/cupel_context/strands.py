"""Strands Agents: a conversation manager; every model call fits, and the agent's messages stay whole.

from strands import Agent
from cupel_context.strands import CupelConversationManager

agent = Agent(model, tools=tools, conversation_manager=CupelConversationManager(max_tokens=32_000))
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from strands.agent.conversation_manager import ConversationManager
from strands.hooks import AfterModelCallEvent, BeforeModelCallEvent, HookRegistry
from strands.models import BedrockModel
from strands.types.exceptions import ContextWindowOverflowException

from ._errors import DoesNotFitError
from ._flat import Flat, content, media, text, tool
from ._sessions import WindowOptions, fitter

if TYPE_CHECKING:
    from strands import Agent
    from typing_extensions import Unpack
else:
    from ._lazy import Unpack

__all__ = ["CupelConversationManager", "WindowOverflowError"]


class WindowOverflowError(DoesNotFitError, ContextWindowOverflowException):
    """The messages that must be kept do not fit; an error that Strands knows."""


class CupelConversationManager(ConversationManager):
    """Sends what fits: the system prompt, the tools and the best of the messages.

    While the model is called the agent's list holds what fits; then everything is in it again, with what
    was added. Without ``max_tokens`` the window is the model's. Each agent is a session, whose windows
    keep the provider's cache.
    """

    def __init__(self, max_tokens: int | None = None, **options: Unpack[WindowOptions]) -> None:
        super().__init__()
        self._fitter = fitter(max_tokens, options, overflow=WindowOverflowError)
        # By agent: the messages that are stored, and how many of them are in the list meanwhile.
        self._stored: dict[int, tuple[list[Any], int]] = {}

    def register_hooks(self, registry: HookRegistry, **given: Any) -> None:
        """Stands before and behind every call of the model."""
        super().register_hooks(registry, **given)
        registry.add_callback(BeforeModelCallEvent, self._before)
        registry.add_callback(AfterModelCallEvent, self._after)

    def apply_management(self, agent: Agent, **_: Any) -> None:
        """Gives the agent its messages back, if a call was broken off."""
        self._give_back(agent)

    def reduce_context(self, agent: Agent, e: Exception | None = None, **_: Any) -> None:
        """A window that fits by our count and not by the provider's is an error: leave a margin."""
        self._give_back(agent)
        if e is not None:
            raise e

    def _before(self, event: BeforeModelCallEvent) -> None:
        agent = event.agent
        self._give_back(agent)
        if not agent.messages:
            return
        window = self._window(agent)
        if len(window) < len(agent.messages) or any(map(_is_not, window, agent.messages)):
            self._stored[id(agent)] = (list(agent.messages), len(window))
            agent.messages[:] = window

    def _window(self, agent: Agent) -> list[Any]:
        """The messages that fit; its own messages are in or out as they are."""
        limit = agent.model.context_window_limit
        told = _told(agent)
        if isinstance(agent.model, BedrockModel):
            head = _converse(told)
            request = {**head, "messages": [_plain(message) for message in agent.messages]}
            window = self._fitter.window(request, id(agent), window=limit, note=_note, shorten="off")
            return [_note(one) if isinstance(one, str) else agent.messages[one] for one in window.order]
        # Other models get them as those of OpenAI Chat, with the arguments of calls as text.
        flat = Flat()
        if told.prompt:
            flat.add(-1, {"role": "system", "content": told.prompt})
        for at, message in enumerate(agent.messages):
            _flatten(flat, at, message)
        head = {"model": told.model, "max_tokens": told.limit, "tools": [tool(spec) for spec in told.specs]}
        head = {name: value for name, value in head.items() if value}
        return flat.fitting(self._fitter, agent.messages, _note, id(agent), window=limit, **head)

    def _after(self, event: AfterModelCallEvent) -> None:
        self._give_back(event.agent)

    def _give_back(self, agent: Agent) -> None:
        stored, sent = self._stored.pop(id(agent), (None, 0))
        if stored is not None:
            agent.messages[:] = [*stored, *agent.messages[sent:]]


def _note(words: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"text": words}]}


def _is_not(one: Any, other: Any) -> bool:
    return one is not other


@dataclass(frozen=True)
class _Told:
    """Settings of an agent's calls beside the messages."""

    model: str | None
    limit: int | None
    prompt: str
    specs: list[Any]


def _told(agent: Agent) -> _Told:
    config = agent.model.get_config()
    get: Callable[[str], Any] = config.get if isinstance(config, dict) else partial(_field, config)
    model, params = get("model_id"), get("params") or {}
    limit = get("max_tokens") or params.get("max_tokens") or params.get("max_completion_tokens")
    return _Told(
        model if isinstance(model, str) else None,
        limit if isinstance(limit, int) else None,
        agent.system_prompt or "",
        agent.tool_registry.get_all_tool_specs(),
    )


def _field(config: Any, name: str) -> Any:
    return getattr(config, name, None)


def _converse(told: _Told) -> dict[str, Any]:
    """The head of a request of Bedrock's."""
    head: dict[str, Any] = {} if told.model is None else {"modelId": told.model}
    if told.prompt:
        head["system"] = [{"text": told.prompt}]
    if told.specs:
        head["toolConfig"] = {"tools": [{"toolSpec": dict(spec)} for spec in told.specs]}
    if told.limit:
        head["inferenceConfig"] = {"maxTokens": told.limit}
    return head


def _plain(message: Any) -> dict[str, Any]:
    """A message as it is sent: what Strands notes of it is not."""
    return {name: message[name] for name in ("role", "content")}


def _flatten(flat: Flat, at: int, message: Any) -> None:
    calls, blocks = [], []
    for block in message["content"]:
        if "toolUse" in block:
            call = block["toolUse"]
            calls.append(flat.call(call["name"], call["input"], call["toolUseId"]))
        elif "toolResult" in block:
            result = block["toolResult"]
            told = [_block(part) for part in result["content"]]
            flat.add(at, {"role": "tool", "tool_call_id": result["toolUseId"], "content": content(told)})
        else:
            blocks.append(_block(block))
    if calls or blocks:
        plain: dict[str, Any] = {"role": message["role"], "content": content(blocks)}
        flat.add(at, {**plain, "tool_calls": calls} if calls else plain)


_MEDIA = {"image": "image", "video": "video", "document": "application"}


def _block(block: Any) -> dict[str, Any]:
    """Text of a block for the model: its words, a picture or a file, or all fields of any other."""
    if "text" in block:
        return text(block["text"])
    if "reasoningContent" in block:
        return text(str(block["reasoningContent"].get("reasoningText", {}).get("text", "")))
    for name, family in _MEDIA.items():
        source = block.get(name, {}).get("source", {})
        if source:
            data, url = source.get("bytes"), str(source.get("location", {}).get("uri", ""))
            return media(f"{family}/{block[name].get('format', 'png')}", data=data, url=None if data else url)
    return text(json.dumps(block.get("json", block), default=str))
