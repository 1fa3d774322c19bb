"""LangChain's own tool type, made of the function that returns what was shortened."""

from __future__ import annotations

from langchain_core.tools import tool
from retrieving import ORDERS, check_tool, shortened


def test_the_tool_returns_the_whole() -> None:
    retrieve, handle = shortened()
    made = tool(retrieve)
    check_tool(made.name, made.description, made.args)
    assert made.invoke({"handle": handle}) == ORDERS
