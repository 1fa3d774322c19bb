"""CrewAI: a hook before every call; what an agent did stays known, and what is sent fits.

from cupel_context.crewai import CupelHook

with CupelHook(max_tokens=32_000):
    crew.kickoff()
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from crewai.hooks import (
    LLMCallHookContext,
    register_before_llm_call_hook,
    unregister_before_llm_call_hook,
)
from crewai.hooks.dispatch import HookAborted

from . import _flat
from ._errors import CupelError, DoesNotFitError
from ._sessions import WindowOptions, fitter, of_user

if TYPE_CHECKING:
    from typing_extensions import Unpack
else:
    from ._lazy import Unpack

__all__ = ["CupelHook", "WindowOverflowError"]


class WindowOverflowError(DoesNotFitError, HookAborted):
    """The messages that must be kept do not fit: no call is made; CrewAI takes that from this error alone."""

    def __init__(self, message: str, **told: Any) -> None:
        HookAborted.__init__(self, reason=message, source="cupel")
        DoesNotFitError.__init__(self, message, **told)

    def __str__(self) -> str:
        """The words alone."""
        return str(self.args[0])


class CupelHook:
    """Sends what fits: the prompts, the tools and the best of what an agent did.

    It works on all crews of the process from ``register`` to ``unregister``, or within ``with``. CrewAI
    keeps in its list what a hook leaves there; what does not fit is remembered here, and may come back. So
    a run's every window is chosen from all of it. Without ``max_tokens`` the window is the model's.
    """

    def __init__(self, max_tokens: int | None = None, **options: Unpack[WindowOptions]) -> None:
        self._fitter = fitter(max_tokens, options, format="openai-chat", overflow=WindowOverflowError)
        # By list of messages: the list itself, all that was in it, and what was left there.
        self._known: dict[int, tuple[list[Any], list[Any], list[Any]]] = {}
        self._lock = threading.Lock()

    def __call__(self, context: LLMCallHookContext) -> None:
        """Changes what is sent."""
        try:
            self._fit(context)
        except WindowOverflowError:
            raise
        except CupelError as error:
            # CrewAI goes on after errors of hooks; what we cannot read must not go out unseen.
            raise HookAborted(reason=f"cupel: {error}", source="cupel") from error

    def register(self) -> CupelHook:
        """Stands before all calls from now on."""
        register_before_llm_call_hook(self)
        return self

    def unregister(self) -> None:
        """Stands before no call any more."""
        unregister_before_llm_call_hook(self)
        self._known.clear()

    def __enter__(self) -> CupelHook:
        """Stands before all calls within the block."""
        return self.register()

    def __exit__(self, *_: object) -> None:
        """The block has ended."""
        self.unregister()

    def messages(self, context: LLMCallHookContext) -> list[Any]:
        """All messages of a run so far, those that were left out as well."""
        return self._whole(context.messages)

    def _whole(self, live: list[Any]) -> list[Any]:
        with self._lock:
            known = self._known.get(id(live))
        if known is None:
            return list(live)
        own, whole, left = known
        is_same = own is live and len(live) >= len(left) and all(map(_is, live, left))
        return [*whole, *live[len(left) :]] if is_same else list(live)

    def _fit(self, context: LLMCallHookContext) -> None:
        live = context.messages
        if not live:
            return
        whole = self._whole(live)
        request = {**_head(context), "messages": [_plain(message) for message in whole]}
        key = None if context.executor is None else id(context.executor)
        window = self._fitter.window(request, key, window=_window(context.llm), shorten="off")
        # A summary stands in the list for what it tells of, and is none of the run's own messages.
        left: list[Any] = [of_user(one) if isinstance(one, str) else whole[one] for one in window.order]
        live[:] = left
        with self._lock:
            self._known[id(live)] = (live, whole, list(live))
            while len(self._known) > 1_024:
                self._known.pop(next(iter(self._known)))


def _is(one: Any, other: Any) -> bool:
    return one is other


_SENT = ("role", "content", "name", "tool_calls", "tool_call_id")
"""The fields of a message that are sent."""


def _plain(message: Any) -> dict[str, Any]:
    told = {name: message[name] for name in _SENT if message.get(name) is not None}
    return {"content": "", **told}


def _head(context: LLMCallHookContext) -> dict[str, Any]:
    """The model, how long its answers may be, and the tools that are sent beside the messages."""
    head: dict[str, Any] = {}
    model = context.llm if isinstance(context.llm, str) else getattr(context.llm, "model", None)
    if isinstance(model, str):
        head["model"] = model
    most = getattr(context.llm, "max_tokens", None) or getattr(context.llm, "max_completion_tokens", None)
    if isinstance(most, int) and most > 0:
        head["max_tokens"] = most
    tools = getattr(context.executor, "_openai_tools", None)
    if tools:
        head["tools"] = [_flat.tool(one) for one in tools]
    return head


def _window(llm: Any) -> int | None:
    """Window of the model by CrewAI's own table."""
    try:
        most = llm.get_context_window_size()
    except (AttributeError, NotImplementedError, TypeError):
        return None
    return most if isinstance(most, int) and most > 0 else None
