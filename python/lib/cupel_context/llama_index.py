"""LlamaIndex: an LLM whose every call fits, a memory whose window fits, and nodes that fill a budget.

from llama_index.core.agent import FunctionAgent
from cupel_context.llama_index import bounded

agent = FunctionAgent(tools=tools, llm=bounded(llm, max_tokens=32_000))
response = await agent.run("Why did the deploy fail?")

What an agent does within a run goes past its memory, which therefore bounds what came before the run
alone; ``bounded`` sees every call, with the system prompt and the tools.
"""

from __future__ import annotations

import asyncio
import copy
import functools
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.llms import LLM
from llama_index.core.memory.types import BaseChatStoreMemory
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from ._engine import Engine
from ._flat import Flat, chosen, content, media, text, tool
from ._items import Pipeline
from ._native import Budget, Item
from ._sessions import Fitter, OnSelection, WindowOptions, fitter
from ._summaries import in_thread

if TYPE_CHECKING:
    from typing_extensions import Unpack
else:
    from ._lazy import Unpack

__all__ = ["CupelMemory", "CupelPostprocessor", "bounded"]

L = TypeVar("L", bound=LLM)


def bounded(llm: L, max_tokens: int | None = None, **options: Unpack[WindowOptions]) -> L:
    """An LLM like this one, of its class, that is sent what fits: the history, the scratchpad and the tools.

    Without ``max_tokens`` the window is the model's. Memory and history of whoever calls it stay whole. Calls
    whose conversations begin alike are a session, whose windows keep the provider's cache.
    """
    made = copy.copy(llm)
    object.__setattr__(made, "__class__", _bounded(type(llm)))
    object.__setattr__(made, "_cupel_fitter", fitter(max_tokens, options, format="openai-chat"))
    return made


@functools.cache
def _bounded(kind: Any) -> Any:
    """The class of an LLM, whose calls are made to fit."""

    def chat(self: Any, messages: Sequence[ChatMessage], **given: Any) -> Any:
        return kind.chat(self, _fitting(self, messages, given), **given)

    def stream_chat(self: Any, messages: Sequence[ChatMessage], **given: Any) -> Any:
        return kind.stream_chat(self, _fitting(self, messages, given), **given)

    async def achat(self: Any, messages: Sequence[ChatMessage], **given: Any) -> Any:
        return await kind.achat(self, await in_thread(_fitting, self, messages, given), **given)

    async def astream_chat(self: Any, messages: Sequence[ChatMessage], **given: Any) -> Any:
        fitting = await in_thread(_fitting, self, messages, given)
        return await kind.astream_chat(self, fitting, **given)

    calls = (chat, stream_chat, achat, astream_chat)
    body = {call.__name__: call for call in calls}
    return type(kind)(kind.__name__, (kind,), {**body, "__module__": kind.__module__})


def _fitting(llm: Any, messages: Sequence[ChatMessage], given: dict[str, Any]) -> list[ChatMessage]:
    """The messages of a call that fit beside its tools."""
    known = llm.metadata
    most = given.get("max_tokens") or getattr(llm, "max_tokens", None)
    head: dict[str, Any] = {"model": known.model_name}
    if isinstance(most, int) and most > 0:
        head["max_tokens"] = most
    if given.get("tools"):
        head["tools"] = [tool(one) for one in given["tools"]]
    flat = _flat(messages)
    fits: Fitter = llm._cupel_fitter
    return flat.fitting(fits, messages, _note, "calls", window=known.context_window, **head)


class CupelMemory(BaseChatStoreMemory):
    """Keeps every message, and hands out those that fit.

    Each memory is a session, whose windows keep the provider's cache. The system prompt, the tools and what
    an agent does within a run come after it, and are not counted: ``bounded`` sees them.
    """

    max_tokens: int | None = Field(default=None, description="How much fits")
    policy: str = Field(default="auto", description="What is kept")
    model: str | None = Field(default=None, description="Whose tokens are counted")
    tokenizer: str | None = Field(default=None, description="How tokens are counted")
    rules: list[str] = Field(default_factory=list, description="Standing rules that are always kept")
    _fitter: Fitter | None = PrivateAttr(default=None)
    _on_selection: OnSelection | None = PrivateAttr(default=None)

    @classmethod
    def class_name(cls) -> str:
        """The name under which it is written down."""
        return "CupelMemory"

    @classmethod
    def from_defaults(
        cls,
        chat_history: list[ChatMessage] | None = None,
        llm: Any = None,
        **settings: Any,
    ) -> CupelMemory:
        """A memory, which may begin with a history, or with what a ``chat_store`` holds."""
        if llm is not None:
            settings.setdefault("max_tokens", llm.metadata.context_window)
            settings.setdefault("model", llm.metadata.model_name or None)
        on_selection = settings.pop("on_selection", None)
        memory = cls(**settings)
        memory._on_selection = on_selection
        # A store that is handed in may hold a conversation already.
        if chat_history is not None:
            memory.set(chat_history)
        return memory

    def get(self, input: str | None = None, **_: Any) -> list[ChatMessage]:
        """The messages that fit: the very objects that are stored."""
        messages = self.get_all()
        if not messages:
            return []
        flat = _flat(messages)
        if self._fitter is None:
            engine = Engine(
                policy=self.policy,
                model=self.model,
                max_tokens=self.max_tokens,
                tokenizer=self.tokenizer,
                rules=self.rules,
                format="openai-chat",
            )
            self._fitter = Fitter(engine, on_selection=self._on_selection)
        return flat.fitting(self._fitter, messages, _note, self.chat_store_key)

    async def aget(self, input: str | None = None, **_: Any) -> list[ChatMessage]:
        """The same, while other tasks go on."""
        return await asyncio.to_thread(self.get, input)


class CupelPostprocessor(BaseNodePostprocessor):
    """Keeps the nodes that a question needs, as many as fit a budget, in their order."""

    max_tokens: int = Field(description="How much fits")
    policy: str = Field(default="auto", description="What is kept")
    tokenizer: str | None = Field(default=None, description="How tokens are counted")

    @classmethod
    def class_name(cls) -> str:
        """The name under which it is written down."""
        return "CupelPostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        texts = [node.get_content() for node in nodes]
        if not texts:
            return []
        counts = Engine(tokenizer=self.tokenizer).count_texts(texts)["texts"]
        items = [
            Item(text or " ", count["tokens"], kind="Document", future_relevance_hint=node.score)
            for text, count, node in zip(texts, counts, nodes)
        ]
        query = "" if query_bundle is None else query_bundle.query_str
        window = Pipeline.from_policy(self.policy).run(items, Budget(self.max_tokens), query=query)
        return chosen(nodes, sorted(window.kept))


def _note(words: str) -> ChatMessage:
    return ChatMessage(role="user", content=words)


def _flat(messages: Sequence[ChatMessage]) -> Flat:
    flat = Flat()
    for at, message in enumerate(messages):
        _flatten(flat, at, message)
    return flat


def _flatten(flat: Flat, at: int, message: ChatMessage) -> None:
    blocks = [one for block in message.blocks for one in _blocks(block)]
    plain: dict[str, Any] = {"role": message.role.value, "content": content(blocks)}
    calls = [
        flat.call(block.tool_name, block.tool_kwargs, block.tool_call_id or block.tool_name)
        for block in message.blocks
        if isinstance(block, ToolCallBlock)
    ]
    if not calls:
        calls = [_legacy(call) for call in message.additional_kwargs.get("tool_calls") or []]
    if calls:
        plain["tool_calls"] = calls
    if message.role.value == "tool":
        plain["tool_call_id"] = message.additional_kwargs.get("tool_call_id", "")
    flat.add(at, plain)


_FILES = {
    "image": ("image_mimetype", "image/png"),
    "audio": ("format", "wav"),
    "video": ("video_mimetype", "video/mp4"),
    "document": ("document_mimetype", "application/pdf"),
}
"""Blocks that hold files: where they say of what kind, and what they are if they do not."""


def _blocks(block: Any) -> list[dict[str, Any]]:
    """Text of a block for the model; calls are no part of it."""
    kind = block.block_type
    if isinstance(block, TextBlock):
        return [text(block.text)]
    if kind == "thinking":
        return [text(block.content or "")]
    if kind in ("citable", "citation"):
        inner = block.content if kind == "citable" else [block.cited_content]
        return [text(block.title), *(one for part in inner for one in _blocks(part))]
    if kind not in _FILES:
        return []
    attribute, default = _FILES[kind]
    told = getattr(block, attribute) or default
    media_type = told if "/" in told else f"{kind}/{told}"
    # What lies elsewhere is not fetched: it is weighed by its kind.
    if block.url is not None:
        return [media(media_type, url=str(block.url))]
    return [media(media_type, url=block.inline_url())]


def _legacy(call: Any) -> dict[str, Any]:
    """A call as older integrations of OpenAI keep it: a model, or a dict."""
    told = call if isinstance(call, dict) else json.loads(call.model_dump_json())
    made: dict[str, Any] = told
    return made
