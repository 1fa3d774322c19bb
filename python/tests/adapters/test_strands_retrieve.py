"""Strands's own tool type, made of the function that returns what was shortened."""

from __future__ import annotations

import asyncio

from retrieving import ORDERS, check_tool, shortened
from strands import tool


def test_the_tool_returns_the_whole() -> None:
    retrieve, handle = shortened()
    made = tool(retrieve)
    check_tool(made.tool_name, made.tool_spec["description"], made.tool_spec["inputSchema"])
    assert made(handle) == ORDERS

    async def streamed() -> list[object]:
        use = {"toolUseId": "c", "name": "retrieve", "input": {"handle": handle}}
        return [one async for one in made.stream(use, {})]  # type: ignore[arg-type]

    assert ORDERS in str(asyncio.run(streamed())[-1])
