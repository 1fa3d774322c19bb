"""What `select` hands back, and for what."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cupel_context as cupel
import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"

MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "The deploy key is on the blue card."},
    {"role": "assistant", "content": "Noted."},
    {"role": "user", "content": "Lunch is at noon, soup again, and the printer is out of paper."},
    {"role": "user", "content": "Where is the deploy key?"},
]


def example(name: str) -> dict[str, Any]:
    request: dict[str, Any] = json.loads((EXAMPLES / name).read_text(encoding="utf-8"))
    return request


def test_messages_are_the_callers_own_objects() -> None:
    selection = cupel.select(MESSAGES, max_tokens=40)
    assert selection.kept == [0, 1, 3]
    assert [id(message) for message in selection.messages] == [id(MESSAGES[at]) for at in (0, 1, 3)]
    assert selection.request == selection.messages == list(selection)
    assert len(selection) == 3
    assert selection.tokens == 33


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.json")))
def test_a_request_keeps_its_shape_and_everything_but_messages(name: str) -> None:
    request = example(name)
    if isinstance(request, list):
        field, whole = None, request
    else:
        field = next(one for one in ("contents", "input", "items", "messages") if one in request)
        whole = request[field]
    selection = cupel.select(request, max_tokens=cupel.count(request)["total_tokens"] // 2)
    assert 0 < len(selection.kept) < len(whole)
    assert all(message is whole[at] for message, at in zip(selection.messages, selection.kept))
    if field is not None:
        rest = {key: value for key, value in selection.request.items() if key != field}
        assert rest == {key: value for key, value in request.items() if key != field}
        assert list(selection.request) == list(request)
    # What the engine wrote is the same request.
    assert json.loads(selection.text) == selection.request


def test_text_and_bytes_come_back_as_they_came() -> None:
    text = (EXAMPLES / "support-chat.json").read_text(encoding="utf-8")
    whole = cupel.select(text, max_tokens=10**6)
    assert whole.request == text
    half = cupel.select(text, max_tokens=2_000)
    assert isinstance(half.request, str) and json.loads(half.request)["input"] == half.messages
    assert cupel.select(text.encode(), max_tokens=2_000).request == half.request.encode()
    assert cupel.select(bytearray(text.encode()), max_tokens=2_000).kept == half.kept


def test_objects_and_their_text_give_the_same_window() -> None:
    for name in ("support-chat.json", "coding-agent.json", "coding-agent-anthropic.json", "gemini-trip.json"):
        request = example(name)
        # As clients send it: blanks between fields would be counted where arguments are objects.
        text = json.dumps(request, ensure_ascii=False, separators=(",", ":"))
        for budget in (1_000, 1_500, 2_500):
            try:
                by_text = cupel.select(text, max_tokens=budget)
            except cupel.DoesNotFitError:
                with pytest.raises(cupel.DoesNotFitError):
                    cupel.select(request, max_tokens=budget)
                continue
            by_object = cupel.select(request, max_tokens=budget)
            assert (by_text.kept, by_text.tokens) == (by_object.kept, by_object.tokens)


def test_options_change_one_call() -> None:
    engine = cupel.Engine(max_tokens=36)
    asked = engine.select(MESSAGES, query="What about the printer?")
    assert 2 in asked.kept
    pinned = engine.select(MESSAGES, pins=[2])
    assert 2 in pinned.kept
    assert engine.select(MESSAGES, pins=[-2]).kept == pinned.kept
    assert engine.select(MESSAGES, pins="role:assistant").kept[0] in (0, 1)
    assert engine.select(MESSAGES, max_tokens=1_000).kept == [0, 1, 2, 3]


def test_messages_that_state_a_rule_are_kept(tmp_path: Path) -> None:
    talk = [{"role": "user", "content": "Never  use TABS."}]
    talk += [{"role": "user", "content": f"The login page shows banner {n} in red."} for n in range(9)]
    newest = {"scorers": ["recency"], "slicer": "greedy"}
    assert 0 not in cupel.select(talk, 60, policy=newest).kept
    file = tmp_path / "rules.txt"
    file.write_text("# of the team\nnever use tabs\n")
    for rules in ("never use tabs", ["be brief", "never use tabs"], file, [file]):
        assert 0 in cupel.select(talk, 60, policy=newest, rules=rules).kept
        assert 0 in cupel.Engine(policy=newest, max_tokens=60, rules=rules).select(talk).kept
    with pytest.raises(cupel.CupelError) as caught:
        cupel.select(talk, 60, rules=["be brief", "# nothing"])
    assert caught.value.path == "rules[1]"
    with pytest.raises(cupel.CupelError, match="rules: cannot read"):
        cupel.select(talk, 60, rules=tmp_path / "missing.txt")


def test_the_model_gives_the_window() -> None:
    request = {"model": "gpt-4o", "messages": MESSAGES, "max_tokens": 700}
    budget = cupel.select(request).summary["budget"]
    assert (budget["max_tokens"], budget["output_reserve"]) == (128_000, 700)
    with pytest.raises(cupel.CupelError) as caught:
        cupel.select(MESSAGES)
    assert caught.value.code == "no-budget"


def test_policies_are_names_data_or_files(tmp_path: Path) -> None:
    described = {"name": "mine", "scorers": [{"type": "recency"}], "placer": "chronological"}
    assert cupel.select(MESSAGES, max_tokens=40, policy=described).summary["policy"] == "mine"
    file = tmp_path / "newest.toml"
    file.write_text("scorers = ['recency']\n")
    assert cupel.select(MESSAGES, max_tokens=40, policy=file).summary["policy"] == "newest"
    with pytest.raises(cupel.CupelError) as caught:
        cupel.select(MESSAGES, max_tokens=40, policy="chatt")
    assert caught.value.code == "unknown-policy"
    assert "chat" in (caught.value.remedy or "")
    with pytest.raises(cupel.CupelError, match="cannot read"):
        cupel.Engine(policy=tmp_path / "absent.toml")


def test_reports_and_explanations_tell_of_every_item() -> None:
    selection = cupel.select(MESSAGES, max_tokens=40)
    report = selection.report
    assert len(report["included"]) + len(report["excluded"]) == report["total_candidates"]
    explanation = selection.explanation()
    assert [kept["part"]["path"] for kept in explanation["kept"]] == ["[0]", "[1]", "[3]"]
    assert "Lunch is at noon" in selection.explain()
    assert "left out, best first" in selection.explain()


def test_the_picture_of_the_window_runs_no_code_of_a_message() -> None:
    evil = [{"role": "user", "content": '<script>alert(1)</script>" onmouseover="x'}]
    page = cupel.select(evil * 1 + MESSAGES, max_tokens=60)._repr_html_()
    assert "<script" not in page and 'onmouseover="x' not in page
    assert "&lt;script&gt;" in page
    assert "kept" in page and "tokens" in page


def test_repaired_requests_keep_the_objects_that_were_not_changed() -> None:
    broken = [
        {"role": "user", "content": "first"},
        {"role": "user"},
        {"role": "user", "content": "second"},
    ]
    with pytest.raises(cupel.InvalidRequestError) as caught:
        cupel.select(broken, max_tokens=100)
    assert caught.value.details["violations"][0]["rule"] == "missing-content"
    selection = cupel.select(broken, max_tokens=100, repair=True)
    assert [message is broken[at] for message, at in zip(selection.messages, (0, 2))] == [True, True]
    repaired = cupel.repair({"messages": broken})
    assert repaired["request"]["messages"][1] is broken[2]


def test_nothing_is_lost_unless_the_caller_says_so() -> None:
    orphan = [{"role": "user", "content": "first"}, {"role": "tool", "tool_call_id": "x", "content": "lost"}]
    repaired = cupel.repair(orphan)
    assert repaired["messages"] == orphan
    assert repaired["losses"][0]["action"] == "dropped [1]"
    assert cupel.repair(orphan, drop=True)["messages"] == orphan[:1]


def test_other_questions_are_answered() -> None:
    assert cupel.count(MESSAGES)["total_tokens"] == 53
    assert cupel.Engine().count_texts({"a": "one two", "b": ""})["texts"][1]["tokens"] == 0
    assert cupel.validate(MESSAGES)["is_valid"]
    curve = cupel.simulate(MESSAGES, steps=5)
    assert curve["points"][-1]["messages"] == 4
    assert cupel.simulate(MESSAGES, message=0)["min_budget"] is not None
    bought = cupel.simulate(MESSAGES, slack_tokens=20, max_tokens=60)
    assert bought["tokens"] > 0
    with pytest.raises(cupel.CupelError):
        cupel.simulate(MESSAGES, slack_tokens=1, message=2)
    compared = cupel.compare(MESSAGES, ["auto", "chat"], max_tokens=40)
    assert len(compared["policies"]) == 2


def test_evaluations_are_the_commands(tmp_path: Path) -> None:
    report = cupel.evaluate(EXAMPLES / "eval" / "friends.jsonl", baselines=["newest"], budgets=[250])
    means = {row["method"]: row["recall"]["mean"] for row in report["rows"]}
    assert means["auto"] > means["newest"]
    with pytest.raises(cupel.CupelError) as caught:
        cupel.evaluate(tmp_path / "absent.jsonl")
    assert caught.value.code == "evaluation-failed"


def with_result(content: str) -> list[dict[str, Any]]:
    call = {"id": "c1", "type": "function", "function": {"name": "list", "arguments": "{}"}}
    return [
        {"role": "user", "content": "List the orders."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": content},
        {"role": "user", "content": "Which is the first?"},
    ]


ORDERS = json.dumps([{"id": f"order-{n}", "note": "left at the door"} for n in range(60)])


def test_only_shortened_messages_are_new() -> None:
    messages = with_result(ORDERS)
    whole = json.dumps(messages)
    engine = cupel.Engine(max_tokens=300, shorten="json")
    selection = engine.select(messages)
    assert [one is own for one, own in zip(selection.messages, messages)] == [True, True, False, True]
    assert json.dumps(messages) == whole, "the caller's own stay as they are"
    shorter = selection.messages[2]
    assert {**shorter, "content": ""} == {**messages[2], "content": ""}
    told = selection.shortened[0]
    assert told["message"] == 2 and told["tokens_after"] < told["tokens_before"]
    assert told["handle"] == cupel.handle(ORDERS)
    assert engine.original(messages, told["handle"]) == ORDERS
    assert engine.original(messages, "cupel:0000000000000000") is None
    assert selection.request == json.loads(selection.text)
    assert engine.select(messages, shorten="off").shortened == []
    with pytest.raises(cupel.CupelError, match="shorten"):
        cupel.select(messages, max_tokens=300, shorten="some")


def test_shortened_messages_keep_their_type() -> None:
    from langchain_core.messages import ToolMessage, convert_to_messages
    from openai.types.chat import ChatCompletionMessage

    plain = with_result(ORDERS)
    stored = convert_to_messages([{**one, "content": one["content"] or ""} for one in plain])
    kept = cupel.select(stored, max_tokens=300, shorten="json").messages
    assert isinstance(kept[2], ToolMessage) and kept[2] is not stored[2]
    assert kept[2].tool_call_id == "c1" and len(kept[2].text) < len(ORDERS)
    assert stored[2].text == ORDERS
    answer = ChatCompletionMessage.model_validate({k: v for k, v in plain[1].items()})
    mixed = [plain[0], answer, *plain[2:]]
    assert cupel.select(mixed, max_tokens=300, shorten="json").messages[1] is answer


def test_a_summary_of_ones_own_competes() -> None:
    messages = with_result(ORDERS)
    summary = {
        "call": "c1",
        "hash": cupel.handle(ORDERS),
        "content": "Sixty orders, from order-0 to order-59.",
    }
    selection = cupel.Engine(max_tokens=120).select(messages, renderings=[summary])
    assert selection.messages[2]["content"] == summary["content"]
    with pytest.raises(cupel.CupelError) as caught:
        cupel.Engine(max_tokens=120).select(messages, renderings=[{"call": "c1"}])
    assert caught.value.code == "invalid-renderings"


LOG = [
    {"role": "user", "content": "Is all well?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "log", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "All is well.\n" + "tick\n" * 200},
]


def test_a_function_renders() -> None:
    asked = []

    def first_line(text: str, tool: str) -> str:
        asked.append(tool)
        # Not the same twice: each text is asked for once, so that what was sent can be sent again.
        return text.splitlines()[0] + " " * len(asked)

    engine = cupel.Engine(max_tokens=60, renderers=[first_line])
    selection = engine.select(LOG)
    assert selection.messages[2]["content"] == "All is well. \n[whole: cupel:4321730f8d76d177]"
    assert selection.shortened[0]["name"] == "first_line"
    assert engine.original(LOG, selection.shortened[0]["handle"]) == LOG[2]["content"]
    assert engine.session().next(LOG).messages == selection.messages
    assert engine.select(LOG).messages == selection.messages
    assert asked == ["log"]
    # Those that have nothing to say, and forms that are longer or empty, change nothing.
    for quiet in (lambda text, tool: None, lambda text, tool: "", lambda text, tool: text * 2):
        whole = cupel.Engine(max_tokens=5_000, renderers=[quiet]).select(LOG)
        assert whole.messages == LOG


def test_what_a_renderer_raises_is_raised_by_the_call() -> None:
    def fails(text: str, tool: str) -> str:
        raise ZeroDivisionError(tool)

    engine = cupel.Engine(max_tokens=5_000, renderers=[fails])
    for _ in range(2):
        with pytest.raises(ZeroDivisionError, match="log"):
            engine.select(LOG)
    with pytest.raises(ZeroDivisionError):
        engine.session().next(LOG)
    assert engine.select(LOG[:1]).kept == [0]
    with pytest.raises(cupel.CupelError) as caught:
        cupel.Engine(max_tokens=60, renderers=[lambda text, tool: [("short", 7.0)]]).select(LOG)
    assert (caught.value.code, caught.value.path) == ("invalid-renderings", "renderers")
    assert "7" in caught.value.rule and caught.value.remedy
    with pytest.raises(TypeError):
        cupel.Engine(max_tokens=60, renderers=[lambda text, tool: 3]).select(LOG)  # type: ignore[arg-type, list-item, return-value]


def test_tools_that_make_room_are_told_of_and_stand_in_the_request() -> None:
    def tool(name: str, what: str) -> dict[str, object]:
        said = f"{what} {'It may take a while. ' * 30}"
        function = {"name": name, "description": said, "parameters": {"type": "object"}}
        return {"type": "function", "function": function}

    tools = [tool("get_tides", "Looks up high and low water."), tool("order_soup", "Orders soup.")]
    request = {"tools": tools, "messages": [{"role": "user", "content": "When is high water?"}], "seed": 7}
    whole = cupel.select(request, 5_000, tokenizer="cl100k_base", tools="choose")
    assert whole.request == request and whole.tools == []
    one = cupel.select(request, 45, tokenizer="cl100k_base", tools="choose")
    fates = [(told["name"], told["fate"]) for told in one.tools]
    assert fates == [("get_tides", "shortened"), ("order_soup", "left-out")]
    (left,) = one.request["tools"]
    assert left["function"]["name"] == "get_tides" and len(left["function"]["description"]) < 100
    assert one.request["messages"][0] is request["messages"][0] and one.request["seed"] == 7
    assert "order_soup" in one.explain()
