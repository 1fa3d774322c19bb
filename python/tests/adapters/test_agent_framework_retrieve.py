"""Agent Framework's own tool type, made of the function that returns what was shortened."""

from __future__ import annotations

import asyncio

from agent_framework import tool
from retrieving import ORDERS, check_tool, shortened


def test_the_tool_returns_the_whole() -> None:
    retrieve, handle = shortened()
    made = tool(retrieve)
    check_tool(made.name, made.description, made.parameters())
    told = asyncio.run(made.invoke(arguments={"handle": handle}))
    assert [one.text for one in told] == [ORDERS]
