"""Parts that adapters share: an engine, and the sessions of conversations that have an id."""

from __future__ import annotations

import functools
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, Union

from . import _errors, _native
from ._engine import Engine, RenderFunction, Selection, Session, Step
from ._errors import CupelError, DoesNotFitError
from ._settings import Pin, Policy, Rules
from ._summaries import Summaries, Summarize

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
    summarize: Summarize | None
    """Makes a text of the messages that a window leaves out, which is sent in their place. Each message is
    summarized once; it may be asynchronous where the framework's call is."""


def fitter(
    max_tokens: int | None,
    options: WindowOptions,
    *,
    format: str | None = None,
    overflow: type[DoesNotFitError] = DoesNotFitError,
) -> Fitter:
    """Engine and sessions of an adapter, from its arguments."""
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    told = {name: given.pop(name) for name in ("sessions", "on_selection", "summarize") if name in given}
    engine = given.pop("engine", None)
    if engine is not None and (given or max_tokens is not None):
        name = next(iter(given), "max_tokens")
        raise CupelError(f"{name}: the engine that was given has its own; set it there", path=name)
    engine = engine or Engine(max_tokens=max_tokens, format=format, **given)
    return Fitter(engine, overflow=overflow, **told)


LOG = logging.getLogger("cupel")
"""A record of every window: at ``INFO`` where something is left out, at ``DEBUG`` where all of it fits."""


class _Conversation:
    """A session, how long the history was that it saw last, and summaries of what was left out."""

    def __init__(self, engine: Engine) -> None:
        self.session = Session(engine)
        self.lock = threading.RLock()
        self.seen = -1
        self.summaries = Summaries()

    def __getstate__(self) -> dict[str, Any]:
        return {"session": self.session, "seen": self.seen, "summaries": self.summaries}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, lock=threading.RLock())


@dataclass(frozen=True)
class _Told:
    """A request's messages as they came, its conversation if it is a session, and the framework's window."""

    own: Sequence[Any]
    conversation: _Conversation | None
    window: int | None


def of_user(words: str) -> dict[str, Any]:
    """A message of the user, as OpenAI and Anthropic have it."""
    return {"role": "user", "content": words}


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
        summarize: Summarize | None = None,
    ) -> None:
        self.engine = engine
        self._summarize = summarize
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
        self,
        request: Any,
        key: Hashable | None = None,
        *,
        window: int | None = None,
        note: Callable[[str], Any] = of_user,
        **options: Any,
    ) -> Fitted:
        """The window of a request; in a session if its conversation has an id.

        ``window`` is how much fits by the framework's own word, where neither the engine nor its table of
        models says it. ``note`` makes a message of the words of a summary.
        """
        own = _messages(request)
        conversation = None
        if self._summarize is not None or (key is not None and self.sessions):
            conversation = self._conversation((key, _beginning(own)))
        told = _Told(own, conversation if key is not None and self.sessions else None, window)
        if self._summarize is None or conversation is None:
            fitted = self._fitting(request, told, options)
        else:
            with conversation.lock:
                fitted = self._summarized(request, told, conversation.summaries, note, options)
        self._tell(fitted)
        return fitted

    def _fitting(self, request: Any, told: _Told, options: dict[str, Any]) -> Fitted:
        try:
            try:
                return self._fitted(request, told, options)
            except CupelError as error:
                if error.code != "no-budget" or not told.window:
                    raise
                return self._fitted(request, told, {**options, "max_tokens": told.window})
        except DoesNotFitError as error:
            raise _errors.as_kind(self._overflow, error) from None

    def _summarized(
        self,
        request: Any,
        told: _Told,
        summaries: Summaries,
        note: Callable[[str], Any],
        options: dict[str, Any],
    ) -> Fitted:
        """A window with summaries of what it leaves out.

        They take room, so that more may have to go: what goes the third time is summarized with the next
        request. Where what must be kept leaves them no room, they are not sent.
        """
        assert self._summarize is not None
        summaries.check(told.own)
        for last in (False, False, True):
            laid, order = summaries.among(told.own, note)
            pins = [at for at, one in enumerate(order) if isinstance(one, str)]
            try:
                fitted = self._fitting(_with_messages(request, laid), told, {**options, "pins": pins})
            except DoesNotFitError:
                if not pins:
                    raise
                return self._fitting(request, told, options)
            fitted.order = [order[at] for at in fitted.kept]
            left = summaries.left(order, fitted.kept)
            if last or not left:
                break
            summaries.add(told.own, left, self._summarize)
        return fitted

    def _fitted(self, request: Any, told: _Told, options: dict[str, Any]) -> Fitted:
        if told.conversation is None:
            return self.engine.select(request, **options)
        with told.conversation.lock:
            return self._next(told.conversation, request, told.own, options)

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


def _with_messages(request: Any, messages: list[Any]) -> Any:
    if isinstance(request, (list, tuple)):
        return messages
    name = next(one for one in _LISTS if one in request)
    return {**request, name: messages}


_LISTS = ("contents", "input", "messages")
"""Where requests have their messages."""


def _messages(request: Any) -> Sequence[Any]:
    if isinstance(request, (list, tuple)):
        return request
    for name in _LISTS:
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
