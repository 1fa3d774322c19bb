"""Google ADK's own tool type, made of the function that returns what was shortened."""

from __future__ import annotations

import asyncio
from unittest.mock import MagicMock

from google.adk.tools import FunctionTool
from retrieving import ORDERS, check_tool, shortened


def test_the_tool_returns_the_whole() -> None:
    retrieve, handle = shortened()
    made = FunctionTool(retrieve)
    told = made._get_declaration()
    assert told is not None
    check_tool(made.name, made.description, told.model_dump(mode="json", exclude_none=True))
    ran = asyncio.run(made.run_async(args={"handle": handle}, tool_context=MagicMock()))
    assert ran == ORDERS
