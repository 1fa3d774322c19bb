"""The OpenAI Agents SDK's own tool type, made of the function that returns what was shortened."""

from __future__ import annotations

import asyncio
import json

from agents import function_tool
from agents.tool_context import ToolContext
from retrieving import ORDERS, check_tool, shortened


def test_the_tool_returns_the_whole() -> None:
    retrieve, handle = shortened()
    made = function_tool(retrieve)
    check_tool(made.name, made.description, made.params_json_schema)
    context = ToolContext(None, tool_name="retrieve", tool_call_id="c", tool_arguments="")
    assert asyncio.run(made.on_invoke_tool(context, json.dumps({"handle": handle}))) == ORDERS
