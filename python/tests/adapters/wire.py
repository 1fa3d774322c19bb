"""Two stories over the wire: what a framework really sends is valid, fits, and has what nobody would miss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cupel_context as cupel
from provider import provider
from story import ANSWER, BUDGETS, QUESTION, SYSTEM, Sent, check_chat, check_pairs, look_up, of_chat

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


def check_story(
    story: Story, budget: int, run: Run, *, path: str = "/v1", model: str | None = None
) -> list[dict[str, Any]]:
    """Plays a story, and looks at every request as it came over the wire.

    ``model`` is named where the request itself does not, as in those of Gemini.
    """
    with provider(story.steps) as played:
        run(f"{played.url}{path}", budget, story.questions)
    bodies = played.bodies
    assert len(bodies) == story.requests(), f"{len(bodies)} requests instead of {story.requests()}"
    for at, body in enumerate(bodies):
        check_body(body, budget, story.questions[at // (story.steps + 1)], model=model)
    total = sum(len(read(body)) for body in bodies)
    assert total > story.requests(), "next to nothing is sent"
    if budget >= 100_000:
        asked = [text for _, text in read(bodies[-1]) if any(one in text for one in story.questions)]
        assert len(asked) == len(story.questions), "everything fits, but something is missing"
    return bodies


def check_body(body: dict[str, Any], budget: int, question: str, *, model: str | None = None) -> None:
    """A request: of the right types, in pairs, within the budget, with its prompt and its question."""
    if "messages" in body and "system" not in body:
        check_chat(body["messages"])
    told = read(body)
    check_pairs([sent for sent, _ in told])
    counted = {**({"model": model} if model else {}), **{name: body[name] for name in COUNTED if body.get(name)}}
    assert cupel.validate(counted)["violations"] == []
    tokens = cupel.count(counted)["total_tokens"]
    assert tokens <= budget, f"{tokens} tokens in a budget of {budget}"
    assert any(sent.role == "system" and SYSTEM in text for sent, text in told), "no prompt"
    assert any(sent.role == "user" and question in text for sent, text in told), "the question is missing"
    assert any(sent.calls for sent, _ in told) == any(sent.answers for sent, _ in told)


COUNTED = (
    *("model", "messages", "input", "contents", "instructions", "system", "systemInstruction"),
    *("tools", "response_format", "text"),
)
"""The fields of a request that models read."""


def read(body: dict[str, Any]) -> list[tuple[Sent, str]]:
    """The messages of a request in any of the four shapes, with their words."""
    if "contents" in body:
        return _of_gemini(body)
    if "input" in body:
        return _of_responses(body)
    if "system" in body:
        return _of_anthropic(body)
    texts = [str(one.get("content")) for one in body["messages"]]
    return list(zip(of_chat(body["messages"]), texts))


def _of_gemini(body: dict[str, Any]) -> list[tuple[Sent, str]]:
    """Calls of Gemini have no ids; names stand for them."""
    told = [(Sent("system", [], []), str(body.get("systemInstruction")))]
    for content in body["contents"]:
        parts = content["parts"]
        asked = [part["functionCall"]["name"] for part in parts if "functionCall" in part]
        answered = [part["functionResponse"]["name"] for part in parts if "functionResponse" in part]
        role = "assistant" if content["role"] == "model" else "user"
        told.append((Sent(role, asked, answered), str(parts)))
    return told


def _of_responses(body: dict[str, Any]) -> list[tuple[Sent, str]]:
    told = [(Sent("system", [], []), str(body.get("instructions")))]
    for item in body["input"]:
        kind = item.get("type", "message")
        if kind == "function_call" and told[-1][0].calls and not told[-1][0].answers:
            # Calls of one step stand beside each other, and so do their results.
            told[-1][0].calls.append(item["call_id"])
        elif kind == "function_call":
            told.append((Sent("assistant", [item["call_id"]], []), ""))
        elif kind == "function_call_output":
            told.append((Sent("tool", [], [item["call_id"]]), str(item["output"])))
        else:
            told.append((Sent(item["role"], [], []), str(item["content"])))
    return told


def _of_anthropic(body: dict[str, Any]) -> list[tuple[Sent, str]]:
    told = [(Sent("system", [], []), str(body["system"]))]
    for message in body["messages"]:
        blocks = message["content"] if isinstance(message["content"], list) else []
        asked = [block["id"] for block in blocks if block["type"] == "tool_use"]
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        told.append((Sent(message["role"], asked, answered), str(message["content"])))
    return told


def summary(messages: list[Any]) -> str:
    """What a program might say of messages that are left out."""
    return f"{len(messages)} messages of ships were read."


def check_summarized(bodies: list[dict[str, Any]]) -> None:
    """What was left out of the last request is told in words, and was before the request that came last."""
    told = [sum(text.count("Summary of ") for _, text in read(body)) for body in bodies]
    assert told[0] == 0 and told[-1] > 0, told


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

__all__ = ["ANSWER", "CASES", "LONG", "MANY", "SYSTEM", "TOOL", "Story", "check_body", "check_story", "check_summarized", "ids", "summary"]
