"""LangChain, LangGraph and deepagents: what is sent fits, and the stored history stays whole.

    from langchain.agents import create_agent
    from cupel.langchain import CupelMiddleware

    agent = create_agent(model, tools, middleware=[CupelMiddleware(max_tokens=32_000)])

``CupelMiddleware`` goes into ``create_agent`` and ``create_deep_agent``; ``pre_model_hook`` into a
graph that has such a hook; ``trim`` is for chains, and has the shape of ``trim_messages``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, overload

from langchain_core.messages import BaseMessage, convert_to_messages
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.utils.function_calling import convert_to_openai_tool

from ._engine import Engine
from ._sessions import Fitter
from ._settings import Pin, Policy, Rules

try:
    from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
except ImportError as error:
    raise ImportError("cupel.langchain needs LangChain 1.0 or later: pip install langchain") from error

__all__ = ["CupelMiddleware", "pre_model_hook", "trim"]


class CupelMiddleware(AgentMiddleware[Any, Any, Any]):
    """Sends what fits: the system prompt, the tools and the best of the history.

    Without ``max_tokens`` the window is the model's, where Cupel knows the model. Conversations that
    have a ``thread_id`` are sessions, whose windows keep the provider's cache; an agent within an agent
    has its own.
    """

    def __init__(
        self,
        max_tokens: int | None = None,
        *,
        policy: Policy = "auto",
        output_reserve: int | None = None,
        pins: Iterable[Pin] = (),
        rules: Rules = (),
        tokenizer: str | None = None,
        shorten: str | None = None,
        repair: bool = False,
        sessions: bool = True,
        engine: Engine | None = None,
    ) -> None:
        super().__init__()
        engine = engine or Engine(
            policy=policy,
            max_tokens=max_tokens,
            output_reserve=output_reserve,
            pins=pins,
            rules=rules,
            tokenizer=tokenizer,
            shorten=shorten,
            repair=repair,
        )
        self._fitter = Fitter(engine, sessions=sessions)

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """Changes what is sent."""
        return handler(self._fitted(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Changes what is sent, while other tasks go on."""
        return await handler(await asyncio.to_thread(self._fitted, request))

    def _fitted(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        head = [] if request.system_message is None else [request.system_message]
        whole = {
            "model": _model_name(request.model),
            "messages": [*head, *request.messages],
            "tools": [convert_to_openai_tool(tool) for tool in request.tools],
        }
        window = self._fitter.window(whole, _conversation())
        kept = [message for message in window.messages if not (head and message is head[0])]
        own = request.messages
        if len(kept) == len(own) and all(one is other for one, other in zip(kept, own)):
            return request
        return request.override(messages=kept)


@overload
def trim(
    messages: None = None,
    *,
    max_tokens: int,
    model: str | None = ...,
    policy: Policy = ...,
    query: str | None = ...,
    pins: Iterable[Pin] = ...,
    rules: Rules = ...,
    tokenizer: str | None = ...,
    shorten: str | None = ...,
) -> Runnable[Any, list[BaseMessage]]: ...
@overload
def trim(
    messages: Sequence[Any],
    *,
    max_tokens: int,
    model: str | None = ...,
    policy: Policy = ...,
    query: str | None = ...,
    pins: Iterable[Pin] = ...,
    rules: Rules = ...,
    tokenizer: str | None = ...,
    shorten: str | None = ...,
) -> list[BaseMessage]: ...
def trim(
    messages: Sequence[Any] | None = None,
    *,
    max_tokens: int,
    model: str | None = None,
    policy: Policy = "auto",
    query: str | None = None,
    pins: Iterable[Pin] = (),
    rules: Rules = (),
    tokenizer: str | None = None,
    shorten: str | None = None,
) -> list[BaseMessage] | Runnable[Any, list[BaseMessage]]:
    """The best messages that fit, as ``trim_messages`` is called; without messages a runnable.

    What comes back are the messages themselves, and copies of those that were shortened. Calls never
    lose their results.
    """
    engine = Engine(
        policy=policy, max_tokens=max_tokens, rules=rules, tokenizer=tokenizer, shorten=shorten
    )
    pinned = list(pins)

    def fitted(given: Any) -> list[BaseMessage]:
        listed = given.to_messages() if hasattr(given, "to_messages") else given
        window = engine.select(convert_to_messages(listed), model=model, query=query, pins=pinned)
        return window.messages

    return RunnableLambda(fitted) if messages is None else fitted(messages)


def pre_model_hook(
    max_tokens: int | None = None,
    *,
    policy: Policy = "auto",
    pins: Iterable[Pin] = (),
    rules: Rules = (),
    tokenizer: str | None = None,
    shorten: str | None = None,
    sessions: bool = True,
    engine: Engine | None = None,
) -> Callable[[Any], dict[str, list[BaseMessage]]]:
    """A hook for LangGraph: what the model sees next, beside a history that is left alone.

    The graph adds its prompt and its tools behind the hook, which cannot count them: leave room.
    """
    engine = engine or Engine(
        policy=policy,
        max_tokens=max_tokens,
        pins=pins,
        rules=rules,
        tokenizer=tokenizer,
        shorten=shorten,
    )
    fitter = Fitter(engine, sessions=sessions)

    def hook(state: Any) -> dict[str, list[BaseMessage]]:
        messages = state["messages"] if isinstance(state, dict) else state.messages
        return {"llm_input_messages": fitter.window(list(messages), _conversation()).messages}

    return hook


def _model_name(model: Any) -> str | None:
    """What a chat model calls itself; Cupel passes over names that it does not know."""
    for attribute in ("model_name", "model"):
        name = getattr(model, attribute, None)
        if isinstance(name, str):
            return name
    return None


def _conversation() -> tuple[str, ...] | None:
    """What tells the conversation from others, inside a run that has a thread.

    Agents within agents share a thread; their namespaces tell them apart. The last part of a
    namespace names the step alone.
    """
    try:
        from langgraph.config import get_config

        config = get_config()
    except (ImportError, RuntimeError):
        return None
    configurable = config.get("configurable") or {}
    thread = configurable.get("thread_id")
    if thread is None:
        return None
    namespace = str(configurable.get("checkpoint_ns") or "").rpartition("|")[0]
    agent = (config.get("metadata") or {}).get("lc_agent_name")
    return str(thread), namespace, str(agent or "")
