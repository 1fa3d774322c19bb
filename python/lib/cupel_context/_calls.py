"""Every question as one call, with an engine that is made for it and kept."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from . import _native
from ._engine import Engine, Selection
from ._errors import CupelError
from ._settings import Pin, Policy, Rules

if TYPE_CHECKING:
    from . import types as answers
else:
    from ._lazy import answers

M = TypeVar("M")


@functools.lru_cache(maxsize=64)
def _known(policy: str, tokenizer: str | None, repair: bool, superseded: str) -> Engine:
    return Engine(policy=policy, tokenizer=tokenizer, repair=repair, superseded=superseded)


def _engine(
    policy: Policy = "auto",
    tokenizer: str | None = None,
    repair: bool = False,
    superseded: str = "keep",
) -> Engine:
    """An engine for this policy; those that are known by name are made once."""
    if isinstance(policy, str):
        return _known(policy, tokenizer, repair, superseded)
    return Engine(policy=policy, tokenizer=tokenizer, repair=repair, superseded=superseded)


@overload
def select(
    request: Mapping[str, Any] | str | bytes,
    max_tokens: int | None = ...,
    *,
    model: str | None = ...,
    policy: Policy = ...,
    query: str | None = ...,
    pins: Iterable[Pin] = ...,
    rules: Rules = ...,
    shorten: str | None = ...,
    tools: str | None = ...,
    target_tokens: int | None = ...,
    output_reserve: int | None = ...,
    margin_percent: float | None = ...,
    tokenizer: str | None = ...,
    repair: bool = ...,
    superseded: str = ...,
) -> Selection[Any]: ...
@overload
def select(
    request: Sequence[M],
    max_tokens: int | None = ...,
    *,
    model: str | None = ...,
    policy: Policy = ...,
    query: str | None = ...,
    pins: Iterable[Pin] = ...,
    rules: Rules = ...,
    shorten: str | None = ...,
    tools: str | None = ...,
    target_tokens: int | None = ...,
    output_reserve: int | None = ...,
    margin_percent: float | None = ...,
    tokenizer: str | None = ...,
    repair: bool = ...,
    superseded: str = ...,
) -> Selection[M]: ...
def select(
    request: Any,
    max_tokens: int | None = None,
    *,
    model: str | None = None,
    policy: Policy = "auto",
    query: str | None = None,
    pins: Iterable[Pin] = (),
    rules: Rules = (),
    shorten: str | None = None,
    tools: str | None = None,
    target_tokens: int | None = None,
    output_reserve: int | None = None,
    margin_percent: float | None = None,
    tokenizer: str | None = None,
    repair: bool = False,
    superseded: str = "keep",
) -> Selection[Any]:
    """The best request that fits: messages, or a whole request with its tools and system prompt.

    ``request`` is a list of messages (dicts, models of the openai, anthropic and google-genai
    packages, LangChain messages), a request as a dict, or JSON as text or bytes. Without
    ``max_tokens`` the window is that of the ``model``, named here or by the request. With ``shorten``
    (``"json"``, ``"all"`` or ``"off"``) results of tools may go in shorter than they are; without it
    only if what must be kept does not fit otherwise. Every message that states one of ``rules`` is kept.
    With ``tools`` (``"shorten"`` or ``"choose"``) tools that take too much of the window may say less, or go.

    ``query`` is what the window is for, without it the last words of the user; ``pins`` are messages that
    are kept, whatever they cost. ``output_reserve`` of the window stays free for the answer,
    ``margin_percent`` for counts that are off, and ``target_tokens`` aims for less. ``policy``,
    ``tokenizer``, ``repair`` and ``superseded`` are those of :class:`Engine`.

    >>> import cupel_context as cupel
    >>> request = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello!"}]}
    >>> selection = cupel.select(request)
    >>> selection.request == request
    True
    >>> selection.summary["budget"]["max_tokens"]
    128000
    """
    engine = _engine(policy, tokenizer, repair, superseded)
    return engine.select(
        request,
        max_tokens=max_tokens,
        target_tokens=target_tokens,
        output_reserve=output_reserve,
        margin_percent=margin_percent,
        model=model,
        query=query,
        pins=pins,
        rules=rules,
        shorten=shorten,
        tools=tools,
    )


def count(request: Any, *, model: str | None = None, tokenizer: str | None = None) -> answers.Count:
    """The tokens of a request, part by part.

    >>> import cupel_context as cupel
    >>> cupel.count([{"role": "user", "content": "Hello!"}])["total_tokens"]
    9
    """
    return _engine(tokenizer=tokenizer).count(request, model=model)


def validate(request: Any) -> answers.Validation:
    """The rules of its provider that a request breaks.

    >>> import cupel_context as cupel
    >>> orphan = [{"role": "user", "content": "Hi"}, {"role": "tool", "tool_call_id": "a", "content": "1"}]
    >>> cupel.validate(orphan)["violations"][0]["rule"]
    'orphan-result'
    """
    return _engine().validate(request)


def repair(request: Any, *, drop: bool = False) -> answers.Repaired:
    """The request, repaired as far as it can be, and what was done to it.

    Nothing is lost, unless with ``drop``; ``losses`` says what that would be.

    >>> import cupel_context as cupel
    >>> orphan = [{"role": "user", "content": "Hi"}, {"role": "tool", "tool_call_id": "a", "content": "1"}]
    >>> cupel.repair(orphan)["losses"][0]["action"]
    'dropped [1]'
    >>> repaired = cupel.repair(orphan, drop=True)
    >>> repaired["messages"] == orphan[:1], repaired["messages"][0] is orphan[0]
    (True, True)
    """
    return _engine().repair(request, drop=drop)


@overload
def simulate(
    request: Any,
    *,
    budgets: Iterable[int],
    policy: Policy = ...,
    model: str | None = ...,
    query: str | None = ...,
    pins: Iterable[Pin] = ...,
) -> answers.Windows: ...
@overload
def simulate(
    request: Any,
    *,
    message: int,
    policy: Policy = ...,
    model: str | None = ...,
    query: str | None = ...,
    pins: Iterable[Pin] = ...,
) -> answers.MinBudget: ...
@overload
def simulate(
    request: Any,
    *,
    slack_tokens: int,
    max_tokens: int | None = ...,
    policy: Policy = ...,
    model: str | None = ...,
    query: str | None = ...,
    pins: Iterable[Pin] = ...,
) -> answers.Marginal: ...
@overload
def simulate(
    request: Any,
    *,
    steps: int = ...,
    policy: Policy = ...,
    model: str | None = ...,
    query: str | None = ...,
    pins: Iterable[Pin] = ...,
) -> answers.Curve: ...
def simulate(
    request: Any,
    *,
    budgets: Iterable[int] | None = None,
    message: int | None = None,
    slack_tokens: int | None = None,
    steps: int = 20,
    max_tokens: int | None = None,
    policy: Policy = "auto",
    model: str | None = None,
    query: str | None = None,
    pins: Iterable[Pin] = (),
) -> answers.Windows | answers.MinBudget | answers.Marginal | answers.Curve:
    """Windows of other budgets.

    With ``budgets`` the window of each; with ``message`` the smallest budget that keeps it; with
    ``slack_tokens`` what the last tokens of ``max_tokens`` buy; with none of them a curve of
    ``steps`` budgets, from what is pinned to everything.

    >>> import cupel_context as cupel
    >>> messages = [{"role": "user", "content": f"Note {n} about the weather."} for n in range(5)]
    >>> windows = cupel.simulate(messages, budgets=[20, 200])["windows"]
    >>> [window["fits"] for window in windows], windows[1]["kept_messages"]
    ([True, True], [0, 1, 2, 3, 4])
    >>> cupel.simulate(messages, message=4)["part"]["pinned"]
    'last user turn'
    """
    engine = _engine(policy)
    if sum(asked is not None for asked in (budgets, message, slack_tokens)) > 1:
        raise CupelError("give one of budgets, message and slack_tokens")
    if budgets is not None:
        return engine.windows(request, budgets, model=model, query=query, pins=pins)
    if message is not None:
        return engine.min_budget(request, message, model=model, query=query, pins=pins)
    if slack_tokens is not None:
        return engine.marginal(
            request, slack_tokens, max_tokens=max_tokens, model=model, query=query, pins=pins
        )
    return engine.curve(request, steps, model=model, query=query, pins=pins)


def compare(
    request: Any,
    policies: Iterable[Policy],
    max_tokens: int | None = None,
    *,
    model: str | None = None,
    query: str | None = None,
    pins: Iterable[Pin] = (),
) -> answers.Comparison:
    """Differences between two or more policies.

    >>> import cupel_context as cupel
    >>> messages = [{"role": "user", "content": f"Note {n} about the weather."} for n in range(5)]
    >>> told = cupel.compare(messages, ["auto", "chat"], max_tokens=30)
    >>> [summary["policy"] for summary in told["policies"]]
    ['auto', 'chat']
    """
    return _engine().compare(request, policies, max_tokens=max_tokens, model=model, query=query, pins=pins)


def policies() -> list[answers.PolicyRow]:
    """The policies that are known by name, the default first.

    >>> import cupel_context as cupel
    >>> [policy["name"] for policy in cupel.policies()][:3]
    ['auto', 'chat', 'code-review']
    """
    rows: list[answers.PolicyRow] = json.loads(_native.policies())["policies"]
    return rows


def models() -> list[answers.ModelRow]:
    """The models that are known, with tokenizer, window and prices.

    >>> import cupel_context as cupel
    >>> next(model for model in cupel.models() if model["name"] == "gpt-4o")["context_window"]
    128000
    """
    rows: list[answers.ModelRow] = json.loads(_native.models())["models"]
    return rows


def evaluate(
    data: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Iterable[Mapping[str, Any]],
    *,
    policies: Iterable[str | os.PathLike[str]] = ("auto",),
    baselines: Iterable[str] = (),
    budgets: Iterable[int] = (),
    reference: str | None = None,
    session: bool = False,
) -> dict[str, Any]:
    """Share of the needed evidence that policies keep: the report of ``cupel eval --json``.

    ``data`` are files of JSON lines, or their records: pools with questions whose evidence is known,
    or runs of agents. It runs as a process of its own, on all cores.

    >>> import cupel_context as cupel
    >>> pool = {"pool": "notes/1", "items": [
    ...     {"content": "The key is on the blue card.", "tokens": 8},
    ...     {"content": "Lunch is at noon.", "tokens": 6},
    ... ], "queries": [{"id": "q", "query": "Where is the key?", "evidence": [0]}]}
    >>> report = cupel.evaluate([pool], baselines=["random"], budgets=[8])
    >>> [row["recall"]["mean"] for row in report["rows"] if row["method"] == "auto"]
    [1.0]
    """
    if isinstance(data, (str, os.PathLike)):
        given: list[Any] = [data]
    else:
        given = list(data)
    are_files = all(isinstance(one, (str, os.PathLike)) for one in given)
    arguments = [os.fspath(one) for one in given] if are_files else ["-"]
    lines = "" if are_files else "".join(_native.dumps(one) + "\n" for one in given)
    for policy in policies:
        arguments += ["--policy", os.fspath(policy)]
    for baseline in baselines:
        arguments += ["--baseline", baseline]
    arguments += [f"--budget={budget}" for budget in budgets]
    arguments += ["--reference", reference] if reference is not None else []
    arguments += ["--session"] if session else []
    command = [sys.executable, "-m", "cupel_context", "eval", "--json", *arguments]
    # Imported here, since few programs evaluate and all import this module.
    import subprocess

    ran = subprocess.run(command, input=lines, capture_output=True, text=True, encoding="utf-8")
    if ran.returncode != 0:
        told = ran.stderr.strip().removeprefix("cupel: ")
        raise CupelError(told or "the evaluation failed", code="evaluation-failed")
    report: dict[str, Any] = json.loads(ran.stdout)
    return report
