"""OpenAI Agents SDK: what a run sends fits; its items are handed on as they are.

from agents import RunConfig, Runner
from cupel_context.openai_agents import input_filter

config = RunConfig(call_model_input_filter=input_filter(max_tokens=32_000))
result = await Runner.run(agent, "Why did the deploy fail?", run_config=config)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from agents import Agent, FunctionTool, Handoff, handoff
from agents.agent_output import AgentOutputSchema, AgentOutputSchemaBase
from agents.models import get_default_model
from agents.run import CallModelData, ModelInputData
from agents.tracing import get_current_trace

from ._sessions import WindowOptions, fitter
from ._summaries import in_thread

if TYPE_CHECKING:
    from typing_extensions import Unpack
else:
    from ._lazy import Unpack

__all__ = ["input_filter"]


def input_filter(
    max_tokens: int | None = None, **options: Unpack[WindowOptions]
) -> Callable[[CallModelData[Any]], Awaitable[ModelInputData]]:
    """A filter for ``RunConfig(call_model_input_filter=…)``.

    Without ``max_tokens`` the window is the model's, where Cupel knows the model; where a run has a model of
    its own (``RunConfig(model=…)``), name it. A traced run, or a group of them, is a session of each of its
    agents, whose windows keep the provider's cache.

    Hosted tools and those of MCP servers are not counted: leave room for them.
    """
    fits = fitter(max_tokens, options, format="openai-responses")

    async def fitted(data: CallModelData[Any]) -> ModelInputData:
        given = data.model_data
        if not given.input:
            return given
        agent = data.agent
        request = {
            "model": _model(agent),
            "instructions": given.instructions,
            "input": given.input,
            "tools": [*map(_tool, _functions(agent)), *map(_handoff, agent.handoffs)],
            "text": _schema(agent),
        }
        request = {name: value for name, value in request.items() if value}
        run = _run()
        # Agents hand over within a run, and each has instructions and tools of its own.
        key = None if run is None else (run, agent.name)
        window = await in_thread(fits.window, request, key)
        return ModelInputData(input=window.messages, instructions=given.instructions)

    return fitted


def _model(agent: Agent[Any]) -> str | None:
    """The name of the model that an agent calls: of its own, or what the SDK takes without one."""
    if agent.model is None:
        return get_default_model()
    named = agent.model if isinstance(agent.model, str) else getattr(agent.model, "model", None)
    return named if isinstance(named, str) else None


def _functions(agent: Agent[Any]) -> list[FunctionTool]:
    return [tool for tool in agent.tools if isinstance(tool, FunctionTool)]


def _tool(tool: FunctionTool) -> dict[str, Any]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.params_json_schema,
    }


def _handoff(given: Agent[Any] | Handoff[Any, Any]) -> dict[str, Any]:
    made = given if isinstance(given, Handoff) else handoff(given)
    return {
        "type": "function",
        "name": made.tool_name,
        "description": made.tool_description,
        "parameters": made.input_json_schema,
    }


def _schema(agent: Agent[Any]) -> dict[str, Any] | None:
    """Schema of the answer, as the SDK sends it."""
    kind = agent.output_type
    if kind is None or kind is str:
        return None
    schema = kind if isinstance(kind, AgentOutputSchemaBase) else AgentOutputSchema(kind)
    if schema.is_plain_text():
        return None
    form = {"type": "json_schema", "name": "final_output", "schema": schema.json_schema()}
    return {"format": form}


def _run() -> str | None:
    """The id of the conversation that the run belongs to, or of the run itself."""
    trace = get_current_trace()
    if trace is None or trace.trace_id == "no-op":
        return None
    return getattr(trace, "group_id", None) or trace.trace_id
