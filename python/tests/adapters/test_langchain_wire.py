"""LangChain's own requests, as they leave its chat models: what was counted is what is sent."""

from __future__ import annotations

import copy
import json
import logging
import pickle
from typing import Any

import cupel_context as cupel
import pytest
from cupel_context.langchain import CupelMiddleware, pre_model_hook, trim
from langchain.agents import create_agent
from langchain.agents.structured_output import AutoStrategy, ProviderStrategy, ToolStrategy
from langchain_anthropic import ChatAnthropic
from langchain_core.exceptions import ContextOverflowError
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from provider import Provider, provider
from pydantic import BaseModel, Field
from story import BUDGETS, QUESTION, STEPS, SYSTEM, check_chat, look_up


@tool("look_up")
def looked_up(ship: int, field: str) -> str:
    """Looks up what the books say of a ship."""
    return look_up(ship, field)


class Report(BaseModel):
    """What the harbour master signs."""

    ship: int = Field(description="The number of the ship, as painted on its bow and in the books")
    berths: list[str] = Field(description="The berths where it lay, the newest first, without those of others")
    remarks: str = Field(description="Everything that the next watch has to know, in full sentences")


def openai(played: Provider) -> ChatOpenAI:
    return ChatOpenAI(model="gpt-4o", api_key="none", base_url=played.url, max_retries=0)  # type: ignore[arg-type]


def anthropic(played: Provider) -> ChatAnthropic:
    return ChatAnthropic(  # type: ignore[call-arg]
        model="claude-sonnet-4-5", api_key="none", base_url=played.url, max_retries=0
    )


def ran(model: Any, middleware: CupelMiddleware, **more: Any) -> Any:
    agent: Any = create_agent(model, [looked_up], system_prompt=SYSTEM, middleware=[middleware], **more)
    return agent.invoke({"messages": [HumanMessage(QUESTION)]}, {"recursion_limit": 1_000})


def tokens(body: dict[str, Any]) -> int:
    return cupel.count(body)["total_tokens"]


@pytest.mark.parametrize("budget", BUDGETS)
def test_what_openai_gets_fits_the_budget(budget: int) -> None:
    with provider() as played:
        ran(openai(played), CupelMiddleware(budget))
    assert len(played.bodies) == STEPS + 1
    for body in played.bodies:
        assert cupel.validate(body)["violations"] == []
        check_chat(body["messages"])
        assert tokens(body) <= budget, "more is sent than was counted"


@pytest.mark.parametrize("budget", BUDGETS)
def test_what_anthropic_gets_fits_the_budget(budget: int) -> None:
    # Claude's tokenizer is not public, so that a margin stays free: the smallest budgets hold no window.
    budget = int(budget * 1.4)
    windows: list[Any] = []
    with provider() as played:
        ran(anthropic(played), CupelMiddleware(budget, on_selection=windows.append))
    assert len(played.bodies) == len(windows) == STEPS + 1
    for body, window in zip(played.bodies, windows):
        assert cupel.validate(body)["violations"] == []
        assert tokens(body) <= budget, "more is sent than was counted"
        assert window.summary["model"] == "claude-sonnet-4-5"
        assert window.summary["is_estimate"] and window.summary["budget"]["margin_percent"] > 0


@pytest.mark.parametrize("strategy", [ToolStrategy, AutoStrategy, ProviderStrategy, lambda schema: schema])
def test_the_schema_of_a_structured_answer_counts(strategy: Any) -> None:
    windows: list[Any] = []
    with provider(steps=8) as played, pytest.raises(Exception, match=r".*"):
        # The script gives no structured answer, which is not what this is about.
        ran(
            openai(played),
            CupelMiddleware(100_000, on_selection=windows.append),
            response_format=strategy(Report),
        )
        raise RuntimeError("all is well")
    assert len(played.bodies) > 5
    for body, window in zip(played.bodies, windows):
        assert "without those of others" in json.dumps(body)
        assert 0.95 * window.tokens <= tokens(body) <= window.tokens


def test_without_a_budget_the_window_is_that_of_the_model() -> None:
    windows: list[Any] = []
    for make, window, reserve in ((openai, 128_000, 4_096), (anthropic, 200_000, 64_000)):
        with provider(steps=1) as played:
            ran(make(played), CupelMiddleware(on_selection=windows.append))
        budget = windows[-1].summary["budget"]
        assert (budget["max_tokens"], budget["output_reserve"]) == (window, reserve)


class Greets(FakeListChatModel):
    """A model that no table knows."""

    responses: list[str] = ["Hello!"]
    bound: list[Any] = []

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        self.bound.extend(tools)
        return self


def test_a_model_that_only_langchain_knows_has_its_window() -> None:
    windows: list[Any] = []
    middleware = CupelMiddleware(on_selection=windows.append)
    ran(Greets(profile={"max_input_tokens": 700}), middleware)
    assert windows[0].summary["budget"]["max_tokens"] == 700
    with pytest.raises(cupel.CupelError, match="max_tokens"):
        ran(Greets(), middleware)


HOSTED = [
    {"google_search": {}},
    {"type": "custom", "name": "patch", "description": "Writes a patch.", "format": {"type": "text"}},
    {"type": "web_search_20250305", "name": "web_search", "max_uses": 5},
    {"type": "mcp", "server_label": "docs", "server_url": "https://example.org", "require_approval": "never"},
    {"type": "computer_use_preview", "display_width": 1024, "display_height": 768},
]


@pytest.mark.parametrize("hosted", HOSTED, ids=[str(next(iter(one.values()))) for one in HOSTED])
def test_hosted_tools_go_through(hosted: dict[str, Any]) -> None:
    model = Greets(bound=[])
    agent: Any = create_agent(model, [looked_up, hosted], middleware=[CupelMiddleware(1_000)])
    assert agent.invoke({"messages": [HumanMessage("Hi")]})["messages"][-1].content == "Hello!"
    assert hosted in model.bound


def test_what_does_not_fit_is_an_error_that_langchain_knows() -> None:
    with provider(steps=1) as played, pytest.raises(ContextOverflowError) as caught:
        ran(openai(played), CupelMiddleware(20))
    assert played.bodies == []
    assert isinstance(caught.value, cupel.DoesNotFitError)
    assert caught.value.details["parts"] and caught.value.remedy
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value) and again.details == caught.value.details
    with pytest.raises(ContextOverflowError):
        trim([HumanMessage(QUESTION * 20)], max_tokens=20)
    with pytest.raises(ContextOverflowError):
        pre_model_hook(20)({"messages": [HumanMessage(QUESTION * 20)]})


def test_every_window_is_told(caplog: pytest.LogCaptureFixture) -> None:
    windows: list[Any] = []
    with caplog.at_level(logging.INFO, "cupel"), provider(steps=20) as played:
        ran(openai(played), CupelMiddleware(900, on_selection=windows.append))
    assert len(windows) == 21
    short = [one for one in windows if len(one.kept) < one.summary["messages_before"]]
    records = [record for record in caplog.records if record.name == "cupel"]
    assert len(records) == len(short) > 0
    last = short[-1].summary
    assert records[-1].levelno == logging.INFO
    assert records[-1].getMessage().startswith(f"kept {last['messages_after']} of {last['messages_before']}")
    assert records[-1].cupel == last  # type: ignore[attr-defined]


def test_a_callback_that_raises_stops_the_call() -> None:
    def refuse(window: Any) -> None:
        raise KeyError("not today")

    with provider(steps=1) as played, pytest.raises(KeyError, match="not today"):
        ran(openai(played), CupelMiddleware(900, on_selection=refuse))
    assert played.bodies == []


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_the_middleware_pickles_and_copies(copied: Any) -> None:
    middleware = CupelMiddleware(900)
    with provider() as played:
        ran(openai(played), copied(middleware))
    with provider() as same:
        ran(openai(same), middleware)
    assert played.bodies == same.bodies


def test_arguments_count_as_they_are_sent() -> None:
    """With spaces, as Python writes JSON, and with letters as they are."""
    model = ChatOpenAI(model="gpt-4o", api_key="none")  # type: ignore[arg-type]
    arguments = {"ship": 1, "names": ["Möwe", "Кит"], "where": {"from": None, "to": [1.5, True]}}
    call = {"name": "look_up", "args": arguments, "id": "c1"}
    window = [
        SystemMessage(SYSTEM),
        HumanMessage(QUESTION),
        AIMessage("", tool_calls=[call]),
        ToolMessage("At the pier.", tool_call_id="c1"),
    ]
    sent = model._get_request_payload(window)
    assert cupel.count(window)["total_tokens"] == cupel.count(sent)["total_tokens"]
