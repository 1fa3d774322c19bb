"""Arguments that many calls share, in the form in which the engine takes them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, TypedDict, Union

from . import _native
from ._errors import CupelError

Policy = Union[str, Mapping[str, Any], os.PathLike[str]]
"""A policy: the name of one that is known, a description as data, or the path of a TOML or JSON file."""

Pin = Union[int, str]
"""Message that is kept, whatever it costs: an index, ``"role:user"``, ``"field:pinned=true"``, or
``"words:never use tabs"``."""

Rules = Union[str, os.PathLike[str], Iterable[Union[str, os.PathLike[str]]]]
"""Standing rules: texts with one on each line, or paths of files. Every message of the system or the user
that has the words of one is kept, white space and case aside."""


class CallOptions(TypedDict, total=False):
    """Options of one call."""

    max_tokens: int | None
    """The window in tokens; without it that of the model."""
    target_tokens: int | None
    """Tokens to aim for, if that is less than what fits."""
    output_reserve: int | None
    """Tokens of the window that are kept free for the answer."""
    margin_percent: float | None
    """Possible error of counts: so much of the window stays free. Exact counts need none, and estimates
    have one of their own."""
    model: str | None
    """Model whose tokens are counted, and whose window it is."""
    query: str | None
    """Query that the window is for; without it the last words of the user."""
    pins: Iterable[Pin]
    """Messages that are kept, whatever they cost."""
    rules: Rules
    """Standing rules: every message that states one is kept."""
    shorten: str | None
    """``"json"`` or ``"all"``: results of tools may go in shorter; ``"off"``: never."""
    tools: str | None
    """``"shorten"``: tools may say less where they take too much of the window; ``"choose"``: besides, those
    that nothing asks for may go; ``"keep"``: neither."""
    renderings: Iterable[Mapping[str, Any]]
    """Shorter forms of texts, as ``cupel select --renderings`` reads them."""
    vectors: Mapping[str, Any] | None
    """Embeddings of the messages and the query, as ``cupel select --vectors`` reads them."""


def policy(given: Policy) -> str | tuple[str, str]:
    """The name of a policy, or what reports call it and its text."""
    if isinstance(given, str):
        return given
    if isinstance(given, Mapping):
        return str(given.get("name") or "policy"), _native.dumps(dict(given))
    if not isinstance(given, os.PathLike):
        kind = type(given).__name__
        raise CupelError(
            f"policy: must be a name, a mapping or the path of a file, got `{kind}`", path="policy"
        )
    path = os.fspath(given)
    text = _read(path, "policy", "invalid-policy")
    return os.path.splitext(os.path.basename(path))[0], text


def listed(name: str, given: Any) -> list[Any]:
    """The values of an argument that takes several."""
    try:
        return list(given)
    except TypeError:
        raise _wrong(name, "a list", given) from None


def whole(name: str, given: Any) -> int:
    """The number of an argument that takes a whole one."""
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        raise _wrong(name, "a whole number, 0 or more", given)
    return given


def _wrong(name: str, wanted: str, given: Any) -> CupelError:
    return CupelError(f"{name}: must be {wanted}, got {given!r}", path=name)


def _read(path: str, argument: str, code: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise CupelError(f"{argument}: cannot read {path}: {error}", code=code, path=argument) from error


def pins(given: Iterable[Pin], count: int | None = None) -> list[Pin]:
    """Pins, where an index may count from the end of a list whose length is known."""
    if isinstance(given, (int, str)):
        given = [given]
    pinned: list[Pin] = []
    for pin in listed("pins", given):
        if isinstance(pin, int) and pin < 0:
            if count is None or pin + count < 0:
                raise CupelError(f"pins: there is no message {pin}", code="unmatched-pin", path="pins")
            pin += count
        pinned.append(pin)
    return pinned


def rules(given: Rules) -> list[str]:
    """The texts of standing rules."""
    if isinstance(given, (str, os.PathLike)):
        given = [given]
    return [
        text if isinstance(text, str) else _read(os.fspath(text), "rules", "invalid-argument")
        for text in listed("rules", given)
    ]


def options(count: int | None, **given: Any) -> dict[str, Any]:
    """Options of one call on a request with so many messages, by the keywords of the engine's table."""
    if given.get("pins"):
        given["pins"] = pins(given["pins"], count)
    if given.get("rules"):
        given["rules"] = rules(given["rules"])
    if given.get("renderings"):
        given["renderings"] = listed("renderings", given["renderings"])
    if not isinstance(given.get("vectors"), (Mapping, type(None))):
        raise _wrong("vectors", "a mapping", given["vectors"])
    # The engine refuses names that it does not know; what is empty says nothing.
    return {name: value for name, value in given.items() if value is not None and value != ()}
