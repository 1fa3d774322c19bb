"""Sessions keep the prompt cache, and survive being written down."""

from __future__ import annotations

import datetime
import json
from typing import Any

import cupel_context as cupel
import pytest


def history(turns: int) -> list[dict[str, Any]]:
    """So many answered questions, and one more; a longer history begins with a shorter one."""
    messages: list[dict[str, Any]] = []
    for turn in range(turns + 1):
        messages.append({"role": "user", "content": f"Question {turn}: what is {turn} times seven?"})
        messages.append({"role": "assistant", "content": f"It is {turn * 7}. " + "Well. " * 20})
    return messages[:-1]


def test_windows_change_at_their_end_alone() -> None:
    session = cupel.Session(cupel.Engine(max_tokens=400, tokenizer="o200k_base"))
    before: list[int] = []
    cached = uncached = 0
    for turns in range(1, 30):
        messages = history(turns)
        step = session.next(messages)
        assert step.tokens <= 400
        assert all(message is messages[at] for message, at in zip(step.messages, step.kept))
        unchanged = step.session["unchanged_messages"]
        assert step.kept[:unchanged] == before[:unchanged]
        cached += step.session["cached_tokens"]
        uncached += step.session["uncached_tokens"]
        before = step.kept
        assert session.accept()
    assert cached > uncached
    assert step.session["number"] == 29


def test_a_step_that_was_not_accepted_spends_nothing() -> None:
    session = cupel.Session(cupel.Engine(max_tokens=400))
    assert session.dumps() == "null"
    first = session.next(history(3))
    assert session.next(history(3)).answer == first.answer
    session.roll_back()
    assert not session.accept()
    assert session.dumps() == "null"


def test_a_session_goes_on_in_another_process() -> None:
    engine = cupel.Engine(max_tokens=400)
    session = engine.session()
    session.next(history(5))
    session.accept()
    written = session.dumps()
    assert "times seven" not in written and json.loads(written)["steps"] == 1
    again = cupel.Session.loads(written, engine)
    assert again.next(history(6)).answer == session.next(history(6)).answer
    assert cupel.Session.loads("null", engine).next(history(2)).session["number"] == 1
    for broken in ("", "{}", '{"schema": "cupel-session/9"}'):
        with pytest.raises(cupel.CupelError) as caught:
            cupel.Session.loads(broken, engine)
        assert caught.value.code == "invalid-state"


def test_a_failed_step_leaves_the_session_as_it_was() -> None:
    session = cupel.Session(cupel.Engine(max_tokens=400))
    session.next(history(2))
    session.accept()
    before = session.dumps()
    with pytest.raises(cupel.DoesNotFitError):
        session.next(history(3), max_tokens=1)
    assert session.dumps() == before


def test_time_tells_whether_the_provider_remembers() -> None:
    session = cupel.Session(cupel.Engine(max_tokens=400), cache_lifetime=datetime.timedelta(seconds=60))
    session.next(history(2), now=1_000.0)
    session.accept()
    assert "new_account" not in session.next(history(3), now=1_050.5).session
    assert session.next(history(3), now=1_061.0).session["new_account"] == "cache-expired"


def test_marks_for_the_cache_are_written_where_they_are_asked_for() -> None:
    engine = cupel.Engine(max_tokens=4_000, tokenizer="o200k_base", format="anthropic")
    request = {"system": "Be brief.", "messages": history(3)}
    step = cupel.Session(engine, cache_marks=True).next(request)
    assert "cache_control" in step.text
    assert "cache_control" not in cupel.Session(engine).next(request).text


def test_a_long_history_that_comes_at_once_fills_the_window_of_an_adapter() -> None:
    from cupel_context._sessions import Fitter

    engine = cupel.Engine(max_tokens=400)
    messages = [
        *history(40),
        {"role": "assistant", "content": "Well."},
        {"role": "user", "content": "Yes, do that."},
    ]
    window = Fitter(engine).window(messages, "thread")
    assert window.tokens >= 0.5 * engine.select(messages).tokens
    assert len(window.kept) > 2


def test_conversations_that_share_an_id_share_no_session() -> None:
    """The runs of a framework may go on side by side under one id: each keeps its own cache."""
    from cupel_context._sessions import Fitter

    def talk(name: str, turns: int) -> list[dict[str, Any]]:
        system = {"role": "system", "content": "Be brief."}
        return [system, {"role": "user", "content": f"I am {name}."}, *history(turns)]

    def numbers(names: list[str]) -> list[int]:
        fitter = Fitter(cupel.Engine(max_tokens=400))
        told = []
        for turns in range(1, 6):
            for name in names:
                step = fitter.window(talk(name, turns), ("run", "agent"))
                told.append(step.session["number"])  # type: ignore[union-attr]
        return told

    assert numbers(["Ann"]) == [1, 2, 3, 4, 5]
    assert numbers(["Ann", "Bob"]) == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
