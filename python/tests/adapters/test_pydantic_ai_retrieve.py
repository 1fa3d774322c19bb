"""pydantic-ai's own tool type, made of the function that returns what was shortened."""

from __future__ import annotations

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from retrieving import ORDERS, check_tool, shortened


def test_the_tool_returns_the_whole() -> None:
    retrieve, handle = shortened()
    seen: list[AgentInfo] = []

    def script(messages: list, info: AgentInfo) -> ModelResponse:  # type: ignore[type-arg]
        seen.append(info)
        if len(seen) == 1:
            return ModelResponse([ToolCallPart("retrieve", {"handle": handle}, "c")])
        return ModelResponse([TextPart("Done.")])

    ran = Agent(FunctionModel(script), tools=[retrieve]).run_sync("Which is the first?")
    (told,) = seen[0].function_tools
    check_tool(told.name, told.description or "", told.parameters_json_schema)
    results = [part for one in ran.all_messages() for part in one.parts if isinstance(part, ToolReturnPart)]
    assert [part.content for part in results] == [ORDERS]
