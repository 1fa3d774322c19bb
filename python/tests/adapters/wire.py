"""Two stories over the wire: what a framework really sends is valid, fits, and has what nobody would miss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cupel_context as cupel
from provider import provider
from story import ANSWER, BUDGETS, QUESTION, SYSTEM, check_chat, look_up

NOTES = "The office asks: ship {0} came in at berth {1}. Which of its papers are missing, and who signed for them?"


@dataclass(frozen=True)
class Story:
    """Questions that the user asks one after the other, and how often tools are called for each."""

    name: str
    questions: tuple[str, ...]
    steps: int

    def requests(self) -> int:
        """How many requests a run has."""
        return len(self.questions) * (self.steps + 1)


LONG = Story("one long turn", (QUESTION,), 30)
MANY = Story("many turns", tuple(NOTES.format(turn, turn % 7) for turn in range(10)), 3)

CASES = [(story, budget) for story in (LONG, MANY) for budget in BUDGETS]
"""Both stories at ten budgets."""


def ids(value: Any) -> str:
    """How a case is called."""
    return value.name.replace(" ", "-") if isinstance(value, Story) else str(value)


Run = Callable[[str, int, tuple[str, ...]], Any]
"""Asks all questions in one conversation: from the provider's address and a budget."""


def check_story(story: Story, budget: int, run: Run, *, least_head: bool = True) -> list[dict[str, Any]]:
    """Plays a story, and looks at every request as it came over the wire."""
    with provider(story.steps) as played:
        run(f"{played.url}/v1", budget, story.questions)
    bodies = played.bodies
    assert len(bodies) == story.requests(), f"{len(bodies)} requests instead of {story.requests()}"
    for at, body in enumerate(bodies):
        check_body(body, budget, story.questions[at // (story.steps + 1)])
    total = sum(len(body["messages"]) for body in bodies)
    whole = story.requests() * 4
    assert total > whole / 4, "next to nothing is sent"
    if budget >= 100_000:
        last = [one for one in bodies[-1]["messages"] if one["role"] == "user"]
        assert len(last) == len(story.questions), "everything fits, but something is missing"
    return bodies


def check_body(body: dict[str, Any], budget: int, question: str) -> None:
    """A request: of the right types, in pairs, within the budget, with its prompt and its question."""
    check_chat(body["messages"])
    counted = {name: body[name] for name in ("model", "messages", "tools") if body.get(name)}
    tokens = cupel.count(counted)["total_tokens"]
    assert tokens <= budget, f"{tokens} tokens in a budget of {budget}"
    texts = [(one["role"], str(one.get("content"))) for one in body["messages"]]
    assert any(role in ("system", "developer") and SYSTEM in text for role, text in texts), "no prompt"
    assert any(role == "user" and question in text for role, text in texts), "the question is missing"
    results = [one for one in body["messages"] if one["role"] == "tool"]
    calls = [one for one in body["messages"] if one.get("tool_calls")]
    assert bool(results) == bool(calls)


TOOL = {
    "name": "look_up",
    "description": look_up.__doc__ or "",
    "schema": {
        "type": "object",
        "properties": {"ship": {"type": "integer"}, "field": {"type": "string"}},
        "required": ["ship", "field"],
    },
}
"""The tool of the stories, as data."""

__all__ = ["ANSWER", "CASES", "LONG", "MANY", "SYSTEM", "TOOL", "Story", "check_body", "check_story", "ids"]
