"""AutoGen's own tool type, made of the function that returns what was shortened."""

from __future__ import annotations

import asyncio

from autogen_core import CancellationToken
from autogen_core.tools import FunctionTool
from retrieving import ORDERS, check_tool, shortened


def test_the_tool_returns_the_whole() -> None:
    retrieve, handle = shortened()
    made = FunctionTool(retrieve, description=retrieve.__doc__ or "")
    check_tool(made.name, made.description, made.schema)
    assert asyncio.run(made.run_json({"handle": handle}, CancellationToken())) == ORDERS
