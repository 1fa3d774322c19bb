"""Haystack: a compactor for agents, and a ranker that fills a budget.

from haystack.hooks.compaction import CompactionHook
from cupel_context.haystack import CupelCompactor

hook = CompactionHook(compactor=CupelCompactor(), context_window=32_000)
"""

from __future__ import annotations

import asyncio
from typing import Any

from haystack import Document, component
from haystack.core.serialization import default_from_dict, default_to_dict
from haystack.dataclasses import ChatMessage, FileContent, ImageContent, ReasoningContent
from haystack.token_counters import TokenCounter

from . import _settings
from ._engine import Engine
from ._flat import Flat, chosen, content, media, text
from ._items import Pipeline
from ._native import Budget, Item
from ._sessions import Fitter
from ._settings import Policy, Rules

__all__ = ["CupelCompactor", "CupelRanker"]


class CupelCompactor:
    """Keeps the best of a conversation: system prompt, the last question, and what it needs.

    Sizes are those of the counter that Haystack hands in: if the result is too large by it, the
    budget is lowered until it fits. Tools are not counted: leave room for them.
    """

    def __init__(self, policy: str = "auto", tokenizer: str | None = None, rules: Rules = ()) -> None:
        self.policy = policy
        self.tokenizer = tokenizer
        self.rules = _settings.rules(rules)
        engine = Engine(policy=policy, tokenizer=tokenizer, rules=self.rules, format="openai-chat")
        self._fitter = Fitter(engine, sessions=False)

    def compact(
        self, messages: list[ChatMessage], target_tokens: int, token_counter: TokenCounter
    ) -> list[ChatMessage] | None:
        """A shorter conversation of the same messages, or ``None`` if nothing has to go."""
        before = token_counter.count(messages=messages)
        if before <= target_tokens:
            return None
        flat = Flat()
        for at, message in enumerate(messages):
            _flatten(flat, at, message)
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
        """What must be kept costs so much."""
        curve = self._fitter.engine.curve(flat.messages, 2, shorten="off")
        return curve["points"][0]["budget"]

    def _kept(self, flat: Flat, messages: list[ChatMessage], budget: int) -> list[ChatMessage]:
        # A target is a goal: what must be kept is kept, whatever it costs.
        least = max(budget, self._least(flat))
        kept = self._fitter.engine.select(flat.messages, max_tokens=least, shorten="off")
        return chosen(messages, flat.owners(kept.kept))

    def to_dict(self) -> dict[str, Any]:
        """What it was made with."""
        return default_to_dict(self, policy=self.policy, tokenizer=self.tokenizer, rules=self.rules)

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
