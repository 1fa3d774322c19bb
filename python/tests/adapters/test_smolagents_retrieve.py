"""smolagents's own tool type, made of the function that returns what was shortened."""

from __future__ import annotations

from retrieving import ORDERS, check_tool, shortened
from smolagents import tool
from smolagents.models import get_tool_json_schema


def test_the_tool_returns_the_whole() -> None:
    retrieve, handle = shortened()
    made = tool(retrieve)
    told = get_tool_json_schema(made)["function"]
    check_tool(told["name"], told["description"], told["parameters"])
    assert made(handle=handle) == ORDERS
