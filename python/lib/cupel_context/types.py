"""The answers of the engine, as types. Made by tools/make_types.py: change it there."""

from __future__ import annotations

from typing import Any, Literal, TypedDict, Union

__all__ = [
    'Account',
    'BudgetSummary',
    'CacheEntry',
    'Change',
    'Comparison',
    'Count',
    'Curve',
    'CurvePoint',
    'Decided',
    'EarnedBy',
    'ErrorAnswer',
    'ErrorCode',
    'Event',
    'Explanation',
    'Fingerprint',
    'FittedText',
    'FittedTool',
    'Item',
    'Joined',
    'Kept',
    'KeptReason',
    'LeftOut',
    'Marginal',
    'MinBudget',
    'ModelList',
    'ModelPrices',
    'ModelRow',
    'NewAccount',
    'Number',
    'Outdated',
    'Part',
    'PolicyList',
    'PolicyRow',
    'Reason',
    'RepairDone',
    'Repaired',
    'RepairedAnswer',
    'Report',
    'RuleBroken',
    'Schema',
    'SelectionAnswer',
    'SentAgain',
    'SentShorter',
    'SentTool',
    'SessionSchema',
    'SessionState',
    'SessionStep',
    'ShortenedPart',
    'ShortenedPosition',
    'ShortenedText',
    'Signal',
    'StepAnswer',
    'Summary',
    'Survey',
    'SurveyedPart',
    'Swing',
    'TextCount',
    'ToGetIn',
    'ToolFate',
    'ToolList',
    'ToolRow',
    'Totals',
    'UnusedRendering',
    'Usage',
    'Validation',
    'Why',
    'Window',
    'Windows',
]


class BudgetSummary(TypedDict):
    """Budget of a window."""

    kept_free_percent: float
    """The part of the window that stays free because of that, in percent of all that is not reserved."""
    margin_percent: float
    """By how much the room for what competes is reduced because counts may be off, in percent."""
    max_tokens: int
    """The window in tokens."""
    output_reserve: int
    """Tokens that are kept free for the answer."""
    target_tokens: int
    """Tokens that the selection aims for."""


class _Part(TypedDict):
    """What is always there."""

    excerpt: str
    """Beginning of the text, on one line."""
    kind: str
    """Its kind, as in `ToolOutput`."""
    messages: list[int]
    """The indices of its messages in the request's own list; none for a fixed part."""
    path: str
    """Where it is in the request, as in `messages[3..6]` or `tools`."""
    position: int
    """Its position among the candidates."""
    tokens: int
    """Tokens of the part."""
    what: str
    """Description, as in `assistant, 2 tool results`."""


class Part(_Part, total=False):
    """Messages that are in or out together, or a part of the request that is always in."""

    pinned: Union[str, None]
    """Why it is always in, if it is, as in `last user turn`."""


Schema = Literal['cupel/1']


class _Summary(TypedDict):
    """What is always there."""

    budget: BudgetSummary
    """Budget of the window."""
    format: str
    """The format of the request, as in `openai-chat`."""
    is_estimate: bool
    """True if token counts are estimates."""
    messages_after: int
    """Number of messages that stay."""
    messages_before: int
    """Number of messages before the selection."""
    policy: str
    """The policy that chose."""
    tokenizer: str
    """Name of the tokenizer."""
    tokens_after: int
    """Tokens of the window."""
    tokens_before: int
    """Tokens of the request before the selection."""


class Summary(_Summary, total=False):
    """Sizes before and after, and what they were measured with."""

    estimated_like: Union[str, None]
    """The family of tokenizers that counts are estimated like, as in `claude`; `unknown` where the name of the model speaks of none. Absent where counts are exact or the caller chose a tokenizer."""
    model: Union[str, None]
    """The model that the counts are for, if it is known."""


class Swing(TypedDict):
    """A candidate on which policies disagree."""

    is_kept: list[bool]
    """Presence in each policy's window, in their order."""
    part: Part
    """The candidate."""


class Comparison(TypedDict):
    """Messages that two or more policies keep differently."""

    policies: list[Summary]
    """Summary of each policy, in the order given."""
    schema: Schema
    """`cupel/1`."""
    swings: list[Swing]
    """The candidates on which they disagree, in the order of the request."""


class TextCount(TypedDict):
    """The tokens of a plain text."""

    name: str
    """Name that the caller gives it."""
    tokens: int
    """Its tokens."""


class _Count(TypedDict):
    """What is always there."""

    at_most: int
    """Upper bound that holds in 95 of 100 cases; the same number where counts are exact."""
    is_estimate: bool
    """True if counts are estimates."""
    schema: Schema
    """`cupel/1`."""
    tokenizer: str
    """Name of the tokenizer."""
    total_tokens: int
    """All tokens together."""


class Count(_Count, total=False):
    """The tokens of a request, part by part, or of plain texts."""

    parts: list[Part]
    """The parts of a request, in its order; none for plain texts."""
    texts: list[TextCount]
    """The plain texts, in the order given; none for a request."""


class _CurvePoint(TypedDict):
    """What is always there."""

    budget: int
    """The budget."""
    fits: bool
    """True if the messages that must be kept fit."""
    items: int
    """Number of candidates that are kept."""
    messages: int
    """Number of messages that are kept."""
    score: float
    """The share of all scores that is kept, from 0 to 1."""
    tokens: int
    """Tokens of the window."""


class CurvePoint(_CurvePoint, total=False):
    """Figures of one budget's window, with nothing set aside but the margin for estimates."""

    displaced: list[int]
    """The positions of the candidates that the budget before keeps and this one does not: something larger took their place. Then the score may fall."""


class Curve(TypedDict):
    """Figures of the windows of many budgets."""

    is_estimate: bool
    """True if token counts are estimates."""
    points: list[CurvePoint]
    """One for each budget, ascending."""
    schema: Schema
    """`cupel/1`."""
    total_items: int
    """Number of candidates."""
    total_messages: int
    """Number of messages."""
    total_tokens: int
    """Tokens of the request."""


class RuleBroken(TypedDict):
    """A rule of the provider that a request breaks."""

    path: str
    """Where, as in `messages[4]`; empty for the whole request."""
    remedy: str
    """Remedy: what to do about it."""
    rule: str
    """A stable name of the rule, as in `orphan-result`."""
    text: str
    """Text of the violation."""


class _ErrorAnswer(TypedDict):
    """What is always there."""

    code: ErrorCode
    """Kind of the error; never changes."""
    rule: str
    """The rule that was broken, with the value that broke it."""
    schema: Schema


class ErrorAnswer(_ErrorAnswer, total=False):
    """An answer."""

    available_tokens: Union[int, None]
    """Tokens that there is room for, where what must be kept does not fit."""
    column: Union[int, None]
    """Column of the place in characters, from 1."""
    line: Union[int, None]
    """Line of the place, from 1, where there is one."""
    needed_tokens: Union[int, None]
    """Tokens that must be kept, where they do not fit."""
    parts: list[Part]
    """Messages that must be kept and do not fit, the largest first."""
    path: Union[str, None]
    """Where in the request, the policy or the options, as in `messages[4].role`."""
    remedy: Union[str, None]
    """Remedy: what to do about the error."""
    violations: list[RuleBroken]
    """The rules of the provider that the request breaks."""


class _EarnedBy(TypedDict):
    """What is always there."""



class EarnedBy(_EarnedBy, total=False):
    """Reasons for a candidate's score, as far as the policy tells them."""

    neighbours: list[str]
    """Beginnings of the neighbours that share their score with it, those that gave most first."""
    words: list[str]
    """Words of the query that it has too, those that earned most first."""


class _FittedTool(TypedDict):
    """What is always there."""

    fate: ToolFate
    """Presence and form."""
    name: str
    """The name by which it is called; of a provider's own tool, its type."""
    tokens_after: int
    """Tokens of the tool now."""
    tokens_before: int
    """Tokens of the tool whole."""
    why: str
    """Reason why it is in, or out."""


class FittedTool(_FittedTool, total=False):
    """Fate of a tool."""

    step: Union[str, None]
    """Step by which it is shorter than it was, if it is: `sentences`, `examples`, `schema`, `defaults` or `bare`."""


class _Kept(TypedDict):
    """What is always there."""

    earned_by: EarnedBy
    """Reasons for its score."""
    part: Part
    """Message, or bundle of messages."""
    reason: KeptReason
    """Why it is in."""
    score: Union[float, None]
    """Score by the policy; 1 if it is pinned; `null` if that is not a finite number."""


class Kept(_Kept, total=False):
    """Something in the window."""

    gain: Union[float, None]
    """Gain of the window by it, beside the others, in the policy's own measure, if it tells that."""
    kept_for: Union[str, None]
    """The rule that keeps it before the rest competes, in a few words: `a rule of the user`."""
    needed_by: list[int]
    """The positions of what else is in and could not be without it, unless it is always in."""
    shortened: Union[ShortenedPart, None]
    """Shorter form in which it is sent, if it is."""


class _LeftOut(TypedDict):
    """What is always there."""

    earned_by: EarnedBy
    """Reasons for its score."""
    part: Part
    """Message, or bundle of messages."""
    room_taken_by: list[int]
    """The positions of the kept candidates that have its room: the lowest scored ones that together are as large, the lowest first."""
    score: Union[float, None]
    """Score by the policy; `null` if that is not a finite number."""
    to_get_in: ToGetIn
    """Tokens or budget with which it would get in."""
    why: Why
    """Why it is out."""


class LeftOut(_LeftOut, total=False):
    """Something that was left out."""

    gain: Union[float, None]
    """Gain that the window would have by it, beside the others, in the policy's own measure, if it tells that."""
    note: Union[str, None]
    """A note of the policy on it, in a few words: `small talk`."""


class Outdated(TypedDict):
    """Something that did not compete, since something newer makes it superfluous."""

    messages: list[int]
    """The messages that were dropped."""
    newer: str
    """Message that stands for it."""
    older: str
    """Message that was dropped."""
    why: str
    """Why, in a few words."""


class RepairDone(TypedDict):
    """Something that was done to a request, to repair it."""

    action: str
    """Change, as in `dropped messages[3]`."""
    is_loss: bool
    """True if something that was said, called or answered is gone."""
    path: str
    """Where, in the request as it was."""
    reason: str
    """Why."""
    rule: str
    """The rule that asked for it."""


class _ShortenedPart(TypedDict):
    """What is always there."""

    name: str
    """Name of the form, as in `json 18 %`."""
    texts: list[ShortenedText]
    """The texts that are shorter, in the order of the request."""
    tokens: int
    """Tokens of the form."""


class ShortenedPart(_ShortenedPart, total=False):
    """Shorter form of something in the window."""

    whole_at: Union[int, None]
    """The smallest larger budget, with nothing set aside, whose window has it whole."""


class _ShortenedText(TypedDict):
    """What is always there."""

    handle: str
    """By what the original can be asked for: see [`Engine::original`](crate::Engine::original)."""
    message: int
    """The index of its message in the request's own list."""
    name: str
    """Name of the form, as in `json 18 %`."""
    tokens_after: int
    """Tokens of the shorter text."""
    tokens_before: int
    """Tokens of the whole text."""


class ShortenedText(_ShortenedText, total=False):
    """A text of the window that is shorter than it was."""

    tool: str
    """The tool whose answer it is; empty for words of the assistant."""
    values_after: Union[int, None]
    """Number of values that are left."""
    values_before: Union[int, None]
    """Number of values in the whole text, where it is JSON."""


class Signal(TypedDict):
    """Something about the request as a whole that the policy went by."""

    name: str
    """A stable name."""
    text: str
    """Meaning of the signal."""
    value: Union[float, None]
    """Strength of the signal."""


class _ToGetInMoreTokens(TypedDict):
    """What is always there."""

    how: Literal['more-tokens']
    is_least: bool
    """True if nothing less would do. If not, so much does, and less may: of long requests not all budgets are tried."""
    tokens: int
    """By how much."""


class ToGetInMoreTokens(_ToGetInMoreTokens, total=False):
    """A larger budget."""

    was_in_at: Union[int, None]
    """A smaller budget that holds it, with nothing set aside: in this one, something else took its place."""


class ToGetInLessTokens(TypedDict):
    """A smaller budget: something else took its place in all larger ones."""

    budget: int
    """The smallest that holds it, with nothing set aside."""
    how: Literal['less-tokens']


class ToGetInNotByBudget(TypedDict):
    """No budget up to all tokens would do."""

    how: Literal['not-by-budget']


ToGetIn = Union[ToGetInMoreTokens, ToGetInLessTokens, ToGetInNotByBudget]
"""Tokens or budget with which something would get in."""


class UnusedRendering(TypedDict):
    """A form that the caller made, and that is of no use."""

    position: int
    """Its position in the list that was given."""
    target: str
    """Target, as in `message 4` or `call toolu_1`."""
    why: str
    """Why it is of no use."""


class WhyNoRoom(TypedDict):
    """Better scored messages left too little room."""

    left: int
    """The tokens that were left."""
    reason: Literal['no-room']


class WhyNoRoomForNeeds(TypedDict):
    """There is too little room for it and what it needs."""

    left: int
    """The tokens that were left."""
    needs: list[int]
    """The positions of what it needs and that is not in."""
    paths: list[str]
    """Where that is."""
    reason: Literal['no-room-for-needs']
    tokens: int
    """Its cost with all that it needs and that is not in."""


class WhyShareUsedUp(TypedDict):
    """There is room, but not in the part of the window that its kind has."""

    reason: Literal['share-used-up']


class WhyPinsLeaveNoRoom(TypedDict):
    """Messages that must be kept leave too little room, whatever else is in the window."""

    left: int
    """The tokens that were left."""
    pinned: int
    """The tokens of all that must be kept."""
    reason: Literal['pins-leave-no-room']


class _WhySameText(TypedDict):
    """What is always there."""

    reason: Literal['same-text']


class WhySameText(_WhySameText, total=False):
    """Something with the same text is in."""

    path: Union[str, None]
    """Where that one is."""
    position: Union[int, None]
    """The position of that one, if it is in the window."""


class WhyTooManyOfKind(TypedDict):
    """The policy takes only so many of its kind."""

    cap: int
    """Largest number that may be in."""
    kind: str
    """The kind."""
    reason: Literal['too-many-of-kind']


class WhyOther(TypedDict):
    """Another reason of the specification."""

    name: str
    """Its name there."""
    reason: Literal['other']
    text: str
    """Text of the reason."""


Why = Union[WhyNoRoom, WhyNoRoomForNeeds, WhyShareUsedUp, WhyPinsLeaveNoRoom, WhySameText, WhyTooManyOfKind, WhyOther]
"""Why something is out."""


class _Explanation(TypedDict):
    """What is always there."""

    hidden: int
    """Number of messages that were left out and are not listed."""
    kept: list[Kept]
    """Messages in the window, in the order in which they are written."""
    left_out: list[LeftOut]
    """Messages that were left out, best first."""
    query: str
    """Query that the window is for."""
    schema: Schema
    """`cupel/1`."""
    summary: Summary
    """Sizes before and after, and what they were measured with."""


class Explanation(_Explanation, total=False):
    """Explanation of a window: what is in, what is not, and why."""

    language: Union[str, None]
    """The language whose stems and stop words were taken; absent where none was sure."""
    repairs: list[RepairDone]
    """Repairs before the selection."""
    signals: list[Signal]
    """Signals of the request as a whole that the policy went by, if it tells them."""
    superseded: list[Outdated]
    """Messages that did not compete, since something newer makes them superfluous."""
    tools: list[FittedTool]
    """Fate of each tool, in the order of the request."""
    unused_renderings: list[UnusedRendering]
    """Shorter forms that were given and are of no use, and why."""


class _FittedText(TypedDict):
    """What is always there."""

    handle: str
    """What the text is called by which the whole can be found again."""
    is_estimate: bool
    """Whether counts are estimates."""
    schema: Schema
    """`cupel/1`."""
    text: str
    """The text that fits."""
    tokenizer: str
    """What counted."""
    tokens_after: int
    """What is left of it costs."""
    tokens_before: int
    """What the whole costs."""


class FittedText(_FittedText, total=False):
    """A text, whole or in a shorter form."""

    form: Union[str, None]
    """What the form is called, as in `json 18 %`; absent where the text fits whole."""


class Marginal(TypedDict):
    """Messages that the last tokens of a budget buy: in its window, but not in the smaller one."""

    is_estimate: bool
    """True if token counts are estimates."""
    parts: list[Part]
    """Those messages, in placed order."""
    schema: Schema
    """`cupel/1`."""
    slack_tokens: int
    """Difference between the two budgets."""
    tokens: int
    """Tokens of those messages."""


class _MinBudget(TypedDict):
    """What is always there."""

    is_estimate: bool
    """True if token counts are estimates."""
    is_exact: bool
    """True if every budget was tried at which a window can change. If not, a smaller one may do."""
    part: Part
    """Bundle that the message is in or out with."""
    schema: Schema
    """`cupel/1`."""
    total_tokens: int
    """Tokens of the request."""


class MinBudget(_MinBudget, total=False):
    """The smallest budget that keeps a message, with nothing set aside but the margin for estimates."""

    min_budget: Union[int, None]
    """The smallest budget whose window holds it; absent if none does."""
    out_again_at: Union[int, None]
    """The smallest budget above that whose window does not hold it, since something larger took its place."""


class ModelPrices(TypedDict):
    """Input prices of a model, in US dollars for a million tokens."""

    as_of: Union[str, None]
    """The month in which the provider asked for so much, as in `2026-11`."""
    cache_read: float
    """Of tokens that the cache has."""
    cache_write: float
    """Of tokens that are written into the cache."""
    input: float
    """Of tokens that no cache is asked for."""


class ModelRow(TypedDict):
    """A model that is known by name."""

    context_window: int
    """Most tokens of a request and its answer together."""
    max_output: int
    """Most tokens of an answer."""
    name: str
    """The name, without the date of a version."""
    prices: Union[ModelPrices, None]
    """Prices of its input, where two sources agree on them."""
    provider: str
    """Provider whose rules count: `openai`, `anthropic`, `google` or `open`."""
    tokenizer: str
    """Name of its tokenizer."""


class ModelList(TypedDict):
    """The models that are known by name."""

    models: list[ModelRow]
    """The newest first within each provider."""
    schema: Schema
    """`cupel/1`."""


class PolicyRow(TypedDict):
    """A policy that is known by name."""

    is_default: bool
    """True if it is used where none is named."""
    name: str
    """Its name."""
    summary: str
    """Sentence about the messages that it favours."""


class PolicyList(TypedDict):
    """The policies that are known by name."""

    policies: list[PolicyRow]
    """The default first, then the presets."""
    schema: Schema
    """`cupel/1`."""


class RepairedAnswer(TypedDict):
    """A request, repaired as far as it can be."""

    format: str
    """The format that it was read as."""
    losses: list[RepairDone]
    """Losses with which those are repaired as well, if the caller allows it."""
    repairs: list[RepairDone]
    """Repairs of the request."""
    schema: Schema
    """`cupel/1`."""
    text: str
    """The request."""
    violations: list[RuleBroken]
    """Rules that it still breaks."""


class _SelectionAnswer(TypedDict):
    """What is always there."""

    kept_messages: list[int]
    """The indices of the messages that stay, in the request's own list, in the order written."""
    schema: Schema
    """`cupel/1`."""
    summary: Summary
    """Sizes before and after, and what they were measured with."""


class SelectionAnswer(_SelectionAnswer, total=False):
    """The best request that fits, and in short what became of it. As JSON it has everything but the text and the report."""

    repairs: list[RepairDone]
    """Repairs before the selection."""
    shortened: list[ShortenedText]
    """Texts in the window that are shorter than they were, in the order of the request."""
    superseded: list[Outdated]
    """Messages that did not compete, since something newer makes them superfluous."""
    tools: list[FittedTool]
    """Fate of each tool, in the order of the request; empty where all are as they were."""
    unused_renderings: list[UnusedRendering]
    """Shorter forms that were given and are of no use, and why."""


class Decided(TypedDict):
    """An answer."""

    item: Item
    reason: Reason
    score: Number


class _Event(TypedDict):
    """What is always there."""

    duration_ms: Number
    item_count: int
    stage: str


class Event(_Event, total=False):
    """An answer."""

    message: str


class _Item(TypedDict):
    """What is always there."""

    content: str
    kind: str
    metadata: dict[str, str]
    pinned: bool
    source: str
    tags: list[str]
    tokens: int


class Item(_Item, total=False):
    """An answer."""

    future_relevance_hint: Number
    original_tokens: int
    priority: int
    rendered_as: str
    renderings: list[dict[str, Any]]
    timestamp: str


class Reason(TypedDict):
    """An answer."""

    reason: str


class _Report(TypedDict):
    """What is always there."""

    count_requirement_shortfalls: list[dict[str, Any]]
    events: list[Event]
    excluded: list[Decided]
    included: list[Decided]
    total_candidates: int
    total_tokens_considered: int


class Report(_Report, total=False):
    """The report of the specification."""

    overflow: dict[str, Any]


class Account(TypedDict):
    """Tokens since the account began: with the first step, or when the provider's cache was lost."""

    arrived_tokens: int
    """Tokens that arrived."""
    head_tokens: int
    """Tokens before all messages."""
    overdrawn_tokens: int
    """Tokens that must be in, and had to be sent again beyond the credit."""
    uncached_tokens: int
    """Tokens that were not in the provider's cache."""


class _CacheEntry(TypedDict):
    """What is always there."""

    messages: int
    """Number of messages of the window that it holds; 0 where it holds the text before all messages."""


class CacheEntry(_CacheEntry, total=False):
    """The end of a beginning that the provider keeps, since a mark stood there."""

    used_at: Union[int, None]
    """When it was last written or found, in seconds since 1970, if that is known."""


Fingerprint = str


class SentShorter(TypedDict):
    """A message that was sent shorter than it is."""

    hash: str
    """The [handle](crate::handle) of the message as it was sent."""
    message: int
    """Its index."""


class _SentTool(TypedDict):
    """What is always there."""

    tool: int
    """Its place among the tools of the request."""


class SentTool(_SentTool, total=False):
    """A tool as a session sent it."""

    is_added: bool
    """Came later than others, and stands behind them."""
    step: Union[int, None]
    """The [step](ToolStep) by which it was shorter, by its place among all steps."""


SessionSchema = Literal['cupel-session/1']


class Totals(TypedDict):
    """Tokens of the whole session, and what other ways to send it would have come to."""

    everything: Usage
    """If everything had been sent."""
    newest_first: Usage
    """If the newest messages that fit had been sent."""
    newest_from: int
    """The first message that newest first would have sent, head aside."""
    sent: Usage
    """Tokens that were sent."""


class Usage(TypedDict):
    """Tokens that were sent."""

    cached_tokens: int
    """In the provider's cache."""
    uncached_tokens: int
    """Not in it."""


class _SessionState(TypedDict):
    """What is always there."""

    account: Account
    """Tokens since the account began: see [`Account`]."""
    credit: int
    """Tokens that may be sent again. Below 0 where messages that must be in had to be sent again beyond that."""
    format: str
    """The format of the requests."""
    head: Fingerprint
    """Fingerprint of the text beside the messages: system prompt, tools."""
    messages: list[Fingerprint]
    """Every message of the last request."""
    schema: SessionSchema
    """`cupel-session/1`."""
    steps: int
    """Steps that were accepted."""
    totals: Totals
    """Tokens of the whole session."""
    window: list[int]
    """The messages that were sent of it, by index, in the order written."""


class SessionState(_SessionState, total=False):
    """State of a session between steps: small, without a text, to be written down and read again. ``` use cupel_engine::{Engine, SessionState}; let engine = Engine::builder().max_tokens(1_000).tokenizer("estimate").build()?; let mut session = engine.session(); session.next(r#"[{"role": "user", "content": "Hello!"}]"#)?; session.accept(); let written = session.state().map(SessionState::to_json).unwrap(); assert!(!written.contains("Hello")); let again = engine.resume(SessionState::from_json(&written)?); assert_eq!(again.state(), session.state()); # Ok::<(), cupel_engine::EngineError>(()) ```"""

    cache_entries: list[CacheEntry]
    """Beginnings of the window that the provider keeps, where it goes by marks."""
    model: Union[str, None]
    """The model that they were counted for, if it is known."""
    sent_at: Union[int, None]
    """When it was sent, in seconds since 1970, if that is known."""
    shortened: list[SentShorter]
    """Those of them that were sent shorter than they are."""
    tools: list[SentTool]
    """The tools that were sent, in this order, where they were not all sent as they are."""


class _SentAgain(TypedDict):
    """What is always there."""

    part: Part
    """Message, or bundle of messages."""


class SentAgain(_SentAgain, total=False):
    """Something that was sent before and is sent again."""

    shortened: Union[ShortenedPosition, None]
    """As what it is sent, if that is shorter than it is."""
    times_its_price: Union[float, None]
    """Worth of a token of it as a multiple of its price; `None` if it must be in."""


class _SessionStep(TypedDict):
    """What is always there."""

    account: Account
    """Tokens since the account began."""
    again: list[SentAgain]
    """Messages that were sent before and are sent again, and the reason that it is worth it."""
    arrived_tokens: int
    """Tokens that arrived since the last step."""
    breakpoints: list[int]
    """The messages behind which a mark for the provider's cache belongs, by index, at most three; the fourth belongs behind the head."""
    cached_tokens: int
    """Tokens in the provider's cache, those before the messages included."""
    credit: int
    """Tokens that may be sent again from now on."""
    cut: list[Part]
    """Messages that are no longer in the window."""
    number: int
    """Which step it is, from 1."""
    totals: Totals
    """Tokens of the whole session, this step included."""
    uncached_tokens: int
    """Tokens not in the provider's cache."""
    unchanged_messages: int
    """Number of messages at the beginning that are those of the window before."""


class SessionStep(_SessionStep, total=False):
    """Effect of a step on the prompt cache."""

    edited_at: Union[int, None]
    """The first message that is not what it was, where the history was edited."""
    new_account: Union[NewAccount, None]
    """Why the account begins anew with it, if it does."""
    prices: Union[ModelPrices, None]
    """Prices of the tokens, where they are known: the caller's, or the model's."""


class ShortenedPosition(TypedDict):
    """A candidate of a window that is shorter than it was."""

    name: str
    """Name of the form."""
    position: int
    """Its position."""
    tokens: int
    """Tokens of the form."""


class _StepAnswer(TypedDict):
    """What is always there."""

    kept_messages: list[int]
    """The indices of the messages that stay, in the request's own list, in the order written."""
    schema: Schema
    """`cupel/1`."""
    session: SessionStep
    """Effect on the prompt cache."""
    summary: Summary
    """Sizes before and after, and what they were measured with."""


class StepAnswer(_StepAnswer, total=False):
    """The window of a step, and what it does to the prompt cache. As JSON it has everything but the text."""

    repairs: list[RepairDone]
    """Repairs before the selection."""
    shortened: list[ShortenedText]
    """Texts in the window that are shorter than they were, in the order of the request."""
    superseded: list[Outdated]
    """Messages that are not sent again, since something newer makes them superfluous."""
    tools: list[FittedTool]
    """Fate of each tool, in the order of the request; empty where all are as they were."""
    unused_renderings: list[UnusedRendering]
    """Shorter forms that were given and are of no use, and why."""


class _Change(TypedDict):
    """What is always there."""

    max_tokens: int
    """The smallest window in tokens from which this holds: with what this request sets aside for the answer and for counts that may be off."""
    room: int
    """Tokens that are left when the reserve is set aside."""
    tokens: int
    """Tokens of the window."""


class Change(_Change, total=False):
    """Change of the window as it grows."""

    joined: list[Joined]
    """Messages that come in, or take another form."""
    left: list[int]
    """The positions of what goes out."""
    order: list[int]
    """The whole window in placed order, where that is not the order of the request."""


class _Joined(TypedDict):
    """What is always there."""

    position: int
    """Its position."""


class Joined(_Joined, total=False):
    """A part that comes into the window."""

    form: Union[int, None]
    """The number of the shorter form that it has there; absent if it is whole."""


class _SurveyedPart(TypedDict):
    """What is always there."""

    earned_by: EarnedBy
    """Reasons for its score."""
    part: Part
    """Message, or bundle of messages."""


class SurveyedPart(_SurveyedPart, total=False):
    """A part of a request, and what earned it its score."""

    score: Union[float, None]
    """Score by the policy; absent if it is pinned, or if that is not a finite number."""


class _Survey(TypedDict):
    """What is always there."""

    changes: list[Change]
    """Changes of the window as it grows, the smallest that holds what must be kept first."""
    format: str
    """The format of the request, as in `openai-chat`."""
    is_estimate: bool
    """True if token counts are estimates."""
    is_exact: bool
    """True if every size was tried at which the window can change. If not, only those listed are known."""
    parts: list[SurveyedPart]
    """Every part, in the order of the request."""
    pinned_tokens: int
    """Tokens of the messages that must be kept."""
    policy: str
    """The policy that chose."""
    query: str
    """Query that the window is for."""
    schema: Schema
    """`cupel/1`."""
    tokenizer: str
    """Name of the tokenizer."""
    total_tokens: int
    """Tokens of the request."""


class Survey(_Survey, total=False):
    """Every part of a request with its score, and the windows of all budgets from one ranking. It is what a slider needs that moves without asking again: where [`Explanation`](crate::Explanation) tells of one budget, a survey tells of all."""

    language: Union[str, None]
    """The language whose stems and stop words were taken; absent where none was sure."""
    model: Union[str, None]
    """The model that the counts are for, or else the one that the request names."""
    repairs: list[RepairDone]
    """Repairs before the selection."""
    signals: list[Signal]
    """Signals of the request as a whole that the policy went by, if it tells them."""
    superseded: list[Outdated]
    """Messages that did not compete, since something newer makes them superfluous."""


class _ToolRow(TypedDict):
    """What is always there."""

    calls: int
    """Number of calls in messages of the request."""
    name: str
    """The name by which it is called; of a provider's own tool, its type."""
    short_tokens: int
    """Tokens of the definition as short as it can be."""
    tokens: int
    """Tokens of the definition."""


class ToolRow(_ToolRow, total=False):
    """A tool of a request."""

    needed: Union[str, None]
    """Reason that keeps it in the request, whatever the question is."""


class _ToolList(TypedDict):
    """What is always there."""

    format: str
    """The format of the request, as in `openai-chat`."""
    is_estimate: bool
    """True if counts are estimates."""
    request_tokens: int
    """Tokens of the whole request."""
    schema: Schema
    """`cupel/1`."""
    shared_tokens: int
    """The part of both that counts once for all tools."""
    short_tokens: int
    """The same if every tool were as short as it can be."""
    tokenizer: str
    """Name of the tokenizer."""
    tools: list[ToolRow]
    """The tools, in the order of the request."""
    total_tokens: int
    """Tokens of all tools, with those that count once."""


class ToolList(_ToolList, total=False):
    """The tools of a request, one by one."""

    fitted: list[FittedTool]
    """Fate of each if all together may cost so much as was asked; empty if nothing was."""


class Validation(TypedDict):
    """The rules of its provider that a request breaks."""

    format: str
    """The format that it was read as."""
    is_valid: bool
    """True if it breaks no rule."""
    schema: Schema
    """`cupel/1`."""
    violations: list[RuleBroken]
    """The rules, in the order of the request."""


class _Window(TypedDict):
    """What is always there."""

    budget: int
    """The budget."""
    fits: bool
    """True if the messages that must be kept fit."""
    kept: list[int]
    """The positions of the candidates that stay, in placed order."""
    kept_messages: list[int]
    """The indices of the messages that stay, in the order written."""
    tokens: int
    """Tokens of the window."""


class Window(_Window, total=False):
    """Window of a budget, with nothing set aside but the margin for estimates."""

    shortened: list[ShortenedPosition]
    """Those of the positions whose candidate is shorter than it was, with the name of the form."""


class Windows(TypedDict):
    """The windows of many budgets, from one ranking."""

    is_estimate: bool
    """True if token counts are estimates."""
    schema: Schema
    """`cupel/1`."""
    total_tokens: int
    """Tokens of the request."""
    windows: list[Window]
    """One for each budget that was asked for, in that order."""


ErrorCode = Union[Literal['malformed-request'], Literal['unknown-format'], Literal['invalid-request'], Literal['unmatched-pin'], Literal['does-not-fit'], Literal['no-budget'], Literal['invalid-budget'], Literal['unknown-policy'], Literal['invalid-policy'], Literal['unknown-model'], Literal['unknown-tokenizer'], Literal['unreadable-tokenizer'], Literal['unknown-message'], Literal['invalid-vectors'], Literal['invalid-renderings'], Literal['invalid-state'], Literal['invalid-argument'], Literal['selection-failed']]
"""Kind of an error. Texts may change from version to version, these names do not."""


KeptReason = Union[Literal['scored'], Literal['pinned'], Literal['zero-token'], Literal['kept-first'], Literal['shortened']]
"""Why something is in the window."""


ToolFate = Union[Literal['whole'], Literal['shortened'], Literal['left-out']]
"""Presence of a tool, and its form."""


Number = Union[float, Literal['NaN', 'Infinity', '-Infinity']]


NewAccount = Union[Literal['first-step'], Literal['other-conversation'], Literal['head-changed'], Literal['tools-changed'], Literal['model-changed'], Literal['format-changed'], Literal['cache-expired'], Literal['history-edited'], Literal['chosen-anew']]
"""Why the account of a session began anew."""


class Repaired(RepairedAnswer):
    """A request, repaired as far as it can be, with the caller's own messages."""

    messages: list[Any]
    """Its messages: the caller's own objects where they were not changed."""
    request: Any
    """The request, in the shape in which it was handed in."""
