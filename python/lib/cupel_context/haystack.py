"""Haystack: a chat generator that sends what fits, a compactor, and a ranker that fills a budget.

from haystack.components.agents import Agent
from cupel_context.haystack import CupelChatGenerator

agent = Agent(chat_generator=CupelChatGenerator(generator, max_tokens=32_000), tools=tools)

The state of the agent stays whole. ``CupelCompactor`` is for Haystack's own hook, which shortens the state
itself: what it takes out is gone.
"""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

from haystack import Document, component
from haystack.core.serialization import component_to_dict, default_from_dict, default_to_dict
from haystack.dataclasses import ChatMessage, FileContent, ImageContent, ReasoningContent
from haystack.token_counters import TokenCounter
from haystack.tools import ToolsType, flatten_tools_or_toolsets
from haystack.utils import deserialize_component_inplace

from . import _settings
from ._engine import Engine
from ._flat import Flat, chosen, content, media, text
from ._items import Pipeline
from ._native import Budget, Item
from ._sessions import Fitter, OnSelection, WindowOptions, fitter
from ._settings import Policy, Rules
from ._summaries import in_thread

if TYPE_CHECKING:
    from typing_extensions import Unpack
else:
    from ._lazy import Unpack

__all__ = ["CupelChatGenerator", "CupelCompactor", "CupelRanker"]


@component
class CupelChatGenerator:
    """Another chat generator, which is sent what fits; whoever calls it keeps all messages.

    Without ``max_tokens`` the window is the model's, where Cupel knows the model. Calls whose conversations
    begin alike are a session, whose windows keep the provider's cache.
    """

    def __init__(
        self, generator: Any, max_tokens: int | None = None, **options: Unpack[WindowOptions]
    ) -> None:
        self.generator = generator
        self.max_tokens = max_tokens
        self._options = options
        self._fitter = fitter(max_tokens, options, format="openai-chat")
        self._takes = set(inspect.signature(generator.run).parameters)

    @property
    def model(self) -> str | None:
        """The name of the model that is called."""
        named = getattr(self.generator, "model", None)
        return named if isinstance(named, str) else None

    def warm_up(self) -> None:
        """Warms up what it calls."""
        if hasattr(self.generator, "warm_up"):
            self.generator.warm_up()

    @component.output_types(replies=list[ChatMessage])
    def run(
        self,
        messages: list[ChatMessage],
        streaming_callback: Any = None,
        generation_kwargs: dict[str, Any] | None = None,
        *,
        tools: ToolsType | None = None,
    ) -> dict[str, Any]:
        """Answer of the generator to the messages that fit."""
        given = self._given(streaming_callback, generation_kwargs, tools)
        made: dict[str, Any] = self.generator.run(messages=self._fitting(messages, given), **given)
        return made

    @component.output_types(replies=list[ChatMessage])
    async def run_async(
        self,
        messages: list[ChatMessage],
        streaming_callback: Any = None,
        generation_kwargs: dict[str, Any] | None = None,
        *,
        tools: ToolsType | None = None,
    ) -> dict[str, Any]:
        """The same, while other tasks go on."""
        given = self._given(streaming_callback, generation_kwargs, tools)
        fitting = await in_thread(self._fitting, messages, given)
        made: dict[str, Any]
        if hasattr(self.generator, "run_async"):
            made = await self.generator.run_async(messages=fitting, **given)
        else:
            made = await asyncio.to_thread(self.generator.run, messages=fitting, **given)
        return made

    def _given(self, streaming_callback: Any, generation_kwargs: Any, tools: Any) -> dict[str, Any]:
        given = {
            "streaming_callback": streaming_callback,
            "generation_kwargs": generation_kwargs,
            "tools": tools,
        }
        return {name: value for name, value in given.items() if value is not None}

    def _fitting(self, messages: list[ChatMessage], given: dict[str, Any]) -> list[ChatMessage]:
        if not messages:
            return messages
        tools = given.get("tools") or getattr(self.generator, "tools", None)
        head: dict[str, Any] = {} if self.model is None else {"model": self.model}
        if tools:
            listed = flatten_tools_or_toolsets(tools)
            head["tools"] = [{"type": "function", "function": tool.tool_spec} for tool in listed]
        settings = {**(getattr(self.generator, "generation_kwargs", None) or {})}
        settings.update(given.get("generation_kwargs") or {})
        most = settings.get("max_completion_tokens") or settings.get("max_tokens")
        if isinstance(most, int):
            head["max_tokens"] = most
        return _flat(messages).fitting(self._fitter, messages, ChatMessage.from_user, "calls", **head)

    def to_dict(self) -> dict[str, Any]:
        """Arguments that it was made with; functions and engines of your own are no part of it."""
        plain = {
            name: value
            for name, value in self._options.items()
            if name not in ("engine", "on_selection", "renderers", "summarize")
        }
        inner = component_to_dict(self.generator, "generator")
        return default_to_dict(self, generator=inner, max_tokens=self.max_tokens, **plain)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> CupelChatGenerator:
        """A generator from what ``to_dict`` wrote."""
        deserialize_component_inplace(data["init_parameters"], key="generator")
        made: CupelChatGenerator = default_from_dict(cls, data)
        return made


class CupelCompactor:
    """Keeps the best of a conversation: system prompt, the last question, and what it needs.

    Haystack's hook puts the result into the state of the agent: what goes is gone. To keep the state whole,
    take :class:`CupelChatGenerator` instead.

    Sizes are those of the counter that Haystack hands in: if the result is too large by it, the
    budget is lowered until it fits. Tools are not counted: leave room for them.
    """

    def __init__(
        self,
        policy: str = "auto",
        tokenizer: str | None = None,
        rules: Rules = (),
        model: str | None = None,
        on_selection: OnSelection | None = None,
    ) -> None:
        self.policy = policy
        self.tokenizer = tokenizer
        self.rules = _settings.rules(rules)
        self.model = model
        engine = Engine(
            policy=policy, model=model, tokenizer=tokenizer, rules=self.rules, format="openai-chat"
        )
        self._fitter = Fitter(engine, sessions=False, on_selection=on_selection)

    def compact(
        self, messages: list[ChatMessage], target_tokens: int, token_counter: TokenCounter
    ) -> list[ChatMessage] | None:
        """A shorter conversation of the same messages, or ``None`` if nothing has to go."""
        before = token_counter.count(messages=messages)
        if before <= target_tokens:
            return None
        flat = _flat(messages)
        own = self._fitter.engine.count(flat.messages)["total_tokens"]
        # The two count in different tokens: what one calls the target is this for the other.
        budget = max(1, target_tokens * own // max(1, before))
        for _ in range(8):
            kept = self._kept(flat, messages, budget)
            size = token_counter.count(messages=kept)
            if size <= target_tokens or len(kept) == 0:
                break
            budget = min(budget - 1, budget * target_tokens // size)
            if budget < self._least(flat):
                break
        return kept if token_counter.count(messages=kept) < before else None

    async def compact_async(
        self, messages: list[ChatMessage], target_tokens: int, token_counter: TokenCounter
    ) -> list[ChatMessage] | None:
        """The same, while other tasks go on."""
        return await asyncio.to_thread(self.compact, messages, target_tokens, token_counter)

    def _least(self, flat: Flat) -> int:
        """Tokens of the messages that must be kept."""
        curve = self._fitter.engine.curve(flat.messages, 2, shorten="off")
        return curve["points"][0]["budget"]

    def _kept(self, flat: Flat, messages: list[ChatMessage], budget: int) -> list[ChatMessage]:
        # A target is a goal: what must be kept is kept, whatever it costs.
        least = max(budget, self._least(flat))
        kept = self._fitter.window(flat.messages, max_tokens=least, shorten="off")
        return chosen(messages, flat.owners(kept.kept))

    def to_dict(self) -> dict[str, Any]:
        """Arguments that it was made with."""
        made = {"policy": self.policy, "tokenizer": self.tokenizer, "rules": self.rules, "model": self.model}
        return default_to_dict(self, **made)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> CupelCompactor:
        """A compactor from what ``to_dict`` wrote."""
        made: CupelCompactor = default_from_dict(cls, data)
        return made


@component
class CupelRanker:
    """Keeps the documents that a question needs, as many as fit a budget, in their order."""

    def __init__(self, max_tokens: int, policy: Policy = "auto", tokenizer: str | None = None) -> None:
        self.max_tokens = max_tokens
        self._engine = Engine(tokenizer=tokenizer)
        self._pipeline = Pipeline.from_policy(policy)

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document]) -> dict[str, list[Document]]:
        """The documents that stay: the very objects that were handed in."""
        texts = [document.content or "" for document in documents]
        counts = self._engine.count_texts(texts)["texts"] if texts else []
        items = [
            Item(text or " ", count["tokens"], kind="Document", future_relevance_hint=document.score)
            for text, count, document in zip(texts, counts, documents)
        ]
        window = self._pipeline.run(items, Budget(self.max_tokens), query=query)
        return {"documents": [documents[at] for at in window.kept]}


def _flat(messages: list[ChatMessage]) -> Flat:
    flat = Flat()
    for at, message in enumerate(messages):
        _flatten(flat, at, message)
    return flat


def _flatten(flat: Flat, at: int, message: ChatMessage) -> None:
    results = message.tool_call_results
    for result in results:
        told = result.result
        blocks = [text(told)] if isinstance(told, str) else [_block(part) for part in told]
        call_id = result.origin.id or result.origin.tool_name
        flat.add(at, {"role": "tool", "tool_call_id": call_id, "content": content(blocks)})
    if results:
        return
    others = [*message.reasonings, *message.images, *message.files]
    blocks = [*map(text, message.texts), *map(_block, others)]
    plain: dict[str, Any] = {"role": message.role.value, "content": content(blocks)}
    calls = [
        flat.call(call.tool_name, call.arguments, call.id or call.tool_name) for call in message.tool_calls
    ]
    if calls:
        plain["tool_calls"] = calls
    flat.add(at, plain)


def _block(part: Any) -> dict[str, Any]:
    """A part of a message: a text, or a picture or file with its Base64."""
    if isinstance(part, ImageContent):
        return media(part.mime_type or "image/png", data=part.base64_image)
    if isinstance(part, FileContent):
        return media(part.mime_type, data=part.base64_data)
    if isinstance(part, ReasoningContent):
        return text(part.reasoning_text)
    return text(str(getattr(part, "text", part)))
