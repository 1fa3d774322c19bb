"""OpenAI Agents SDK: what a run sends fits; its items are handed on as they are.

from agents import RunConfig, Runner
from cupel_context.openai_agents import input_filter

config = RunConfig(call_model_input_filter=input_filter(max_tokens=32_000))
result = await Runner.run(agent, "Why did the deploy fail?", run_config=config)
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from agents import FunctionTool
from agents.run import CallModelData, ModelInputData
from agents.tracing import get_current_trace

from ._engine import Engine
from ._sessions import Fitter
from ._settings import Pin, Policy, Rules

__all__ = ["input_filter"]


def input_filter(
    max_tokens: int | None = None,
    *,
    policy: Policy = "auto",
    output_reserve: int | None = None,
    pins: Iterable[Pin] = (),
    rules: Rules = (),
    tokenizer: str | None = None,
    shorten: str | None = None,
    sessions: bool = True,
    engine: Engine | None = None,
) -> Callable[[CallModelData[Any]], Awaitable[ModelInputData]]:
    """A filter for ``RunConfig(call_model_input_filter=…)``.

    Without ``max_tokens`` the window is the model's, where Cupel knows the model. A traced run, or a
    group of them, is a session of each of its agents, whose windows keep the provider's cache.

    Hosted tools, handoffs and the schema of an output are not counted: leave room for them.
    """
    engine = engine or Engine(
        policy=policy,
        max_tokens=max_tokens,
        output_reserve=output_reserve,
        pins=pins,
        rules=rules,
        tokenizer=tokenizer,
        shorten=shorten,
        format="openai-responses",
    )
    fitter = Fitter(engine, sessions=sessions)

    async def fitted(data: CallModelData[Any]) -> ModelInputData:
        given = data.model_data
        if not given.input:
            return given
        request = {
            "model": data.agent.model if isinstance(data.agent.model, str) else None,
            "instructions": given.instructions,
            "input": given.input,
            "tools": [_tool(tool) for tool in data.agent.tools if isinstance(tool, FunctionTool)],
        }
        request = {name: value for name, value in request.items() if value}
        run = _run()
        # Agents hand over within a run, and each has instructions and tools of its own.
        key = None if run is None else (run, data.agent.name)
        window = await asyncio.to_thread(fitter.window, request, key)
        return ModelInputData(input=window.messages, instructions=given.instructions)

    return fitted


def _tool(tool: FunctionTool) -> dict[str, Any]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.params_json_schema,
    }


def _run() -> str | None:
    """The id of the conversation that the run belongs to, or of the run itself."""
    trace = get_current_trace()
    if trace is None or trace.trace_id == "no-op":
        return None
    return getattr(trace, "group_id", None) or trace.trace_id
