"""What adapters share: an engine, and the sessions of conversations that have an id."""

from __future__ import annotations

import functools
import threading
import time
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from typing import Any

from . import _native
from ._engine import Engine, Selection, Session, Step


class _Conversation:
    """A session, and how long the history was that it saw last."""

    def __init__(self, engine: Engine) -> None:
        self.session = Session(engine)
        self.lock = threading.Lock()
        self.seen = -1


class Fitter:
    """Fits the requests of a framework into a window, each conversation in a session of its own.

    A framework does not tell whether the provider has answered. But the history grows when it has:
    the last step counts as soon as a longer history comes, and one that is sent again spends nothing.

    A framework's id may be shared: by the agents of a run, or by runs side by side. Their histories
    begin differently, and so they are sessions of their own.
    """

    def __init__(self, engine: Engine, *, sessions: bool = True, most: int = 1_024) -> None:
        self.engine = engine
        self.sessions = sessions
        self._most = most
        self._conversations: OrderedDict[Hashable, _Conversation] = OrderedDict()
        self._lock = threading.Lock()

    def window(self, request: Any, key: Hashable | None = None, **options: Any) -> Step[Any] | Selection[Any]:
        """The window of a request; in a session if its conversation has an id."""
        if key is None or not self.sessions:
            return self.engine.select(request, **options)
        messages = request if isinstance(request, (list, tuple)) else _messages(request)
        conversation = self._conversation((key, _beginning(messages)))
        with conversation.lock:
            step = self._next(conversation, request, messages, options)
        return step

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
    """What a conversation begins with, up to the first message that is not the system's."""
    handles = []
    for message in messages:
        handles.append(_native.handle(_native.dumps(message)))
        get = message.get if isinstance(message, dict) else functools.partial(getattr, message)
        if (get("role", None) or get("type", None)) not in ("system", "developer"):
            break
    return tuple(handles)
