"""Google ADK's own requests, as Google's client sends them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import story
from cupel_context.adk import CupelPlugin
from google.adk.agents import LlmAgent, RunConfig
from google.adk.models import Gemini
from google.adk.runners import InMemoryRunner
from google.genai import Client, types
from wire import CASES, MANY, SYSTEM, Story, check_story, check_summarized, ids, summary

MODEL = "gemini-2.5-flash"


def look_up(ship: int, field: str) -> str:
    """Looks up what the books say of a ship."""
    return story.look_up(ship, field)


class Local(Gemini):
    """Gemini at an address on this machine."""

    url: str

    @property
    def api_client(self) -> Client:
        return Client(api_key="k", http_options=types.HttpOptions(base_url=self.url))


async def ask(url: str, questions: tuple[str, ...], **window: Any) -> Any:
    agent = LlmAgent(name="harbour", model=Local(model=MODEL, url=url), instruction=SYSTEM, tools=[look_up])
    runner = InMemoryRunner(agent=agent, plugins=[CupelPlugin(**window)])
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id="u")
    for question in questions:
        message = types.Content(role="user", parts=[types.Part(text=question)])
        config = RunConfig(max_llm_calls=1_000)
        async for _ in runner.run_async(
            user_id="u", session_id=session.id, new_message=message, run_config=config
        ):
            pass
    return await runner.session_service.get_session(
        app_name=runner.app_name, user_id="u", session_id=session.id
    )


@pytest.mark.parametrize(("played", "budget"), CASES, ids=ids)
def test_both_stories_fit_over_the_wire(played: Story, budget: int) -> None:
    # Gemini's tokenizer is not public: a margin stays free, and the smallest budgets hold no window.
    most = int(budget * 1.4)
    stored: list[Any] = []

    def run(url: str, tokens: int, questions: tuple[str, ...]) -> None:
        stored.append(asyncio.run(ask(url, questions, max_tokens=tokens)))

    check_story(played, most, run, path="", model=MODEL)
    answers = [one for one in stored[0].events if one.content and one.content.role == "model"]
    assert len(answers) == played.requests()


def test_without_a_limit_the_window_is_the_models() -> None:
    seen: list[Any] = []

    def run(url: str, _: int, questions: tuple[str, ...]) -> None:
        asyncio.run(ask(url, questions, on_selection=seen.append))

    check_story(MANY, 1_048_576, run, path="", model=MODEL)
    assert {one.summary["budget"]["max_tokens"] for one in seen} == {1_048_576}


def test_what_is_left_out_is_summarized() -> None:
    def run(url: str, tokens: int, questions: tuple[str, ...]) -> None:
        asyncio.run(ask(url, questions, max_tokens=tokens, summarize=summary))

    check_summarized(check_story(MANY, 1_600, run, path="", model=MODEL))
