"""Haystack's own tool type, made of the function that returns what was shortened."""

from __future__ import annotations

from haystack.tools import create_tool_from_function
from retrieving import ORDERS, check_tool, shortened


def test_the_tool_returns_the_whole() -> None:
    retrieve, handle = shortened()
    made = create_tool_from_function(retrieve)
    check_tool(made.name, made.description, made.parameters)
    assert made.invoke(handle=handle) == ORDERS
