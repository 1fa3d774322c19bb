"""Summaries of what a window leaves out: asked for once, sent in its place, the same in every window after."""

from __future__ import annotations

import asyncio
import copy
import itertools
import pickle
import re
from pathlib import Path
from typing import Any

import cupel_context as cupel
import pytest
from cupel_context._sessions import fitter
from cupel_context.langchain import CupelMiddleware
from langchain.agents import create_agent
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from provider import provider
from story import look_up
from wire import LONG, MANY, SYSTEM, Story, check_body, ids


@tool("look_up")
def looked_up(ship: int, field: str) -> str:
    """Looks up what the books say of a ship."""
    return look_up(ship, field)


class Summaries:
    """Says how many messages it was given, and remembers them."""

    def __init__(self) -> None:
        self.given: list[list[Any]] = []

    def __call__(self, messages: list[Any]) -> str:
        self.given.append(list(messages))
        return f"The {len(self.given)}. summary: {len(messages)} messages of ships."

    async def later(self, messages: list[Any]) -> str:
        await asyncio.sleep(0)
        return self(messages)


def play(story: Story, budget: int, *, is_async: bool = False, thread: str | None = "t") -> Any:
    """All requests of a story as they were sent, and who summarized."""
    summaries = Summaries()
    with provider(story.steps) as played:
        model = ChatOpenAI(model="gpt-4o", api_key="none", base_url=f"{played.url}/v1", max_retries=0)  # type: ignore[arg-type]
        middleware = CupelMiddleware(budget, summarize=summaries.later if is_async else summaries)
        agent: Any = create_agent(
            model, [looked_up], system_prompt=SYSTEM, middleware=[middleware], checkpointer=InMemorySaver()
        )
        config = {"configurable": {"thread_id": thread}, "recursion_limit": 1_000}
        for question in story.questions:
            state = {"messages": [HumanMessage(question)]}
            if is_async:
                asyncio.run(agent.ainvoke(state, config))
            else:
                agent.invoke(state, config)
    return played.bodies, summaries


def notes(body: dict[str, Any]) -> list[str]:
    return [one["content"] for one in body["messages"] if str(one["content"]).startswith("Summary of ")]


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("budget", [1_100, 2_000, 100_000])
@pytest.mark.parametrize("story", [LONG, MANY], ids=ids)
def test_what_is_left_out_is_summarized_once(story: Story, budget: int, is_async: bool) -> None:
    bodies, summaries = play(story, budget, is_async=is_async)
    assert len(bodies) == story.requests()
    for at, body in enumerate(bodies):
        check_body(body, budget, story.questions[at // (story.steps + 1)])
    told = [one for given in summaries.given for one in given if isinstance(one, BaseMessage)]
    assert len({id(one) for one in told}) == len(told), "a message was summarized twice"
    if budget >= 100_000:
        assert not summaries.given and not any(map(notes, bodies))
        return
    assert summaries.given and notes(bodies[-1])
    # From the first window that has one on, all have.
    first = next(body for body in bodies if notes(body))
    behind = bodies[bodies.index(first) :]
    assert all(notes(body) for body in behind)


def test_summaries_keep_the_cache() -> None:
    """Where nothing new is left out, a window begins as the one before."""
    bodies, _ = play(MANY, 1_600)
    changed = sum(
        notes(one) != notes(other) or other["messages"][: len(one["messages"])] != one["messages"]
        for one, other in itertools.pairwise(bodies)
    )
    assert changed <= len(bodies) / 3, f"{changed} of {len(bodies)} windows begin anew"


def test_the_blocks_of_the_page_run() -> None:
    page = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    blocks = [one for one in blocks if re.search(r"^from langchain", one, re.MULTILINE)]
    assert len(blocks) == 2
    with provider(MANY.steps) as played:
        model = ChatOpenAI(model="gpt-4o", api_key="none", base_url=f"{played.url}/v1", max_retries=0)  # type: ignore[arg-type]
        small = FakeListChatModel(responses=["The tides were high."])
        namespace: dict[str, Any] = {"model": model, "tools": [looked_up], "small_model": small}
        for block in blocks:
            exec(compile(block, "README.md", "exec"), namespace)
        namespace["agent"].invoke({"messages": [HumanMessage(MANY.questions[0])]})
        assert len(played.bodies) == MANY.steps + 1
    told = asyncio.run(namespace["summarize"]([HumanMessage("The tide was high.")]))
    assert told == "The tides were high."


def test_summaries_pickle_and_copy_with_the_middleware() -> None:
    fits = fitter(300, {"summarize": _counted})
    history: list[Any] = [
        {"role": "user" if at % 2 == 0 else "assistant", "content": f"Note {at}: the tide was {at} feet high. " * 4}
        for at in range(31)
    ]
    first = fits.window(history, "k").messages
    assert any("Summary of" in one["content"] for one in first)
    for copied in (copy.deepcopy(fits), pickle.loads(pickle.dumps(fits))):
        assert copied.window(history, "k").messages == first
    # Another history under the same id has summaries of its own.
    other = [{"role": "user", "content": "Something else?"}]
    assert fits.window(other, "k").messages == other


def _counted(messages: list[Any]) -> str:
    return f"{len(messages)} notes of tides."


def test_a_summary_that_is_no_text_is_an_error() -> None:
    fits = fitter(100, {"summarize": lambda messages: 7})  # type: ignore[typeddict-item, return-value]
    history = [{"role": "user", "content": f"Note {at}: the tide was high. " * 4} for at in range(9)]
    with pytest.raises(cupel.CupelError, match="summarize: must return a text, got `int`"):
        fits.window(history, "k")


def test_where_no_summary_fits_the_window_goes_without() -> None:
    fits = fitter(120, {"summarize": lambda messages: "tide " * 500})
    history = [{"role": "user", "content": f"Note {at}: the tide was high. " * 4} for at in range(9)]
    window = fits.window(history, "k")
    assert window.tokens <= 120 and window.messages[-1] is history[-1]
    assert not any("Summary of" in one["content"] for one in window.messages)
