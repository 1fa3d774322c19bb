"""LlamaIndex: a memory under an agent, and a postprocessor of nodes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import cupel_context as cupel
import pytest
from cupel_context._flat import Flat
from cupel_context.llama_index import CupelMemory, CupelPostprocessor, _flatten
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    DocumentBlock,
    ImageBlock,
    LLMMetadata,
    MessageRole,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai.utils import to_openai_message_dicts
from story import (
    ANSWER,
    BUDGETS,
    QUESTION,
    STEPS,
    SYSTEM,
    Sent,
    calls,
    check_chat,
    check_pairs,
    check_run,
    look_up,
    picture,
)


class Script(FunctionCallingLLM):
    """Calls tools for sixty steps, then answers. Notes what it was sent."""

    seen: list[Any] = []
    last: int = STEPS

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_function_calling_model=True, context_window=1_600)

    def _prepare_chat_with_tools(
        self, tools: Any, user_msg: Any = None, chat_history: Any = None, **_: Any
    ) -> dict[str, Any]:
        messages = list(chat_history or [])
        return {"messages": [*messages, user_msg] if user_msg else messages}

    def chat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponse:
        self.seen.append(list(messages))
        step = len(self.seen) - 1
        blocks: list[Any] = [
            ToolCallBlock(tool_call_id=call.id, tool_name=call.name, tool_kwargs=call.arguments)
            for call in (calls(step) if step < self.last else [])
        ]
        message = ChatMessage(role=MessageRole.ASSISTANT, blocks=blocks or [TextBlock(text=ANSWER)])
        return ChatResponse(message=message)

    async def achat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponse:
        return self.chat(messages)

    async def achat_with_tools(self, tools: Any, **options: Any) -> ChatResponse:
        return self.chat(self._prepare_chat_with_tools(tools, **options)["messages"])

    async def astream_chat_with_tools(self, tools: Any, **options: Any) -> Any:
        async def one() -> Any:
            yield await self.achat_with_tools(tools, **options)

        return one()

    def get_tool_calls_from_response(self, response: ChatResponse, **_: Any) -> list[ToolSelection]:
        return [
            ToolSelection(
                tool_id=block.tool_call_id or "",
                tool_name=block.tool_name,
                tool_kwargs=dict(block.tool_kwargs),
            )  # type: ignore[arg-type]
            for block in response.message.blocks
            if isinstance(block, ToolCallBlock)
        ]

    def complete(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def acomplete(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    def stream_chat(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def astream_chat(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    def stream_complete(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def astream_complete(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


def sent(messages: list[ChatMessage]) -> list[Sent]:
    return [
        Sent(
            message.role.value,
            [block.tool_call_id or "" for block in message.blocks if isinstance(block, ToolCallBlock)],
            [message.additional_kwargs["tool_call_id"]] if message.role == MessageRole.TOOL else [],
        )
        for message in messages
    ]


def tokens(messages: list[ChatMessage]) -> int:
    flat = [{"role": one.role.value, "content": one.content or "", **_extra(one)} for one in messages]
    return cupel.count(flat)["total_tokens"]


def _extra(message: ChatMessage) -> dict[str, Any]:
    asked = [
        {
            "id": block.tool_call_id,
            "type": "function",
            "function": {"name": block.tool_name, "arguments": json.dumps(block.tool_kwargs)},
        }
        for block in message.blocks
        if isinstance(block, ToolCallBlock)
    ]
    if asked:
        return {"tool_calls": asked}
    if message.role == MessageRole.TOOL:
        return {"tool_call_id": message.additional_kwargs["tool_call_id"]}
    return {}


def history(steps: int) -> list[ChatMessage]:
    messages = [ChatMessage(role="system", content=SYSTEM), ChatMessage(role="user", content=QUESTION)]
    for step in range(steps):
        blocks: list[Any] = [
            ToolCallBlock(tool_call_id=call.id, tool_name=call.name, tool_kwargs=call.arguments)
            for call in calls(step)
        ]
        messages.append(ChatMessage(role="assistant", blocks=blocks))
        messages += [
            ChatMessage(
                role="tool", content=look_up(**call.arguments), additional_kwargs={"tool_call_id": call.id}
            )
            for call in calls(step)
        ]
    return messages


def check_own(window: list[ChatMessage]) -> None:
    """LlamaIndex reads its messages back, and makes a request of Chat of them."""
    assert [ChatMessage.model_validate(one.model_dump()) for one in window] == window
    check_chat(list(to_openai_message_dicts(window, model="gpt-4o")))


@pytest.mark.parametrize("budget", BUDGETS)
def test_a_memory_of_sixty_steps_fits(budget: int) -> None:
    memory = CupelMemory.from_defaults(max_tokens=budget)
    whole = history(STEPS)
    windows = []
    for steps in range(STEPS + 1):
        memory.set(whole[: len(history(steps))])
        windows.append(memory.get())
    check_run([sent(window) for window in windows], [tokens(window) for window in windows], budget)
    for window in windows:
        check_own(window)
    # What is stored is whole, and what comes out are the stored messages themselves.
    stored = memory.get_all()
    assert len(stored) == len(whole)
    assert all(any(one is own for own in stored) for one in windows[-1])
    check_pairs(sent(stored))


@pytest.mark.parametrize("budget", BUDGETS)
def test_an_agent_takes_the_memory(budget: int) -> None:
    """Between runs an agent asks its memory; within a run it adds its steps itself."""
    model = Script(seen=[], last=1)
    tool = FunctionTool.from_defaults(look_up, name="look_up")
    agent = FunctionAgent(llm=model, tools=[tool], system_prompt=SYSTEM, streaming=False)
    memory = CupelMemory.from_defaults(chat_history=history(STEPS)[1:], max_tokens=budget)
    before = len(memory.get_all())

    async def main() -> Any:
        return await agent.run("And ship 3?", memory=memory, max_iterations=500)

    asyncio.run(main())
    assert len(model.seen) == 2
    first = [one for one in model.seen[0] if one.role != MessageRole.SYSTEM]
    check_pairs(sent(first))
    check_own(model.seen[0])
    assert tokens(first) <= budget
    assert len(memory.get_all()) > before


def test_a_memory_takes_the_window_of_its_model() -> None:
    assert CupelMemory.from_defaults(llm=Script()).max_tokens == 1_600
    assert CupelMemory.from_defaults(max_tokens=10).get() == []


def test_a_store_that_is_handed_in_keeps_what_it_holds() -> None:
    store = SimpleChatStore()
    first = CupelMemory.from_defaults(history(3), chat_store=store, chat_store_key="ann", max_tokens=5_000)
    again = CupelMemory.from_defaults(chat_store=store, chat_store_key="ann", max_tokens=5_000)
    assert again.get() == first.get() == history(3)
    other = CupelMemory.from_defaults(chat_store=store, chat_store_key="bob", max_tokens=5_000)
    assert other.get() == []
    assert CupelMemory.from_defaults([], chat_store=store, chat_store_key="ann", max_tokens=9).get() == []


def test_pictures_and_files_count() -> None:
    def tokens(*blocks: Any) -> int:
        flat = Flat()
        _flatten(flat, 0, ChatMessage(role="user", blocks=[TextBlock(text="What is it?"), *blocks]))
        return cupel.count(flat.messages)["total_tokens"]

    small, large = (ImageBlock(image=picture(side)) for side in (100, 1_000))
    assert tokens() + 50 < tokens(small) < tokens(large)
    assert tokens(ImageBlock(url="https://example.com/a.png")) > tokens() + 50
    pdf = DocumentBlock(data=b"%PDF-1.4 " + b"/Type /Page " * 3, title="a.pdf")
    assert tokens(pdf) > tokens() + 50


def test_nodes_fill_a_budget() -> None:
    nodes = [
        NodeWithScore(node=TextNode(text=f"Ship {n} lies at berth {n % 7} since Monday."), score=n / 20)
        for n in range(20)
    ]
    nodes.append(NodeWithScore(node=TextNode(text="The deploy key is on the blue card."), score=0.1))
    kept = CupelPostprocessor(max_tokens=60).postprocess_nodes(nodes, query_str="Where is the deploy key?")
    assert any(one is nodes[-1] for one in kept)
    assert all(any(one is own for own in nodes) for one in kept)
    counted = cupel.Engine().count_texts([one.get_content() for one in kept])["total_tokens"]
    assert 0 < counted <= 60
    assert CupelPostprocessor(max_tokens=60).postprocess_nodes([]) == []


def test_the_example_runs(example: Any) -> None:
    assert "Stored: 102 Sent: " in example("llama_index_chat.py")
