"""Parts that adapters share: an engine, and the sessions of conversations that have an id."""

from __future__ import annotations

import functools
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypedDict, Union

from . import _errors, _native
from ._engine import Engine, RenderFunction, Selection, Session, Step
from ._errors import CupelError, DoesNotFitError
from ._settings import Pin, Policy, Rules

Fitted = Union[Step[Any], Selection[Any]]
"""Window that an adapter sends: a step of a session, or a selection of its own."""

OnSelection = Callable[[Fitted], object]
"""Called with every window before it is sent; what it raises is raised where the model is called."""

class WindowOptions(TypedDict, total=False):
    """Options of every adapter beside ``max_tokens``."""

    model: str | None
    """Model whose tokens are counted and whose window it is; without it the one that the framework calls."""
    policy: Policy
    """Policy, which says which messages are worth keeping."""
    output_reserve: int | None
    """Tokens of the window that are kept free for the answer."""
    margin_percent: float | None
    """Possible error of counts: so much of the window stays free."""
    pins: Iterable[Pin]
    """Messages that are kept, whatever they cost."""
    rules: Rules
    """Standing rules: every message that states one is kept."""
    tokenizer: str | None
    """Tokenizer; without it the model's."""
    target_tokens: int | None
    """Tokens to aim for, if that is less than what fits."""
    handles: bool
    """Ends a shortened text with the handle of its original, unless this is ``False``."""
    shorten: str | None
    """``"json"`` or ``"all"``: results of tools may go in shorter, where the framework lets them."""
    renderers: Iterable[RenderFunction]
    """Functions that make results of tools shorter."""
    repair: bool
    """Mends what a provider would refuse, where nothing is lost by it."""
    sessions: bool
    """Keeps the provider's cache for conversations that have an id, unless this is ``False``."""
    engine: Engine | None
    """An engine of your own, instead of all that one is made of."""
    on_selection: OnSelection | None
    """Called with every window before it is sent."""


def fitter(
    max_tokens: int | None,
    options: WindowOptions,
    *,
    format: str | None = None,
    overflow: type[DoesNotFitError] = DoesNotFitError,
) -> Fitter:
    """Engine and sessions of an adapter, from its arguments."""
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    told = {name: given.pop(name) for name in ("sessions", "on_selection") if name in given}
    engine = given.pop("engine", None)
    if engine is not None and (given or max_tokens is not None):
        name = next(iter(given), "max_tokens")
        raise CupelError(f"{name}: the engine that was given has its own; set it there", path=name)
    engine = engine or Engine(max_tokens=max_tokens, format=format, **given)
    return Fitter(engine, overflow=overflow, **told)


LOG = logging.getLogger("cupel")
"""A record of every window: at ``INFO`` where something is left out, at ``DEBUG`` where all of it fits."""


class _Conversation:
    """A session, and how long the history was that it saw last."""

    def __init__(self, engine: Engine) -> None:
        self.session = Session(engine)
        self.lock = threading.Lock()
        self.seen = -1

    def __getstate__(self) -> dict[str, Any]:
        return {"session": self.session, "seen": self.seen}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, lock=threading.Lock())


class Fitter:
    """Fits the requests of a framework into a window, each conversation in a session of its own.

    A framework does not tell whether the provider has answered. But the history grows when it has:
    the last step counts as soon as a longer history comes, and one that is sent again spends nothing.

    A framework's id may be shared: by the agents of a run, or by runs side by side. Their histories
    begin differently, and so they are sessions of their own.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        sessions: bool = True,
        most: int = 1_024,
        on_selection: OnSelection | None = None,
        overflow: type[DoesNotFitError] = DoesNotFitError,
    ) -> None:
        self.engine = engine
        self.sessions = sessions
        self._most = most
        self._on_selection = on_selection
        # What does not fit, as an error that the framework knows.
        self._overflow = overflow
        self._conversations: OrderedDict[Hashable, _Conversation] = OrderedDict()
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            known = OrderedDict(self._conversations)
        return {**vars(self), "_conversations": known, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.Lock())

    def window(
        self, request: Any, key: Hashable | None = None, *, window: int | None = None, **options: Any
    ) -> Fitted:
        """The window of a request; in a session if its conversation has an id.

        ``window`` is how much fits by the framework's own word, where neither the engine nor its table of
        models says it.
        """
        try:
            try:
                fitted = self._fitted(request, key, options)
            except CupelError as error:
                if error.code != "no-budget" or not window:
                    raise
                fitted = self._fitted(request, key, {**options, "max_tokens": window})
        except DoesNotFitError as error:
            raise _errors.as_kind(self._overflow, error) from None
        self._tell(fitted)
        return fitted

    def _fitted(self, request: Any, key: Hashable | None, options: dict[str, Any]) -> Fitted:
        if key is None or not self.sessions:
            return self.engine.select(request, **options)
        messages = request if isinstance(request, (list, tuple)) else _messages(request)
        conversation = self._conversation((key, _beginning(messages)))
        with conversation.lock:
            return self._next(conversation, request, messages, options)

    def _tell(self, fitted: Fitted) -> None:
        if LOG.isEnabledFor(logging.INFO):
            summary = fitted.summary
            is_whole = summary["messages_after"] == summary["messages_before"]
            LOG.log(
                logging.DEBUG if is_whole else logging.INFO,
                "kept %d of %d messages, %d of %d tokens, from %d",
                summary["messages_after"],
                summary["messages_before"],
                summary["tokens_after"],
                summary["budget"]["target_tokens"],
                summary["tokens_before"],
                extra={"cupel": summary},
            )
        if self._on_selection is not None:
            self._on_selection(fitted)

    def _next(
        self, conversation: _Conversation, request: Any, messages: Sequence[Any], options: Any
    ) -> Step[Any]:
        if len(messages) > conversation.seen:
            conversation.session.accept()
        step = conversation.session.next(request, now=time.time(), **options)
        conversation.seen = len(messages)
        return step

    def _conversation(self, key: Hashable) -> _Conversation:
        """The conversation of this id; the longest unused are forgotten, which costs cache alone."""
        with self._lock:
            conversation = self._conversations.pop(key, None) or _Conversation(self.engine)
            self._conversations[key] = conversation
            while len(self._conversations) > self._most:
                self._conversations.popitem(last=False)
        return conversation


def _messages(request: Any) -> Sequence[Any]:
    for name in ("contents", "input", "messages"):
        if name in request:
            messages: Sequence[Any] = request[name]
            return messages
    return ()


def _beginning(messages: Sequence[Any]) -> tuple[str, ...]:
    """Beginning of a conversation, up to the first message that is not the system's."""
    handles = []
    for message in messages:
        handles.append(_native.handle(_native.dumps(message)))
        get = message.get if isinstance(message, dict) else functools.partial(getattr, message)
        if (get("role", None) or get("type", None)) not in ("system", "developer"):
            break
    return tuple(handles)
