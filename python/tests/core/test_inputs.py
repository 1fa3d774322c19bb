"""What may be part of a request, and what is said of everything else."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import enum
import itertools
import json
import math
import random
import types
from typing import Any

import cupel_context as cupel
import pytest
from cupel_context import _native


def refused(value: Any, code: str, path: str | None) -> cupel.CupelError:
    with pytest.raises(cupel.CupelError) as caught:
        cupel.select(value, max_tokens=100)
    error = caught.value
    assert (error.code, error.path) == (code, path), str(error)
    return error


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def test_what_cannot_be_said_in_json_is_named_with_its_place() -> None:
    error = refused([user("a"), user({"x": [1, object()]})], "unsupported-type", "[1].content.x[1]")
    assert isinstance(error, TypeError) and error.remedy
    assert "`object`" in str(error)
    refused({"messages": [user({1, 2})]}, "unsupported-type", "messages[0].content")
    refused([user(b"bytes")], "unsupported-type", "[0].content")
    refused([{("a", 1): "x"}], "unsupported-type", "[0][\"('a', 1)\"]")
    refused([user(math.nan)], "not-a-number", "[0].content")
    refused([user({"deep key": math.inf})], "not-a-number", '[0].content["deep key"]')
    refused([user("\ud800")], "not-unicode", "[0].content")
    refused(b"\xff", "malformed-request", None)
    refused(3, "unknown-format", None)
    refused(None, "unknown-format", None)
    refused(object(), "unsupported-type", None)


def test_cycles_are_found_and_named() -> None:
    message = user("a")
    message["self"] = message
    refused([message], "cyclic", "[0].self")
    inner: list[Any] = []
    inner.append({"again": inner})
    refused([user(inner)], "cyclic", "[0].content[0].again")
    messages: list[Any] = [user("a")]
    messages.append(messages)
    refused(messages, "cyclic", "[1]")


def test_depth_has_an_end() -> None:
    deep: Any = "x"
    for _ in range(5_000):
        deep = [deep]
    refused([user(deep)], "too-deep", None)
    fits: Any = "x"
    for _ in range(400):
        fits = {"a": fits}
    assert cupel.select([user("hi"), {"role": "user", "content": "x", "extra": fits}], max_tokens=10**6)


@dataclasses.dataclass
class Node:
    role: str = "user"
    content: str = "a"
    next: Any = None


def test_cycles_through_objects_are_found_and_named() -> None:
    from pydantic import BaseModel

    class Model(BaseModel):
        role: str = "user"
        content: str = "a"
        next: Any = None

    node, model = Node(), Model()
    node.next = {"again": [node]}
    model.next = {"again": [model]}
    refused([node], "cyclic", "[0].next.again[0]")
    with pytest.raises(cupel.CupelError) as caught:
        cupel.select([user("a"), model], max_tokens=100)
    assert caught.value.code == "cyclic" and caught.value.remedy
    assert str(caught.value.path).startswith("[1].next.again[0]")


def test_values_that_are_larger_than_memory_are_refused() -> None:
    # Parts that are shared cost little, and as text they would be terabytes.
    text = "x" * 1_000_000
    error = refused([user([text] * 1_000)] * 1_000, "too-large", "[0].content[268]")
    assert error.remedy == "give less at a time"
    refused(range(10**12), "too-large", None)
    refused([user(10**5_000)], "too-large", "[0].content")

    class Endless(collections.abc.Mapping[str, Any]):
        def __getitem__(self, key: str) -> Any:
            return text

        def __iter__(self) -> Any:
            return (str(n) for n in itertools.count())

        def __len__(self) -> int:
            return 1

    refused([Endless()], "too-large", "[0].268")
    huge = "x" * (257 << 20)
    refused(huge, "too-large", None)
    refused(huge.encode(), "too-large", None)


def test_deeply_nested_text_is_no_abort() -> None:
    text = '[{"role": "user", "content": "a", "x": ' + "[" * 200_000 + "]" * 200_000 + "}]"
    try:
        cupel.select(text, max_tokens=10**7)
    except cupel.CupelError as error:
        assert error.code == "malformed-request"


def test_shared_parts_are_no_cycle() -> None:
    block = {"type": "text", "text": "same"}
    assert cupel.select([user([block, block]), user([block])], max_tokens=1_000).kept == [0, 1]


class Colour(enum.Enum):
    RED = "red"


class Name(str, enum.Enum):
    ANN = "ann"


@dataclasses.dataclass
class Block:
    type: str
    text: str
    absent: str | None = None


def random_value(source: random.Random, depth: int = 0) -> Any:
    kind = source.randrange(9 if depth < 4 else 7)
    if kind == 0:
        return None
    if kind == 1:
        return source.choice([True, False])
    if kind == 2:
        return source.choice([0, -1, 2**31, -(2**63), 2**63, 10**40, source.getrandbits(64)])
    if kind == 3:
        return source.choice([0.1, -1e300, 5e-324, 1 / 3, 1e16, source.random(), -0.0])
    if kind in (4, 5, 6):
        alphabet = 'ab "\\/\n\r\t\b\f\x00\x1f\x7f\u2028é漢😀'
        return "".join(source.choice(alphabet) for _ in range(source.randrange(12)))
    size = source.randrange(5)
    if kind == 7:
        return [random_value(source, depth + 1) for _ in range(size)]
    return {f"k{n}\n": random_value(source, depth + 1) for n in range(size)}


def test_values_are_written_as_pythons_own_encoder_writes_them() -> None:
    source = random.Random(7)
    for _ in range(3_000):
        value = [random_value(source)]
        assert json.loads(_native.dumps(value)) == value
    odd = {True: 1, None: 2, 3: (4, 5)}
    assert json.loads(_native.dumps(odd)) == json.loads(json.dumps(odd))


def test_common_kinds_of_objects_are_written() -> None:
    moment = datetime.datetime(2025, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)
    told = {
        "enum": Colour.RED,
        "name": Name.ANN,
        "class": Block("text", "hello"),
        "moment": moment,
        "mapping": types.MappingProxyType({"a": 1}),
        "ordered": collections.OrderedDict(b=2),
    }
    assert json.loads(_native.dumps(told)) == {
        "enum": "red",
        "name": "ann",
        "class": {"type": "text", "text": "hello"},
        "moment": "2025-01-02T03:04:05+00:00",
        "mapping": {"a": 1},
        "ordered": {"b": 2},
    }


def test_an_attribute_that_raises_is_the_callers_exception() -> None:
    class Trap(collections.abc.Mapping[str, Any]):
        def __getitem__(self, key: str) -> Any:
            raise KeyError(key)

        def __iter__(self) -> Any:
            raise ZeroDivisionError("no")

        def __len__(self) -> int:
            return 1

    with pytest.raises(ZeroDivisionError):
        cupel.select([Trap()], max_tokens=10)


def test_models_of_the_openai_package() -> None:
    from openai.types.chat import ChatCompletionMessage
    from openai.types.responses import ResponseFunctionToolCall

    answer = ChatCompletionMessage.model_validate(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
        }
    )
    result = {"role": "tool", "tool_call_id": "c1", "content": "a key"}
    messages = [user("Where is it?"), answer, result]
    selection = cupel.select(messages, max_tokens=500)
    assert selection.summary["format"] == "openai-chat"
    assert selection.messages[1] is answer
    assert cupel.validate(messages)["is_valid"]

    call = ResponseFunctionToolCall(
        type="function_call", call_id="c1", name="look", arguments="{}", id="fc_1"
    )
    output = {"type": "function_call_output", "call_id": "c1", "output": "a key"}
    selection = cupel.select([user("Where is it?"), call, output], max_tokens=500)
    assert selection.summary["format"] == "openai-responses"
    assert selection.messages[1] is call


def test_models_of_the_anthropic_package() -> None:
    from anthropic.types import TextBlock, ToolUseBlock

    use = ToolUseBlock(type="tool_use", id="t1", name="look", input={"in": "drawer"})
    messages = [
        user("Where is it?"),
        {"role": "assistant", "content": [TextBlock(type="text", text="Let me see."), use]},
        user([{"type": "tool_result", "tool_use_id": "t1", "content": "a key"}]),
    ]
    selection = cupel.select({"system": "Be brief.", "messages": messages}, max_tokens=500)
    assert selection.summary["format"] == "anthropic"
    assert selection.messages[1] is messages[1]


def test_models_of_the_google_genai_package() -> None:
    from google.genai import types as genai

    contents = [
        genai.Content(role="user", parts=[genai.Part(text="Where is it?")]),
        genai.Content(
            role="model",
            parts=[genai.Part(function_call=genai.FunctionCall(name="look", args={"in": "drawer"}))],
        ),
        genai.Content(
            role="user",
            parts=[
                genai.Part(function_response=genai.FunctionResponse(name="look", response={"is": "a key"}))
            ],
        ),
    ]
    selection = cupel.select(contents, max_tokens=500)
    assert selection.summary["format"] == "gemini"
    assert all(content is own for content, own in zip(selection.messages, contents))


def test_messages_of_langchain() -> None:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    messages = [
        SystemMessage("Be brief."),
        HumanMessage("Where is it?"),
        AIMessage("", tool_calls=[{"name": "look", "args": {"in": "drawer"}, "id": "c1"}]),
        ToolMessage("a key", tool_call_id="c1", artifact=object()),
        HumanMessage("Thanks. And the lamp?"),
    ]
    selection = cupel.select(messages, max_tokens=500)
    assert selection.summary["format"] == "langchain"
    assert all(one is own for one, own in zip(selection.messages, messages))
    # No model reads an id.
    plain = cupel.count([HumanMessage("Where is it?")])["total_tokens"]
    assert cupel.count([HumanMessage("Where is it?", id="run-" + "7" * 80)])["total_tokens"] == plain


def test_messages_with_attributes_that_nobody_knows() -> None:
    from langchain_core.messages import HumanMessage
    from pydantic import BaseModel, ConfigDict

    class Odd(BaseModel):
        model_config = ConfigDict(extra="allow", arbitrary_types_allowed=True)
        role: str = "user"
        content: str = "hello"
        other: Any = None

    assert cupel.select([Odd(other={"a": 1}), Odd()], max_tokens=500).kept == [0, 1]
    refused([Odd(), Odd(other=object())], "unsupported-type", "[1].other")
    odd = HumanMessage("hi", additional_kwargs={"note": object()})
    refused([odd], "unsupported-type", "[0].additional_kwargs.note")


def test_wrong_arguments_are_clear() -> None:
    for bad in ({"max_tokens": "many"}, {"max_tokens": 1.5}, {"query": 3}, {"pins": [object()]}):
        with pytest.raises((TypeError, cupel.CupelError)):
            cupel.select([user("a")], **{"max_tokens": 10, **bad})  # type: ignore[call-overload]
    with pytest.raises(cupel.CupelError) as caught:
        cupel.select([user("a")], max_tokens=10, pins=["nonsense"])
    assert caught.value.path == "pins[0]"
    with pytest.raises(cupel.CupelError) as caught:
        cupel.select([user("a")], max_tokens=10, pins=[-3])
    assert caught.value.code == "unmatched-pin"
    with pytest.raises(cupel.CupelError) as caught:
        cupel.select([user("a")], max_tokens=-1)
    assert caught.value.code == "invalid-budget"
    with pytest.raises(cupel.CupelError, match="max_tokens"):
        cupel.select([user("a")], max_tokens=2**70)
