"""LlamaIndex's own tool type, made of the function that returns what was shortened."""

from __future__ import annotations

from llama_index.core.tools import FunctionTool
from retrieving import ORDERS, check_tool, shortened


def test_the_tool_returns_the_whole() -> None:
    retrieve, handle = shortened()
    made = FunctionTool.from_defaults(retrieve)
    check_tool(made.metadata.name or "", made.metadata.description, made.metadata.get_parameters_dict())
    assert made.call(handle=handle).raw_output == ORDERS
