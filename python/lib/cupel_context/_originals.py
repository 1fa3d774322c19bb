"""Whole texts of shortened ones, for whoever asks for them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

_MOST_BYTES = 64_000_000
"""Bytes that are remembered; the longest unasked for goes first."""


class Originals:
    """Texts by their handles, as many as there is room for."""

    def __init__(self) -> None:
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._bytes = 0

    def keep(self, handle: str, read: Callable[[], str | None]) -> None:
        """Remembers a text, which is read only if it is not known yet."""
        if handle in self._texts:
            self._texts.move_to_end(handle)
            return
        text = read()
        if text is None:
            return
        self._texts[handle] = text
        self._bytes += len(text)
        while self._bytes > _MOST_BYTES and len(self._texts) > 1:
            self._bytes -= len(self._texts.popitem(last=False)[1])

    def get(self, handle: str) -> str | None:
        """The text of this handle."""
        return self._texts.get(handle)
