"""What somebody who comes from another library stumbles over: live lists, bare texts, copies, bad arguments."""

from __future__ import annotations

import copy
import json
import pickle
import typing
from typing import Any

import cupel_context as cupel
import pytest

MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "The deploy key is on the blue card."},
    {"role": "assistant", "content": "Noted."},
    {"role": "user", "content": "Lunch is at noon, soup again, and the printer is out of paper."},
    {"role": "user", "content": "Where is the deploy key?"},
]


def test_a_selection_keeps_what_was_handed_in_while_the_list_goes_on() -> None:
    live = list(MESSAGES)
    selection = cupel.select(live, max_tokens=40)
    live.insert(0, {"role": "system", "content": "Be terse."})
    live.append({"role": "assistant", "content": "On the blue card."})
    assert selection.kept == [0, 1, 3]
    assert selection.messages == [MESSAGES[0], MESSAGES[1], MESSAGES[3]]
    assert selection.messages[0] is MESSAGES[0]


def test_a_request_that_goes_on_changes_no_window() -> None:
    live: dict[str, Any] = {"model": "gpt-4o", "messages": list(MESSAGES)}
    selection = cupel.select(live, max_tokens=40)
    live["messages"].clear()
    live["model"] = "gpt-4o-mini"
    assert selection.request == {"model": "gpt-4o", "messages": [MESSAGES[at] for at in (0, 1, 3)]}


def test_what_a_provider_would_refuse_is_said_in_the_message() -> None:
    orphan = [MESSAGES[0], {"role": "tool", "tool_call_id": "a", "content": "1"}]
    with pytest.raises(cupel.InvalidRequestError) as caught:
        cupel.select(orphan, max_tokens=100)
    error = caught.value
    assert error.path == "[1]"
    assert "the result of `a` has no call before it" in str(error) and "cupel.repair" in str(error)
    assert "problem" not in str(error)
    with pytest.raises(cupel.InvalidRequestError, match="1 more in details"):
        cupel.select([*orphan, {"role": "tool", "tool_call_id": "b", "content": "1"}], max_tokens=100)


@pytest.mark.parametrize("as_bytes", [False, True])
def test_the_mark_of_a_byte_order_is_no_part_of_a_request(as_bytes: bool) -> None:
    text = "\ufeff" + json.dumps(MESSAGES)
    selection = cupel.select(text.encode() if as_bytes else text, max_tokens=40)
    assert selection.kept == [0, 1, 3]
    assert selection.messages == [MESSAGES[at] for at in (0, 1, 3)]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("as_bytes", [False, True])
def test_a_message_on_each_line_is_a_list_of_them(end: str, as_bytes: bool) -> None:
    text = end.join(map(json.dumps, MESSAGES)) + end
    selection = cupel.select(text.encode() if as_bytes else text, max_tokens=40)
    assert selection.messages == [MESSAGES[at] for at in (0, 1, 3)]
    assert isinstance(selection.request, bytes if as_bytes else str)
    assert [json.loads(line) for line in selection.request.splitlines()] == selection.messages


def test_requests_on_lines_are_refused_with_what_to_do() -> None:
    line = json.dumps({"model": "gpt-4o", "messages": MESSAGES})
    with pytest.raises(cupel.CupelError, match="select_batch"):
        cupel.select(f"{line}\n{line}\n", max_tokens=40)


def test_a_request_comes_back_in_its_shape() -> None:
    given = {"model": "gpt-4o", "input": "Where is the deploy key?"}
    assert cupel.select(given, max_tokens=100).request == given


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
class TestCopies:
    """All whose state is data goes to another process, and comes back."""

    def test_engines(self, copied: Any) -> None:
        engine = cupel.Engine(max_tokens=40, policy="chat", pins=[0], rules="never use tabs")
        again = copied(engine)
        assert again.policy == "chat" and again.max_tokens == 40
        assert again.select(MESSAGES).kept == engine.select(MESSAGES).kept

    def test_sessions(self, copied: Any) -> None:
        session = cupel.Session(cupel.Engine(max_tokens=1_000), cache_marks=True)
        session.next(MESSAGES)
        session.accept()
        again = copied(session)
        assert again.dumps() == session.dumps() != "null"
        longer = [*MESSAGES, {"role": "assistant", "content": "On the blue card."}, MESSAGES[3]]
        assert again.next(longer).session == session.next(longer).session

    def test_selections_and_steps(self, copied: Any) -> None:
        engine = cupel.Engine(max_tokens=40)
        selection = engine.select(MESSAGES)
        again = copied(selection)
        for name in ("kept", "tokens", "messages", "request", "text", "answer", "report", "summary"):
            assert getattr(again, name) == getattr(selection, name), name
        assert again.explain() == selection.explain() and again.explain(0) == selection.explain(0)
        assert again.explanation(1) == selection.explanation(1)
        assert copied(again).explain() == selection.explain()
        step = cupel.Session(engine).next(MESSAGES)
        assert copied(step).answer == step.answer and copied(step).messages == step.messages

    def test_items_and_budgets(self, copied: Any) -> None:
        item = cupel.Item(
            "The key.",
            8,
            kind="Memory",
            source="Rag",
            priority=3,
            tags=["a", "b"],
            metadata={"x": "y"},
            timestamp="2025-01-01T10:00:00.123456789Z",
            future_relevance_hint=0.5,
            pinned=True,
            original_tokens=9,
        )
        assert copied(item).to_json() == item.to_json()
        assert copied(cupel.Item("Plain.", 2)).to_json() == cupel.Item("Plain.", 2).to_json()
        budget = cupel.Budget(
            100, target_tokens=80, output_reserve=10, reserved_slots={"Memory": 5}, margin_percent=2.5
        )
        assert copied(budget) == budget


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("max_tokens", "8k"),
        ("max_tokens", -1),
        ("margin_percent", 300),
        ("pins", 3.5),
        ("pins", [9]),
        ("rules", 3),
        ("policy", "aut"),
        ("tokenizer", "o200"),
        ("model", "gtp-4o"),
        ("shorten", "jsn"),
        ("query", 3),
    ],
)
def test_an_argument_that_is_wrong_is_named(argument: str, value: Any) -> None:
    with pytest.raises(cupel.CupelError) as caught:
        cupel.select(MESSAGES, **{"max_tokens": 100, argument: value})
    assert caught.value.path == argument and str(caught.value).startswith(argument)


@pytest.mark.parametrize(
    ("argument", "value"), [("budgets", 3), ("message", "a"), ("steps", -3), ("slack_tokens", 1.5)]
)
def test_an_argument_of_a_simulation_is_named(argument: str, value: Any) -> None:
    with pytest.raises(cupel.CupelError) as caught:
        cupel.simulate(MESSAGES, **{argument: value})
    assert caught.value.path == argument


def test_annotations_can_be_read() -> None:
    for name in cupel.__all__:
        one = getattr(cupel, name)
        inner = vars(one).values() if isinstance(one, type) else [one]
        for function in inner:
            if callable(function) and hasattr(function, "__annotations__"):
                typing.get_type_hints(function)
    assert "total_tokens" in typing.get_type_hints(cupel.count)["return"].__annotations__


def orders() -> list[dict[str, Any]]:
    text = json.dumps([{"id": f"order-{n}", "note": "left at the door"} for n in range(60)])
    call = {"id": "c1", "type": "function", "function": {"name": "list", "arguments": "{}"}}
    return [
        {"role": "user", "content": "List the orders."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": text},
        {"role": "user", "content": "Which is the first?"},
    ]


def test_a_model_can_ask_for_the_whole_of_what_was_shortened() -> None:
    engine = cupel.Engine(max_tokens=300, shorten="json")
    retrieve = cupel.retrieve_tool(engine)
    messages = orders()
    selection = engine.select(messages)
    named = selection.messages[2]["content"].splitlines()[-1]
    assert named == f"[whole: {selection.shortened[0]['handle']}]" and selection.tokens <= 300
    assert retrieve(named) == retrieve(selection.shortened[0]["handle"]) == messages[2]["content"]
    assert "no text" in retrieve("cupel:0000000000000000") and "no text" in retrieve("nonsense")
    # What a session shortens is known as well, and a copy of the engine knows it too.
    other = cupel.Engine(max_tokens=300, shorten="json")
    asked = cupel.retrieve_tool(other)
    step = cupel.Session(other).next(messages)
    assert asked(step.messages[2]["content"]) == messages[2]["content"]
    assert cupel.retrieve_tool(pickle.loads(pickle.dumps(other)))(named) == messages[2]["content"]
    plain = cupel.Engine(max_tokens=300, shorten="json", handles=False).select(messages)
    assert "[whole:" not in plain.messages[2]["content"]


def test_an_engine_of_ones_own_stands_alone() -> None:
    from cupel_context._sessions import fitter

    with pytest.raises(cupel.CupelError, match="max_tokens: the engine that was given has its own"):
        fitter(500, {"engine": cupel.Engine(max_tokens=100)})
    with pytest.raises(cupel.CupelError, match="policy: "):
        fitter(None, {"engine": cupel.Engine(), "policy": "chat"})
    assert fitter(None, {"engine": cupel.Engine(max_tokens=100)}).engine.max_tokens == 100
