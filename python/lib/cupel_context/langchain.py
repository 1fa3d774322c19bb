"""LangChain, LangGraph and deepagents: what is sent fits, and the stored history stays whole.

    from langchain.agents import create_agent
    from cupel_context.langchain import CupelMiddleware

    agent = create_agent(model, tools, middleware=[CupelMiddleware(max_tokens=32_000)])

``CupelMiddleware`` goes into ``create_agent`` and ``create_deep_agent``; ``pre_model_hook`` into a
graph that has such a hook; ``trim`` is for chains, and has the shape of ``trim_messages``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, overload

from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import BaseMessage, HumanMessage, convert_to_messages
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.utils.function_calling import convert_to_openai_tool

from ._engine import Engine
from ._errors import DoesNotFitError, as_kind
from ._sessions import WindowOptions, fitter
from ._settings import Pin, Policy, Rules
from ._summaries import in_thread

if TYPE_CHECKING:
    from typing_extensions import Unpack
else:
    from ._lazy import Unpack

try:
    from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
    from langchain.agents.structured_output import (
        AutoStrategy,
        OutputToolBinding,
        ProviderStrategy,
        ToolStrategy,
    )
except ImportError as error:
    raise ImportError("this module needs LangChain 1.0 or later: pip install langchain") from error

__all__ = ["CupelMiddleware", "WindowOverflowError", "pre_model_hook", "trim"]


class WindowOverflowError(DoesNotFitError, ContextOverflowError):
    """The messages that must be kept do not fit; an error that LangChain knows, and its fallbacks catch."""


class CupelMiddleware(AgentMiddleware[Any, Any, Any]):
    """Sends what fits: the system prompt, the tools and the best of the history.

    Without ``max_tokens`` the window is that of the model, less what its answer may take; tokens
    are the model's, and where its tokenizer is not public an estimate with a margin. Conversations
    that have a ``thread_id`` are sessions, whose windows keep the provider's cache; an agent within an
    agent has its own. ``on_selection`` is called with every window before it is sent.
    """

    def __init__(self, max_tokens: int | None = None, **options: Unpack[WindowOptions]) -> None:
        super().__init__()
        self._fitter = fitter(max_tokens, options, overflow=WindowOverflowError)

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
        return await handler(await in_thread(self._fitted, request))

    def _fitted(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        head = [] if request.system_message is None else [request.system_message]
        schema, answer = _answer_schema(request.response_format)
        whole = {
            **_model(request.model),
            **answer,
            "messages": [*head, *request.messages],
            "tools": [_tool(tool) for tool in (*request.tools, *schema)],
        }
        most = _profile_window(request.model)
        window = self._fitter.window(whole, _conversation(), window=most, note=_note)
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
        try:
            window = engine.select(convert_to_messages(listed), model=model, query=query, pins=pinned)
        except DoesNotFitError as error:
            raise as_kind(WindowOverflowError, error) from None
        return window.messages

    return RunnableLambda(fitted) if messages is None else fitted(messages)


def pre_model_hook(
    max_tokens: int | None = None, **options: Unpack[WindowOptions]
) -> Callable[[Any], dict[str, list[BaseMessage]]]:
    """A hook for LangGraph: what the model sees next, beside a history that is left alone.

    The graph adds its prompt and its tools behind the hook, which cannot count them: leave room. Nor
    does it say which model it calls: name it, or tokens are those of OpenAI.
    """
    fits = fitter(max_tokens, options, overflow=WindowOverflowError)

    def hook(state: Any) -> dict[str, list[BaseMessage]]:
        messages = state["messages"] if isinstance(state, dict) else state.messages
        return {"llm_input_messages": fits.window(list(messages), _conversation(), note=_note).messages}

    return hook


def _note(words: str) -> HumanMessage:
    return HumanMessage(words)


_NAMES = ("model_name", "model", "model_id", "deployment_name", "azure_deployment")
"""Where chat models keep the name of their model, the most telling first."""

_LIMITS = ("max_tokens", "max_output_tokens", "max_completion_tokens", "num_predict")
"""Where they keep how long an answer may be."""


def _model(model: Any) -> dict[str, Any]:
    """Name of a chat model, and the longest answer that it allows."""
    model = _unbound(model)
    texts = (getattr(model, name, None) for name in _NAMES)
    name = next((one for one in texts if isinstance(one, str) and one), None)
    numbers = (getattr(model, name, None) for name in _LIMITS)
    limit = next((one for one in numbers if type(one) is int and one > 0), None)
    told = {"model": name and name.removeprefix("models/"), "max_tokens": limit}
    return {name: value for name, value in told.items() if value is not None}


def _profile_window(model: Any) -> int | None:
    """Window of the model by LangChain's own table."""
    profile = getattr(_unbound(model), "profile", None)
    most = profile.get("max_input_tokens") if isinstance(profile, dict) else None
    return most if isinstance(most, int) else None


def _unbound(model: Any) -> Any:
    """The chat model itself, without what is bound to it."""
    while isinstance(model, RunnableBindingBase):
        model = model.bound
    return model


def _tool(tool: Any) -> Any:
    """A tool as it is sent; those that the provider hosts go as they are."""
    try:
        return convert_to_openai_tool(tool)
    except (ValueError, TypeError):
        if isinstance(tool, dict):
            return tool
        raise


def _answer_schema(response_format: Any) -> tuple[list[Any], dict[str, Any]]:
    """The schema of a structured answer: as tools, or as a field of the request.

    Where the agent leaves open which of them it becomes, the model's provider decides; the field takes
    more, and so it is what counts.
    """
    if isinstance(response_format, ToolStrategy):
        specs = response_format.schema_specs
        return [OutputToolBinding.from_schema_spec(spec).tool for spec in specs], {}
    if response_format is None or isinstance(response_format, ProviderStrategy):
        return [], {} if response_format is None else response_format.to_model_kwargs()
    is_open = isinstance(response_format, AutoStrategy)
    schema = response_format.schema if is_open else response_format
    try:
        return [], ProviderStrategy(schema).to_model_kwargs()
    except ValueError:
        # One of several schemas, which only tools can be.
        return _answer_schema(ToolStrategy(schema))


def _conversation() -> tuple[str, ...] | None:
    """Key of the conversation, inside a run that has a thread.

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
