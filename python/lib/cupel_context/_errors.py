"""Errors as data: exceptions with a code that never changes."""

from __future__ import annotations

import json
from typing import Any


class CupelError(ValueError):
    """Why a call has no answer.

    >>> import cupel_context as cupel
    >>> try:
    ...     cupel.select('{"messages": 3}', max_tokens=100)
    ... except cupel.CupelError as error:
    ...     print(error.code, error.path, error.remedy, sep=" | ")
    malformed-request | messages | give the messages as a list
    """

    code: str
    """Kind of the error; texts may change from version to version, this does not."""
    path: str | None
    """Where in the request, the policy or the arguments, as in ``messages[4].role``."""
    rule: str
    """The rule that was broken, with the value that broke it."""
    remedy: str | None
    """Remedy: what to do about the error."""
    details: dict[str, Any]
    """Everything else that is known of it."""

    def __init__(
        self,
        message: str,
        *,
        code: str = "invalid-argument",
        path: str | None = None,
        rule: str | None = None,
        remedy: str | None = None,
        details: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.path = path
        self.rule = message if rule is None else rule
        self.remedy = remedy
        self.details = details or {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles, so that it comes back from another process."""
        fields = (str(self), self.code, self.path, self.rule, self.remedy, self.details)
        return _again, (type(self), *fields)


class RefusalError(CupelError):
    """The call was understood, and the answer is no. All other errors are the caller's to mend."""


class DoesNotFitError(RefusalError):
    """The messages that must be kept do not fit; ``details["parts"]`` lists them, the largest first."""


class InvalidRequestError(RefusalError):
    """Its provider would refuse the request; ``details["violations"]`` says why."""


class UnsupportedTypeError(CupelError, TypeError):
    """A value that cannot be part of a request."""


_CLASSES: dict[str, type[CupelError]] = {
    "does-not-fit": DoesNotFitError,
    "pinned_exceeds_budget": DoesNotFitError,
    "overflow": DoesNotFitError,
    "invalid-request": InvalidRequestError,
    "unsupported-type": UnsupportedTypeError,
}


_REMEDIES = {
    "each line is JSON of its own; give them one by one, as with --lines": (
        "each line is a request of its own: give them one by one, or as a column to arrow.select_batch"
    ),
    "give the window in tokens, or a known model": "give max_tokens, or a model that is known",
    "repair it": "pass repair=True",
    "repair it, and drop what cannot be kept": "call cupel.repair(request, drop=True)",
}
"""Remedies of the engine, by their names in Python."""


_ARGUMENTS = {
    "unknown-policy": "policy",
    "unknown-model": "model",
    "unknown-tokenizer": "tokenizer",
    "unreadable-tokenizer": "tokenizer",
    "unmatched-pin": "pins",
    "invalid-vectors": "vectors",
    "invalid-renderings": "renderings",
}
"""The arguments that errors are about, where the engine leaves it at their kind."""


def make(details: str) -> CupelError:
    """The exception for an error that the engine tells as JSON."""
    told = json.loads(details)
    code, rule = told["code"], told["rule"]
    path, remedy = told.get("path"), told.get("remedy")
    message = told.get("message")
    if remedy in _REMEDIES:
        remedy, message = _REMEDIES[remedy], (message or "").replace(remedy, _REMEDIES[remedy]) or None
    if path is None and code in _ARGUMENTS:
        path = _ARGUMENTS[code]
        message = f"{path}: {message}"
    if code == "invalid-budget":
        rule, message = (_in_python(text) for text in (rule, message or rule))
        path = path or rule.split(" ")[0]
    if message is None:
        message = (f"{path}: " if path else "") + rule + (f"; {remedy}" if remedy else "")
    taken = ("schema", "code", "rule", "path", "remedy", "message")
    rest = {name: value for name, value in told.items() if name not in taken}
    rest.update(rest.pop("details", {}))
    if code == "invalid-request" and rest.get("violations"):
        # The number of problems helps nobody: the first is named, and what to do about it.
        first, *others = rest["violations"]
        path, rule = first["path"] or None, first["text"]
        is_repairable = remedy in _REMEDIES.values()
        remedy = first["remedy"] + (f"; or {remedy}" if is_repairable else "")
        more = f" ({len(others)} more in details['violations'])" if others else ""
        message = (f"{path}: " if path else "") + f"{rule}; {remedy}{more}"
    kind = _CLASSES.get(code, CupelError)
    return kind(message, code=code, path=path, rule=rule, remedy=remedy, details=rest)


def _in_python(text: str) -> str:
    return text.replace("estimation_safety_margin_percent", "margin_percent")


def as_kind(kind: type[CupelError], error: CupelError) -> CupelError:
    """The same error as one of another class: of one that a framework knows, too."""
    return _again(kind, str(error), error.code, error.path, error.rule, error.remedy, error.details)


def _again(
    kind: type[CupelError],
    message: str,
    code: str,
    path: str | None,
    rule: str,
    remedy: str | None,
    details: dict[str, Any],
) -> CupelError:
    return kind(message, code=code, path=path, rule=rule, remedy=remedy, details=details)
