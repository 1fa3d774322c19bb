"""What adapters share: an engine, and the sessions of conversations that have an id."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

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
    """

    def __init__(self, engine: Engine, *, sessions: bool = True, most: int = 1_024) -> None:
        self.engine = engine
        self.sessions = sessions
        self._most = most
        self._conversations: OrderedDict[str, _Conversation] = OrderedDict()
        self._lock = threading.Lock()

    def window(self, request: Any, key: str | None = None, **options: Any) -> Step[Any] | Selection[Any]:
        """The window of a request; in a session if its conversation has an id."""
        if key is None or not self.sessions:
            return self.engine.select(request, **options)
        conversation = self._conversation(key)
        with conversation.lock:
            step = self._next(conversation, request, options)
        return step

    def _next(self, conversation: _Conversation, request: Any, options: Any) -> Step[Any]:
        messages = request if isinstance(request, (list, tuple)) else _messages(request)
        if len(messages) > conversation.seen:
            conversation.session.accept()
        step = conversation.session.next(request, now=time.time(), **options)
        conversation.seen = len(messages)
        return step

    def _conversation(self, key: str) -> _Conversation:
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
