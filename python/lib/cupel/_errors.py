"""What can go wrong, as data: exceptions with a code that never changes."""

from __future__ import annotations

import json
from typing import Any


class CupelError(ValueError):
    """Why a call has no answer.

    >>> import cupel
    >>> try:
    ...     cupel.select('{"messages": 3}', max_tokens=100)
    ... except cupel.CupelError as error:
    ...     print(error.code, error.path, error.remedy, sep=" | ")
    malformed-request | messages | give the messages as a list
    """

    code: str
    """What kind of error it is; texts may change from version to version, this does not."""
    path: str | None
    """Where in the request, the policy or the arguments, as in ``messages[4].role``."""
    rule: str
    """The rule that was broken, with the value that broke it."""
    remedy: str | None
    """What to do about it."""
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
    """What must be kept does not fit; ``details["parts"]`` says what, the largest first."""


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


def make(details: str) -> CupelError:
    """The exception for an error that the engine tells as JSON."""
    told = json.loads(details)
    code, rule = told["code"], told["rule"]
    path, remedy = told.get("path"), told.get("remedy")
    message = told.get("message")
    if message is None:
        message = (f"{path}: " if path else "") + rule + (f"; {remedy}" if remedy else "")
    taken = ("schema", "code", "rule", "path", "remedy", "message")
    rest = {name: value for name, value in told.items() if name not in taken}
    rest.update(rest.pop("details", {}))
    kind = _CLASSES.get(code, CupelError)
    return kind(message, code=code, path=path, rule=rule, remedy=remedy, details=rest)


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
