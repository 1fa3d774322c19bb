"""The engine: a request and a budget in, the best request that fits out, and why."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Union, overload

from . import _native, _settings
from ._originals import Originals
from ._request import Request
from ._settings import CallOptions, Pin, Policy, Rules

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import types as answers
else:
    from ._lazy import Unpack, answers

M = TypeVar("M")
W = TypeVar("W", bound="Window[Any]")

RenderFunction = Callable[[str, str], Union[str, "list[tuple[str, float]]", None]]
"""From a text and the name of its tool to shorter texts; with them the share of the value that each keeps."""


def _explain() -> Any:
    """The words for people, imported when somebody wants to read them."""
    from . import _explain

    return _explain


def _pickling() -> Any:
    """Pickling of answers, imported when one is pickled."""
    from . import _pickling

    return _pickling


class Window(Generic[M]):
    """The messages that fit, whoever chose them."""

    _request: Request
    _native: Any
    _messages: list[M] | None = None

    def __init__(self, request: Request, native: Any) -> None:
        self._request = request
        self._native = native
        self.kept: list[int] = native.kept
        """The indices of the messages that stay, in the request's own list."""
        self.tokens: int = native.tokens
        """Tokens of the window."""
        self.order: list[int | str] = native.kept
        """The same as ``kept``; in adapters that summarize, with the words of summaries where they stand, and
        the indices of the framework's own list."""

    @property
    def messages(self) -> list[M]:
        """The messages that stay: the very objects that were handed in, but for shortened ones."""
        if self._messages is None:
            native = self._native
            self._messages = self._request.kept(self.kept, native.text, native.is_repaired, native.rewritten)
        return self._messages

    @property
    def request(self) -> Any:
        """The request with these messages, in the shape in which it was handed in."""
        return self._request.like(self.messages, self._native.text, has_other_tools=bool(self.tools))

    @property
    def text(self) -> str:
        """The request as JSON; every message that stays is its original text."""
        text: str = self._native.text
        return text

    @property
    def summary(self) -> answers.Summary:
        """Sizes before and after, and what they were measured with."""
        answer: answers.SelectionAnswer = json.loads(self._native.answer())
        return answer["summary"]

    @property
    def shortened(self) -> list[answers.ShortenedText]:
        """Texts in the window that are shorter than they were; the engine's ``original`` has the whole."""
        answer: answers.SelectionAnswer = json.loads(self._native.answer())
        return answer.get("shortened", [])

    @property
    def tools(self) -> list[answers.FittedTool]:
        """What became of each tool, if the request goes out with others or shorter ones; else nothing."""
        answer: answers.SelectionAnswer = json.loads(self._native.answer())
        return answer.get("tools", [])

    def __iter__(self) -> Iterator[M]:
        return iter(self.messages)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles and copies: the messages, and all answers as they are now."""
        return _pickling().restore, (type(self), self._request, _pickling().Noted.of(self._native))

    def __len__(self) -> int:
        return len(self.kept)


class Selection(Window[M]):
    """The best request that fits, and why.

    >>> import cupel_context as cupel
    >>> messages = [
    ...     {"role": "user", "content": "The deploy key is on the blue card."},
    ...     {"role": "assistant", "content": "Noted."},
    ...     {"role": "user", "content": "Lunch is at noon, soup again, and the printer is out of paper."},
    ...     {"role": "user", "content": "Where is the deploy key?"},
    ... ]
    >>> selection = cupel.select(messages, max_tokens=40)
    >>> selection.kept
    [0, 1, 3]
    >>> selection.messages[0] is messages[0]
    True
    >>> selection.tokens <= 40
    True
    >>> print(selection.explain().splitlines()[0])
    kept 3 of 4 messages, 33 of 40 tokens, from 53
    """

    _native: _native.Selection

    @property
    def answer(self) -> answers.SelectionAnswer:
        """Everything but texts, as the command writes it."""
        answer: answers.SelectionAnswer = json.loads(self._native.answer())
        return answer

    @property
    def report(self) -> answers.Report:
        """The report of the specification: every item with its score and reason."""
        report: answers.Report = json.loads(self._native.report())
        return report

    def explanation(self, most_left_out: int | None = None) -> answers.Explanation:
        """Explanation of the window as data: what is in, what is not, and why."""
        limit = 2**32 - 1 if most_left_out is None else most_left_out
        explanation: answers.Explanation = json.loads(self._native.explain(limit))
        return explanation

    def explain(self, most_left_out: int = 20) -> str:
        """Explanation of the window as text: what is in, what is not, and why."""
        return str(_explain().text(self.explanation(most_left_out)))

    def __repr__(self) -> str:
        summary = self.summary
        return f"Selection({_explain().headline(summary)})"

    def _repr_html_(self) -> str:
        return str(_explain().html(self.explanation(50)))


class Step(Window[M]):
    """The window of a step of a session, and what it does to the prompt cache."""

    _native: _native.Step

    @property
    def answer(self) -> answers.StepAnswer:
        """Everything but texts, as the command writes it."""
        answer: answers.StepAnswer = json.loads(self._native.answer())
        return answer

    @property
    def session(self) -> answers.SessionStep:
        """Effect on the prompt cache."""
        return self.answer["session"]

    def __repr__(self) -> str:
        return f"Step({_explain().headline(self.summary)})"


class Engine:
    """Fits requests into a window: built once, used for many requests on many threads.

    Nothing has to be given: without a policy it is ``auto``, without a model the one that each
    request names, without limits that model's window.

    * ``policy``: what is worth keeping: a name, a mapping, or the path of a file.
    * ``model``: whose tokens and window it is, whatever a request names.
    * ``tokenizer``: ``o200k_base``, ``cl100k_base``, ``estimate``, or the path of a ``tokenizer.json``;
      without it as the model counts.
    * ``max_tokens``: the window. ``output_reserve`` of it stays free for the answer, and
      ``margin_percent`` for counts that are off; ``target_tokens`` aims for less than what then fits.
    * ``pins``: messages that are kept, whatever they cost: indices, ``"role:user"``,
      ``"words:never use tabs"``.
    * ``rules``: standing rules, as texts or paths of files. Every message that states one is kept.
    * ``superseded``: ``"drop"`` leaves out what something newer makes superfluous, as an older read of
      a file.
    * ``repair``: mends what a provider would refuse, where nothing is lost by it.
    * ``keep_caps``: lets caps and quotas of a policy leave things out of a request that fits.
    * ``alternate``: the user never speaks twice in a row, as the templates of many open models want it.
    * ``whole_turns``: keeps all of a turn or nothing of it, but for the last one.
    * ``format``: the format of the requests, where they should not be looked at to tell it.
    * ``shorten``: ``"json"`` or ``"all"`` lets results of tools go in shorter, ``"off"`` never.
    * ``tools``: ``"shorten"`` lets tools say less where a request does not fit and they take more than a
      quarter of the window, ``"choose"`` besides leaves out those that nothing asks for, ``"keep"`` neither.
    * ``handles``: ends what is shortened with the handle of its original, so that the model can ask for it
      with :func:`retrieve_tool`; ``False`` for none.
    * ``renderers``: functions that make them shorter; see below.

    >>> import cupel_context as cupel
    >>> engine = cupel.Engine(max_tokens=30)
    >>> engine.select([{"role": "user", "content": "Hello!"}]).kept
    [0]

    It holds no lock while it works, so that threads share it, and asyncio can go on meanwhile:

    >>> import asyncio
    >>> async def ask():
    ...     request = [{"role": "user", "content": "Hello!"}]
    ...     return await asyncio.to_thread(engine.select, request)
    >>> asyncio.run(ask()).tokens
    9

    ``renderers`` are functions that make results of tools shorter: from a text and the name of its tool
    to ``None``, a shorter text, or pairs of a text and the share of the value that it keeps. Each text
    is asked for once, and what a function raises is raised by the call:

    >>> def first_line(text, tool):
    ...     return [(text.splitlines()[0], 0.6)] if tool == "log" else None
    >>> engine = cupel.Engine(max_tokens=60, renderers=[first_line])
    >>> talk = [
    ...     {"role": "user", "content": "Is all well?"},
    ...     {"role": "assistant", "content": None, "tool_calls": [
    ...         {"id": "c1", "type": "function", "function": {"name": "log", "arguments": "{}"}}]},
    ...     {"role": "tool", "tool_call_id": "c1", "content": "All is well.\\n" + "tick\\n" * 200},
    ... ]
    >>> engine.select(talk).messages[2]["content"]
    'All is well.\\n[whole: cupel:4321730f8d76d177]'
    """

    def __init__(
        self,
        *,
        policy: Policy = "auto",
        model: str | None = None,
        tokenizer: str | None = None,
        max_tokens: int | None = None,
        target_tokens: int | None = None,
        output_reserve: int | None = None,
        margin_percent: float | None = None,
        pins: Iterable[Pin] = (),
        rules: Rules = (),
        superseded: str = "keep",
        repair: bool = False,
        keep_caps: bool = False,
        alternate: bool = False,
        whole_turns: bool = False,
        handles: bool = True,
        format: str | None = None,
        shorten: str | None = None,
        tools: str | None = None,
        renderers: Iterable[RenderFunction] = (),
    ) -> None:
        settings = {
            "policy": _settings.policy(policy),
            "model": model,
            "tokenizer": tokenizer,
            "max_tokens": max_tokens,
            "target_tokens": target_tokens,
            "output_reserve": output_reserve,
            "margin_percent": margin_percent,
            "pins": _settings.pins(pins),
            "rules": _settings.rules(rules),
            "superseded": superseded,
            "repair": repair,
            "keep_caps": keep_caps,
            "alternate": alternate,
            "whole_turns": whole_turns,
            "handles": handles,
            "format": format,
            "shorten": shorten,
            "tools": tools,
        }
        self._made_of = (_native.dumps(settings), _settings.listed("renderers", renderers))
        self._native = _native.Engine(*self._made_of)
        self.model = model
        """The model that it counts for, whatever a request names."""
        self.max_tokens = max_tokens
        """The window that it was made for."""
        self._originals: Originals | None = None

    def __getstate__(self) -> dict[str, Any]:
        """All that it was made of, which is data; the functions of ``renderers`` must be importable."""
        return {name: value for name, value in vars(self).items() if name != "_native"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._native = _native.Engine(*self._made_of)

    @property
    def policy(self) -> str:
        """The name of the policy that it selects by."""
        return self._native.policy

    @overload
    def select(
        self, request: Mapping[str, Any] | str | bytes, **options: Unpack[CallOptions]
    ) -> Selection[Any]: ...
    @overload
    def select(self, request: Sequence[M], **options: Unpack[CallOptions]) -> Selection[M]: ...
    def select(self, request: Any, **options: Unpack[CallOptions]) -> Selection[Any]:
        """The best request that fits."""
        read = Request(request)
        native = self._native.select(read.given, _native.dumps(_options(read, options)))
        return self._noted(Selection(read, native))

    def _remember(self) -> Originals:
        """The texts that are shortened from now on, by their handles."""
        if self._originals is None:
            self._originals = Originals()
        return self._originals

    def _noted(self, window: W) -> W:
        """A window; the whole of what is shortened in it is remembered if somebody may ask for it."""
        if self._originals is not None and window._native.rewritten:
            read = window._request
            for shortened in window.shortened:
                handle = shortened["handle"]
                self._originals.keep(handle, lambda: self._ask(read, "original", handle=handle))  # noqa: B023
        return window

    def _ask(self, read: Request, ask: str, options: CallOptions | None = None, **needs: Any) -> Any:
        """The answer to a question of the engine's JSON facade."""
        question = {"ask": ask, "options": _options(read, options or {}), **needs}
        return json.loads(self._native.ask(read.given, _native.dumps(question)))

    def count(self, request: Any, **options: Unpack[CallOptions]) -> answers.Count:
        """The tokens of a request, part by part."""
        count: answers.Count = self._ask(Request(request), "count", options)
        return count

    def count_texts(self, texts: Mapping[str, str] | Iterable[str]) -> answers.Count:
        """The tokens of plain texts, each by its name or number."""
        named = texts.items() if isinstance(texts, Mapping) else enumerate(texts)
        told = self._native.count_texts([(str(name), text) for name, text in named])
        count: answers.Count = json.loads(told)
        return count

    def validate(self, request: Any) -> answers.Validation:
        """The rules of its provider that a request breaks."""
        validation: answers.Validation = self._ask(Request(request), "validate")
        return validation

    def repair(self, request: Any, *, drop: bool = False) -> answers.Repaired:
        """The request, repaired as far as it can be, and what was done to it.

        Nothing is lost, unless with ``drop``; ``losses`` says what that would be. ``messages`` are the
        caller's own objects where they were not changed.
        """
        read = Request(request)
        repaired: answers.Repaired = self._ask(read, "repair", drop=drop)
        text = repaired["text"]
        count = 0 if read.messages is None else len(read.messages)
        repaired["messages"] = read.kept(range(count), text, bool(repaired["repairs"]))
        repaired["request"] = read.like(repaired["messages"], text)
        return repaired

    def original(self, request: Any, handle: str) -> str | None:
        """The whole text that a window has a shorter form of, by its handle: a tool for the model.

        >>> import json, cupel_context as cupel
        >>> orders = json.dumps([{"id": f"order-{n}", "note": "left at the door"} for n in range(60)])
        >>> messages = [
        ...     {"role": "user", "content": "List the orders."},
        ...     {"role": "assistant", "content": None, "tool_calls": [
        ...         {"id": "c1", "type": "function", "function": {"name": "list", "arguments": "{}"}}]},
        ...     {"role": "tool", "tool_call_id": "c1", "content": orders},
        ...     {"role": "user", "content": "Which is the first?"},
        ... ]
        >>> engine = cupel.Engine(max_tokens=300, shorten="json")
        >>> selection = engine.select(messages)
        >>> selection.messages[0] is messages[0], selection.messages[2] is messages[2]
        (True, False)
        >>> len(selection.messages[2]["content"]) < len(orders)
        True
        >>> engine.original(messages, selection.shortened[0]["handle"]) == orders
        True
        """
        text: str | None = self._ask(Request(request), "original", handle=handle)
        return text

    def windows(
        self, request: Any, budgets: Iterable[int], **options: Unpack[CallOptions]
    ) -> answers.Windows:
        """The windows of many budgets, from one ranking."""
        given = enumerate(_settings.listed("budgets", budgets))
        wanted = [_settings.whole(f"budgets[{at}]", budget) for at, budget in given]
        windows: answers.Windows = self._ask(Request(request), "windows", options, budgets=wanted)
        return windows

    def curve(
        self,
        request: Any,
        steps: int = 20,
        *,
        smallest: int | None = None,
        largest: int | None = None,
        **options: Unpack[CallOptions],
    ) -> answers.Curve:
        """Windows of many budgets, from the pinned messages to everything."""
        needs = {"steps": _settings.whole("steps", steps), "from": smallest, "to": largest}
        curve: answers.Curve = self._ask(Request(request), "curve", options, **needs)
        return curve

    def marginal(self, request: Any, slack_tokens: int, **options: Unpack[CallOptions]) -> answers.Marginal:
        """Messages that the last tokens of the budget buy."""
        needs = {"slack_tokens": _settings.whole("slack_tokens", slack_tokens)}
        marginal: answers.Marginal = self._ask(Request(request), "marginal", options, **needs)
        return marginal

    def min_budget(self, request: Any, message: int, **options: Unpack[CallOptions]) -> answers.MinBudget:
        """The smallest budget that keeps a message."""
        at = _settings.whole("message", message)
        found: answers.MinBudget = self._ask(Request(request), "min_budget", options, message=at)
        return found

    def compare(
        self, request: Any, policies: Iterable[Policy], **options: Unpack[CallOptions]
    ) -> answers.Comparison:
        """Differences between two or more policies."""
        named = [_settings.policy(policy) for policy in _settings.listed("policies", policies)]
        comparison: answers.Comparison = self._ask(Request(request), "compare", options, policies=named)
        return comparison

    def session(
        self,
        *,
        cache_lifetime: datetime.timedelta | None = None,
        cache_marks: bool = False,
        resend_share: float | None = None,
    ) -> Session:
        """Begins a session: windows that keep the prompt cache."""
        return Session(
            self,
            cache_lifetime=cache_lifetime,
            cache_marks=cache_marks,
            resend_share=resend_share,
        )

    def __repr__(self) -> str:
        return repr(self._native)


class Session:
    """A conversation whose windows keep what the provider has in its cache.

    Providers charge a tenth for the beginning of a request that they saw a moment ago. A session
    changes the end of its windows only, and bounds what is sent again.

    >>> import cupel_context as cupel
    >>> session = cupel.Session(cupel.Engine(max_tokens=1_000))
    >>> messages = [{"role": "user", "content": "Why did the deploy fail?"}]
    >>> step = session.next(messages)
    >>> step.messages[0] is messages[0]
    True
    >>> # Send `step.messages`. When the provider has answered:
    >>> session.accept()
    True
    >>> # What is remembered has no texts, and goes on in another process:
    >>> again = cupel.Session.loads(session.dumps(), cupel.Engine(max_tokens=1_000))
    >>> messages += [{"role": "assistant", "content": "A test did."}, {"role": "user", "content": "Which?"}]
    >>> again.next(messages).session["unchanged_messages"]
    1
    """

    def __init__(
        self,
        engine: Engine | None = None,
        *,
        cache_lifetime: datetime.timedelta | None = None,
        cache_marks: bool = False,
        resend_share: float | None = None,
        _state: str | None = None,
    ) -> None:
        self.engine = engine or Engine()
        self._set: dict[str, Any] = {
            "cache_lifetime": cache_lifetime,
            "cache_marks": cache_marks,
            "resend_share": resend_share,
        }
        self._native = self.engine._native.session(state=_state, **self._set)

    def __getstate__(self) -> dict[str, Any]:
        """State of ``dumps``, and the engine; a step that was not accepted is forgotten."""
        return {"engine": self.engine, "_set": self._set, "state": self._native.state()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.engine, self._set = state["engine"], state["_set"]
        self._native = self.engine._native.session(state=state["state"], **self._set)

    @overload
    def next(
        self,
        request: Mapping[str, Any] | str | bytes,
        *,
        now: float | None = None,
        **options: Unpack[CallOptions],
    ) -> Step[Any]: ...
    @overload
    def next(
        self, request: Sequence[M], *, now: float | None = None, **options: Unpack[CallOptions]
    ) -> Step[M]: ...
    def next(self, request: Any, *, now: float | None = None, **options: Unpack[CallOptions]) -> Step[Any]:
        """Proposes the window of the next request, from the whole history so far.

        ``now`` is the time in seconds since 1970, as ``time.time()`` has it; it tells whether the
        provider still remembers. Without a time it is taken to.
        """
        read = Request(request)
        seconds = None if now is None else max(0, int(now))
        native = self._native.next(read.given, _native.dumps(_options(read, options)), seconds)
        return self.engine._noted(Step(read, native))

    def accept(self) -> bool:
        """The provider has answered: the step that was proposed last counts."""
        return self._native.accept()

    def roll_back(self) -> None:
        """Forgets the step that was proposed last, as the next one does anyway."""
        self._native.roll_back()

    def dumps(self) -> str:
        """State after the accepted steps, as JSON: numbers and fingerprints, no texts."""
        return self._native.state() or "null"

    @classmethod
    def loads(
        cls,
        state: str,
        engine: Engine | None = None,
        *,
        cache_lifetime: datetime.timedelta | None = None,
        cache_marks: bool = False,
        resend_share: float | None = None,
    ) -> Session:
        """Goes on with a session that was written down."""
        return cls(
            engine,
            cache_lifetime=cache_lifetime,
            cache_marks=cache_marks,
            resend_share=resend_share,
            _state=None if state.strip() == "null" else state,
        )


def _options(read: Request, options: CallOptions) -> dict[str, Any]:
    count = None if read.messages is None else len(read.messages)
    return _settings.options(count, **options)
