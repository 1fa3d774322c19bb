"""What every framework's own tool type is asked: the whole of a shortened text, by the handle that stands in it."""

from __future__ import annotations

import json
from collections.abc import Callable

import cupel_context as cupel

ORDERS = json.dumps([{"id": f"order-{n}", "note": "left at the door"} for n in range(60)])


def shortened() -> tuple[Callable[[str], str], str]:
    """The function for the model, and the handle that it reads in a window."""
    call = {"id": "c1", "type": "function", "function": {"name": "list", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "List the orders."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": ORDERS},
        {"role": "user", "content": "Which is the first?"},
    ]
    engine = cupel.Engine(max_tokens=300, shorten="json")
    retrieve = cupel.retrieve_tool(engine)
    text = engine.select(messages).messages[2]["content"]
    assert len(text) < len(ORDERS)
    return retrieve, str(text).splitlines()[-1]


def check_tool(name: str, description: str, schema: object) -> None:
    """What the framework tells the model of the tool."""
    assert name == "retrieve"
    assert "whole text" in description
    told = json.dumps(schema)
    assert '"handle"' in told and "string" in told
