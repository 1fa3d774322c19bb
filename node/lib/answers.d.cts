// The answers of the engine, as types. Made by tools/make-types.mjs: change it there.

/** Budget of a window. */
export type BudgetSummary = {
  /** The part of the window that stays free because of that, in percent of all that is not reserved. */
  kept_free_percent: number;
  /** By how much the room for what competes is reduced because counts may be off, in percent. */
  margin_percent: number;
  /** The window in tokens. */
  max_tokens: number;
  /** Tokens that are kept free for the answer. */
  output_reserve: number;
  /** Tokens that the selection aims for. */
  target_tokens: number;
};

/** Messages that are in or out together, or a part of the request that is always in. */
export type Part = {
  /** Beginning of the text, on one line. */
  excerpt: string;
  /** Its kind, as in `ToolOutput`. */
  kind: string;
  /** The indices of its messages in the request's own list; none for a fixed part. */
  messages: Array<number>;
  /** Where it is in the request, as in `messages[3..6]` or `tools`. */
  path: string;
  /** Why it is always in, if it is, as in `last user turn`. */
  pinned?: string | null;
  /** Its position among the candidates. */
  position: number;
  /** Tokens of the part. */
  tokens: number;
  /** Description, as in `assistant, 2 tool results`. */
  what: string;
};

export type Schema = "cupel/1";

/** Sizes before and after, and what they were measured with. */
export type Summary = {
  /** Budget of the window. */
  budget: BudgetSummary;
  /** The family of tokenizers that counts are estimated like, as in `claude`; `unknown` where the name of the model speaks of none. Absent where counts are exact or the caller chose a tokenizer. */
  estimated_like?: string | null;
  /** The format of the request, as in `openai-chat`. */
  format: string;
  /** True if token counts are estimates. */
  is_estimate: boolean;
  /** Number of messages that stay. */
  messages_after: number;
  /** Number of messages before the selection. */
  messages_before: number;
  /** The model that the counts are for, if it is known. */
  model?: string | null;
  /** The policy that chose. */
  policy: string;
  /** Name of the tokenizer. */
  tokenizer: string;
  /** Tokens of the window. */
  tokens_after: number;
  /** Tokens of the request before the selection. */
  tokens_before: number;
};

/** A candidate on which policies disagree. */
export type Swing = {
  /** Presence in each policy's window, in their order. */
  is_kept: Array<boolean>;
  /** The candidate. */
  part: Part;
};

/** Messages that two or more policies keep differently. */
export type Comparison = {
  /** Summary of each policy, in the order given. */
  policies: Array<Summary>;
  /** `cupel/1`. */
  schema: Schema;
  /** The candidates on which they disagree, in the order of the request. */
  swings: Array<Swing>;
};

/** The tokens of a plain text. */
export type TextCount = {
  /** Name that the caller gives it. */
  name: string;
  /** Its tokens. */
  tokens: number;
};

/** The tokens of a request, part by part, or of plain texts. */
export type Count = {
  /** Upper bound that holds in 95 of 100 cases; the same number where counts are exact. */
  at_most: number;
  /** True if counts are estimates. */
  is_estimate: boolean;
  /** The parts of a request, in its order; none for plain texts. */
  parts?: Array<Part>;
  /** `cupel/1`. */
  schema: Schema;
  /** The plain texts, in the order given; none for a request. */
  texts?: Array<TextCount>;
  /** Name of the tokenizer. */
  tokenizer: string;
  /** All tokens together. */
  total_tokens: number;
};

/** Figures of one budget's window, with nothing set aside but the margin for estimates. */
export type CurvePoint = {
  /** The budget. */
  budget: number;
  /** The positions of the candidates that the budget before keeps and this one does not: something larger took their place. Then the score may fall. */
  displaced?: Array<number>;
  /** True if the messages that must be kept fit. */
  fits: boolean;
  /** Number of candidates that are kept. */
  items: number;
  /** Number of messages that are kept. */
  messages: number;
  /** The share of all scores that is kept, from 0 to 1. */
  score: number;
  /** Tokens of the window. */
  tokens: number;
};

/** Figures of the windows of many budgets. */
export type Curve = {
  /** True if token counts are estimates. */
  is_estimate: boolean;
  /** One for each budget, ascending. */
  points: Array<CurvePoint>;
  /** `cupel/1`. */
  schema: Schema;
  /** Number of candidates. */
  total_items: number;
  /** Number of messages. */
  total_messages: number;
  /** Tokens of the request. */
  total_tokens: number;
};

/** Kind of an error. Texts may change from version to version, these names do not. */
export type ErrorCode = "malformed-request" | "unknown-format" | "invalid-request" | "unmatched-pin" | "does-not-fit" | "no-budget" | "invalid-budget" | "unknown-policy" | "invalid-policy" | "unknown-model" | "unknown-tokenizer" | "unreadable-tokenizer" | "unknown-message" | "invalid-vectors" | "invalid-renderings" | "invalid-state" | "invalid-argument" | "selection-failed";

/** A rule of the provider that a request breaks. */
export type RuleBroken = {
  /** Where, as in `messages[4]`; empty for the whole request. */
  path: string;
  /** Remedy: what to do about it. */
  remedy: string;
  /** A stable name of the rule, as in `orphan-result`. */
  rule: string;
  /** Text of the violation. */
  text: string;
};

export type ErrorAnswer = {
  /** Tokens that there is room for, where what must be kept does not fit. */
  available_tokens?: number | null;
  /** Kind of the error; never changes. */
  code: ErrorCode;
  /** Column of the place in characters, from 1. */
  column?: number | null;
  /** Line of the place, from 1, where there is one. */
  line?: number | null;
  /** Tokens that must be kept, where they do not fit. */
  needed_tokens?: number | null;
  /** Messages that must be kept and do not fit, the largest first. */
  parts?: Array<Part>;
  /** Where in the request, the policy or the options, as in `messages[4].role`. */
  path?: string | null;
  /** Remedy: what to do about the error. */
  remedy?: string | null;
  /** The rule that was broken, with the value that broke it. */
  rule: string;
  schema: Schema;
  /** The rules of the provider that the request breaks. */
  violations?: Array<RuleBroken>;
};

/** Reasons for a candidate's score, as far as the policy tells them. */
export type EarnedBy = {
  /** Beginnings of the neighbours that share their score with it, those that gave most first. */
  neighbours?: Array<string>;
  /** Words of the query that it has too, those that earned most first. */
  words?: Array<string>;
};

/** Fate of a tool. */
export type FittedTool = {
  /** Presence and form. */
  fate: ToolFate;
  /** The name by which it is called; of a provider's own tool, its type. */
  name: string;
  /** Step by which it is shorter than it was, if it is: `sentences`, `examples`, `schema`, `defaults` or `bare`. */
  step?: string | null;
  /** Tokens of the tool now. */
  tokens_after: number;
  /** Tokens of the tool whole. */
  tokens_before: number;
  /** Reason why it is in, or out. */
  why: string;
};

/** Something in the window. */
export type Kept = {
  /** Reasons for its score. */
  earned_by: EarnedBy;
  /** Gain of the window by it, beside the others, in the policy's own measure, if it tells that. */
  gain?: number | null;
  /** The rule that keeps it before the rest competes, in a few words: `a rule of the user`. */
  kept_for?: string | null;
  /** The positions of what else is in and could not be without it, unless it is always in. */
  needed_by?: Array<number>;
  /** Message, or bundle of messages. */
  part: Part;
  /** Why it is in. */
  reason: KeptReason;
  /** Score by the policy; 1 if it is pinned; `null` if that is not a finite number. */
  score: number | null;
  /** Shorter form in which it is sent, if it is. */
  shortened?: ShortenedPart | null;
};

/** Why something is in the window. */
export type KeptReason = "scored" | "pinned" | "zero-token" | "kept-first" | "shortened";

/** Something that was left out. */
export type LeftOut = {
  /** Reasons for its score. */
  earned_by: EarnedBy;
  /** Gain that the window would have by it, beside the others, in the policy's own measure, if it tells that. */
  gain?: number | null;
  /** A note of the policy on it, in a few words: `small talk`. */
  note?: string | null;
  /** Message, or bundle of messages. */
  part: Part;
  /** The positions of the kept candidates that have its room: the lowest scored ones that together are as large, the lowest first. */
  room_taken_by: Array<number>;
  /** Score by the policy; `null` if that is not a finite number. */
  score: number | null;
  /** Tokens or budget with which it would get in. */
  to_get_in: ToGetIn;
  /** Why it is out. */
  why: Why;
};

/** Something that did not compete, since something newer makes it superfluous. */
export type Outdated = {
  /** The messages that were dropped. */
  messages: Array<number>;
  /** Message that stands for it. */
  newer: string;
  /** Message that was dropped. */
  older: string;
  /** Why, in a few words. */
  why: string;
};

/** Something that was done to a request, to repair it. */
export type RepairDone = {
  /** Change, as in `dropped messages[3]`. */
  action: string;
  /** True if something that was said, called or answered is gone. */
  is_loss: boolean;
  /** Where, in the request as it was. */
  path: string;
  /** Why. */
  reason: string;
  /** The rule that asked for it. */
  rule: string;
};

/** Shorter form of something in the window. */
export type ShortenedPart = {
  /** Name of the form, as in `json 18 %`. */
  name: string;
  /** The texts that are shorter, in the order of the request. */
  texts: Array<ShortenedText>;
  /** Tokens of the form. */
  tokens: number;
  /** The smallest larger budget, with nothing set aside, whose window has it whole. */
  whole_at?: number | null;
};

/** A text of the window that is shorter than it was. */
export type ShortenedText = {
  /** By what the original can be asked for: see [`Engine::original`](crate::Engine::original). */
  handle: string;
  /** The index of its message in the request's own list. */
  message: number;
  /** Name of the form, as in `json 18 %`. */
  name: string;
  /** Tokens of the shorter text. */
  tokens_after: number;
  /** Tokens of the whole text. */
  tokens_before: number;
  /** The tool whose answer it is; empty for words of the assistant. */
  tool?: string;
  /** Number of values that are left. */
  values_after?: number | null;
  /** Number of values in the whole text, where it is JSON. */
  values_before?: number | null;
};

/** Something about the request as a whole that the policy went by. */
export type Signal = {
  /** A stable name. */
  name: string;
  /** Meaning of the signal. */
  text: string;
  /** Strength of the signal. */
  value: number | null;
};

/** Tokens or budget with which something would get in. */
export type ToGetIn = {
  how: "more-tokens";
  /** True if nothing less would do. If not, so much does, and less may: of long requests not all budgets are tried. */
  is_least: boolean;
  /** By how much. */
  tokens: number;
  /** A smaller budget that holds it, with nothing set aside: in this one, something else took its place. */
  was_in_at?: number | null;
} | {
  /** The smallest that holds it, with nothing set aside. */
  budget: number;
  how: "less-tokens";
} | {
  how: "not-by-budget";
};

/** Presence of a tool, and its form. */
export type ToolFate = "whole" | "shortened" | "left-out";

/** A form that the caller made, and that is of no use. */
export type UnusedRendering = {
  /** Its position in the list that was given. */
  position: number;
  /** Target, as in `message 4` or `call toolu_1`. */
  target: string;
  /** Why it is of no use. */
  why: string;
};

/** Why something is out. */
export type Why = {
  /** The tokens that were left. */
  left: number;
  reason: "no-room";
} | {
  /** The tokens that were left. */
  left: number;
  /** The positions of what it needs and that is not in. */
  needs: Array<number>;
  /** Where that is. */
  paths: Array<string>;
  reason: "no-room-for-needs";
  /** Its cost with all that it needs and that is not in. */
  tokens: number;
} | {
  reason: "share-used-up";
} | {
  /** The tokens that were left. */
  left: number;
  /** The tokens of all that must be kept. */
  pinned: number;
  reason: "pins-leave-no-room";
} | {
  /** Where that one is. */
  path?: string | null;
  /** The position of that one, if it is in the window. */
  position?: number | null;
  reason: "same-text";
} | {
  /** Largest number that may be in. */
  cap: number;
  /** The kind. */
  kind: string;
  reason: "too-many-of-kind";
} | {
  /** Its name there. */
  name: string;
  reason: "other";
  /** Text of the reason. */
  text: string;
};

/** Explanation of a window: what is in, what is not, and why. */
export type Explanation = {
  /** Number of messages that were left out and are not listed. */
  hidden: number;
  /** Messages in the window, in the order in which they are written. */
  kept: Array<Kept>;
  /** The language whose stems and stop words were taken; absent where none was sure. */
  language?: string | null;
  /** Messages that were left out, best first. */
  left_out: Array<LeftOut>;
  /** Query that the window is for. */
  query: string;
  /** Repairs before the selection. */
  repairs?: Array<RepairDone>;
  /** `cupel/1`. */
  schema: Schema;
  /** Signals of the request as a whole that the policy went by, if it tells them. */
  signals?: Array<Signal>;
  /** Sizes before and after, and what they were measured with. */
  summary: Summary;
  /** Messages that did not compete, since something newer makes them superfluous. */
  superseded?: Array<Outdated>;
  /** Fate of each tool, in the order of the request. */
  tools?: Array<FittedTool>;
  /** Shorter forms that were given and are of no use, and why. */
  unused_renderings?: Array<UnusedRendering>;
};

/** A text, whole or in a shorter form. */
export type FittedText = {
  /** What the form is called, as in `json 18 %`; absent where the text fits whole. */
  form?: string | null;
  /** What the text is called by which the whole can be found again. */
  handle: string;
  /** Whether counts are estimates. */
  is_estimate: boolean;
  /** `cupel/1`. */
  schema: Schema;
  /** The text that fits. */
  text: string;
  /** What counted. */
  tokenizer: string;
  /** What is left of it costs. */
  tokens_after: number;
  /** What the whole costs. */
  tokens_before: number;
};

/** Messages that the last tokens of a budget buy: in its window, but not in the smaller one. */
export type Marginal = {
  /** True if token counts are estimates. */
  is_estimate: boolean;
  /** Those messages, in placed order. */
  parts: Array<Part>;
  /** `cupel/1`. */
  schema: Schema;
  /** Difference between the two budgets. */
  slack_tokens: number;
  /** Tokens of those messages. */
  tokens: number;
};

/** The smallest budget that keeps a message, with nothing set aside but the margin for estimates. */
export type MinBudget = {
  /** True if token counts are estimates. */
  is_estimate: boolean;
  /** True if every budget was tried at which a window can change. If not, a smaller one may do. */
  is_exact: boolean;
  /** The smallest budget whose window holds it; absent if none does. */
  min_budget?: number | null;
  /** The smallest budget above that whose window does not hold it, since something larger took its place. */
  out_again_at?: number | null;
  /** Bundle that the message is in or out with. */
  part: Part;
  /** `cupel/1`. */
  schema: Schema;
  /** Tokens of the request. */
  total_tokens: number;
};

/** Input prices of a model, in US dollars for a million tokens. */
export type ModelPrices = {
  /** The month in which the provider asked for so much, as in `2026-11`. */
  as_of: string | null;
  /** Of tokens that the cache has. */
  cache_read: number;
  /** Of tokens that are written into the cache. */
  cache_write: number;
  /** Of tokens that no cache is asked for. */
  input: number;
};

/** A model that is known by name. */
export type ModelRow = {
  /** Most tokens of a request and its answer together. */
  context_window: number;
  /** Most tokens of an answer. */
  max_output: number;
  /** The name, without the date of a version. */
  name: string;
  /** Prices of its input, where two sources agree on them. */
  prices: ModelPrices | null;
  /** Provider whose rules count: `openai`, `anthropic`, `google` or `open`. */
  provider: string;
  /** Name of its tokenizer. */
  tokenizer: string;
};

/** The models that are known by name. */
export type ModelList = {
  /** The newest first within each provider. */
  models: Array<ModelRow>;
  /** `cupel/1`. */
  schema: Schema;
};

/** A policy that is known by name. */
export type PolicyRow = {
  /** True if it is used where none is named. */
  is_default: boolean;
  /** Its name. */
  name: string;
  /** Sentence about the messages that it favours. */
  summary: string;
};

/** The policies that are known by name. */
export type PolicyList = {
  /** The default first, then the presets. */
  policies: Array<PolicyRow>;
  /** `cupel/1`. */
  schema: Schema;
};

/** A request, repaired as far as it can be. */
export type RepairedAnswer = {
  /** The format that it was read as. */
  format: string;
  /** Losses with which those are repaired as well, if the caller allows it. */
  losses: Array<RepairDone>;
  /** Repairs of the request. */
  repairs: Array<RepairDone>;
  /** `cupel/1`. */
  schema: Schema;
  /** The request. */
  text: string;
  /** Rules that it still breaks. */
  violations: Array<RuleBroken>;
};

/** The best request that fits, and in short what became of it. As JSON it has everything but the text and the report. */
export type SelectionAnswer = {
  /** The indices of the messages that stay, in the request's own list, in the order written. */
  kept_messages: Array<number>;
  /** Repairs before the selection. */
  repairs?: Array<RepairDone>;
  /** `cupel/1`. */
  schema: Schema;
  /** Texts in the window that are shorter than they were, in the order of the request. */
  shortened?: Array<ShortenedText>;
  /** Sizes before and after, and what they were measured with. */
  summary: Summary;
  /** Messages that did not compete, since something newer makes them superfluous. */
  superseded?: Array<Outdated>;
  /** Fate of each tool, in the order of the request; empty where all are as they were. */
  tools?: Array<FittedTool>;
  /** Shorter forms that were given and are of no use, and why. */
  unused_renderings?: Array<UnusedRendering>;
};

export type Decided = {
  item: Item;
  reason: Reason;
  score: Number;
};

export type Event = {
  duration_ms: Number;
  item_count: number;
  message?: string;
  stage: string;
};

export type Item = {
  content: string;
  future_relevance_hint?: Number;
  kind: string;
  metadata: Record<string, string>;
  original_tokens?: number;
  pinned: boolean;
  priority?: number;
  rendered_as?: string;
  renderings?: Array<Record<string, unknown>>;
  source: string;
  tags: Array<string>;
  timestamp?: string;
  tokens: number;
};

export type Number = number | "NaN" | "Infinity" | "-Infinity";

export type Reason = {
  reason: string;
};

/** The report of the specification. */
export type Report = {
  count_requirement_shortfalls: Array<Record<string, unknown>>;
  events: Array<Event>;
  excluded: Array<Decided>;
  included: Array<Decided>;
  overflow?: Record<string, unknown>;
  total_candidates: number;
  total_tokens_considered: number;
};

/** Tokens since the account began: with the first step, or when the provider's cache was lost. */
export type Account = {
  /** Tokens that arrived. */
  arrived_tokens: number;
  /** Tokens before all messages. */
  head_tokens: number;
  /** Tokens that must be in, and had to be sent again beyond the credit. */
  overdrawn_tokens: number;
  /** Tokens that were not in the provider's cache. */
  uncached_tokens: number;
};

/** The end of a beginning that the provider keeps, since a mark stood there. */
export type CacheEntry = {
  /** Number of messages of the window that it holds; 0 where it holds the text before all messages. */
  messages: number;
  /** When it was last written or found, in seconds since 1970, if that is known. */
  used_at?: number | null;
};

export type Fingerprint = string;

/** A message that was sent shorter than it is. */
export type SentShorter = {
  /** The [handle](crate::handle) of the message as it was sent. */
  hash: string;
  /** Its index. */
  message: number;
};

/** A tool as a session sent it. */
export type SentTool = {
  /** Came later than others, and stands behind them. */
  is_added?: boolean;
  /** The [step](ToolStep) by which it was shorter, by its place among all steps. */
  step?: number | null;
  /** Its place among the tools of the request. */
  tool: number;
};

export type SessionSchema = "cupel-session/1";

/** Tokens of the whole session, and what other ways to send it would have come to. */
export type Totals = {
  /** If everything had been sent. */
  everything: Usage;
  /** If the newest messages that fit had been sent. */
  newest_first: Usage;
  /** The first message that newest first would have sent, head aside. */
  newest_from: number;
  /** Tokens that were sent. */
  sent: Usage;
};

/** Tokens that were sent. */
export type Usage = {
  /** In the provider's cache. */
  cached_tokens: number;
  /** Not in it. */
  uncached_tokens: number;
};

/** State of a session between steps: small, without a text, to be written down and read again. ``` use cupel_engine::{Engine, SessionState}; let engine = Engine::builder().max_tokens(1_000).tokenizer("estimate").build()?; let mut session = engine.session(); session.next(r#"[{"role": "user", "content": "Hello!"}]"#)?; session.accept(); let written = session.state().map(SessionState::to_json).unwrap(); assert!(!written.contains("Hello")); let again = engine.resume(SessionState::from_json(&written)?); assert_eq!(again.state(), session.state()); # Ok::<(), cupel_engine::EngineError>(()) ``` */
export type SessionState = {
  /** Tokens since the account began: see [`Account`]. */
  account: Account;
  /** Beginnings of the window that the provider keeps, where it goes by marks. */
  cache_entries?: Array<CacheEntry>;
  /** Tokens that may be sent again. Below 0 where messages that must be in had to be sent again beyond that. */
  credit: number;
  /** The format of the requests. */
  format: string;
  /** Fingerprint of the text beside the messages: system prompt, tools. */
  head: Fingerprint;
  /** Every message of the last request. */
  messages: Array<Fingerprint>;
  /** The model that they were counted for, if it is known. */
  model?: string | null;
  /** `cupel-session/1`. */
  schema: SessionSchema;
  /** When it was sent, in seconds since 1970, if that is known. */
  sent_at?: number | null;
  /** Those of them that were sent shorter than they are. */
  shortened?: Array<SentShorter>;
  /** Steps that were accepted. */
  steps: number;
  /** The tools that were sent, in this order, where they were not all sent as they are. */
  tools?: Array<SentTool>;
  /** Tokens of the whole session. */
  totals: Totals;
  /** The messages that were sent of it, by index, in the order written. */
  window: Array<number>;
};

/** Why the account of a session began anew. */
export type NewAccount = "first-step" | "other-conversation" | "head-changed" | "tools-changed" | "model-changed" | "format-changed" | "cache-expired" | "history-edited" | "chosen-anew";

/** Something that was sent before and is sent again. */
export type SentAgain = {
  /** Message, or bundle of messages. */
  part: Part;
  /** As what it is sent, if that is shorter than it is. */
  shortened?: ShortenedPosition | null;
  /** Worth of a token of it as a multiple of its price; `None` if it must be in. */
  times_its_price?: number | null;
};

/** Effect of a step on the prompt cache. */
export type SessionStep = {
  /** Tokens since the account began. */
  account: Account;
  /** Messages that were sent before and are sent again, and the reason that it is worth it. */
  again: Array<SentAgain>;
  /** Tokens that arrived since the last step. */
  arrived_tokens: number;
  /** The messages behind which a mark for the provider's cache belongs, by index, at most three; the fourth belongs behind the head. */
  breakpoints: Array<number>;
  /** Tokens in the provider's cache, those before the messages included. */
  cached_tokens: number;
  /** Tokens that may be sent again from now on. */
  credit: number;
  /** Messages that are no longer in the window. */
  cut: Array<Part>;
  /** The first message that is not what it was, where the history was edited. */
  edited_at?: number | null;
  /** Why the account begins anew with it, if it does. */
  new_account?: NewAccount | null;
  /** Which step it is, from 1. */
  number: number;
  /** Prices of the tokens, where they are known: the caller's, or the model's. */
  prices?: ModelPrices | null;
  /** Tokens of the whole session, this step included. */
  totals: Totals;
  /** Tokens not in the provider's cache. */
  uncached_tokens: number;
  /** Number of messages at the beginning that are those of the window before. */
  unchanged_messages: number;
};

/** A candidate of a window that is shorter than it was. */
export type ShortenedPosition = {
  /** Name of the form. */
  name: string;
  /** Its position. */
  position: number;
  /** Tokens of the form. */
  tokens: number;
};

/** The window of a step, and what it does to the prompt cache. As JSON it has everything but the text. */
export type StepAnswer = {
  /** The indices of the messages that stay, in the request's own list, in the order written. */
  kept_messages: Array<number>;
  /** Repairs before the selection. */
  repairs?: Array<RepairDone>;
  /** `cupel/1`. */
  schema: Schema;
  /** Effect on the prompt cache. */
  session: SessionStep;
  /** Texts in the window that are shorter than they were, in the order of the request. */
  shortened?: Array<ShortenedText>;
  /** Sizes before and after, and what they were measured with. */
  summary: Summary;
  /** Messages that are not sent again, since something newer makes them superfluous. */
  superseded?: Array<Outdated>;
  /** Fate of each tool, in the order of the request; empty where all are as they were. */
  tools?: Array<FittedTool>;
  /** Shorter forms that were given and are of no use, and why. */
  unused_renderings?: Array<UnusedRendering>;
};

/** Change of the window as it grows. */
export type Change = {
  /** Messages that come in, or take another form. */
  joined?: Array<Joined>;
  /** The positions of what goes out. */
  left?: Array<number>;
  /** The smallest window in tokens from which this holds: with what this request sets aside for the answer and for counts that may be off. */
  max_tokens: number;
  /** The whole window in placed order, where that is not the order of the request. */
  order?: Array<number>;
  /** Tokens that are left when the reserve is set aside. */
  room: number;
  /** Tokens of the window. */
  tokens: number;
};

/** A part that comes into the window. */
export type Joined = {
  /** The number of the shorter form that it has there; absent if it is whole. */
  form?: number | null;
  /** Its position. */
  position: number;
};

/** A part of a request, and what earned it its score. */
export type SurveyedPart = {
  /** Reasons for its score. */
  earned_by: EarnedBy;
  /** Message, or bundle of messages. */
  part: Part;
  /** Score by the policy; absent if it is pinned, or if that is not a finite number. */
  score?: number | null;
};

/** Every part of a request with its score, and the windows of all budgets from one ranking. It is what a slider needs that moves without asking again: where [`Explanation`](crate::Explanation) tells of one budget, a survey tells of all. */
export type Survey = {
  /** Changes of the window as it grows, the smallest that holds what must be kept first. */
  changes: Array<Change>;
  /** The format of the request, as in `openai-chat`. */
  format: string;
  /** True if token counts are estimates. */
  is_estimate: boolean;
  /** True if every size was tried at which the window can change. If not, only those listed are known. */
  is_exact: boolean;
  /** The language whose stems and stop words were taken; absent where none was sure. */
  language?: string | null;
  /** The model that the counts are for, or else the one that the request names. */
  model?: string | null;
  /** Every part, in the order of the request. */
  parts: Array<SurveyedPart>;
  /** Tokens of the messages that must be kept. */
  pinned_tokens: number;
  /** The policy that chose. */
  policy: string;
  /** Query that the window is for. */
  query: string;
  /** Repairs before the selection. */
  repairs?: Array<RepairDone>;
  /** `cupel/1`. */
  schema: Schema;
  /** Signals of the request as a whole that the policy went by, if it tells them. */
  signals?: Array<Signal>;
  /** Messages that did not compete, since something newer makes them superfluous. */
  superseded?: Array<Outdated>;
  /** Name of the tokenizer. */
  tokenizer: string;
  /** Tokens of the request. */
  total_tokens: number;
};

/** A tool of a request. */
export type ToolRow = {
  /** Number of calls in messages of the request. */
  calls: number;
  /** The name by which it is called; of a provider's own tool, its type. */
  name: string;
  /** Reason that keeps it in the request, whatever the question is. */
  needed?: string | null;
  /** Tokens of the definition as short as it can be. */
  short_tokens: number;
  /** Tokens of the definition. */
  tokens: number;
};

/** The tools of a request, one by one. */
export type ToolList = {
  /** Fate of each if all together may cost so much as was asked; empty if nothing was. */
  fitted?: Array<FittedTool>;
  /** The format of the request, as in `openai-chat`. */
  format: string;
  /** True if counts are estimates. */
  is_estimate: boolean;
  /** Tokens of the whole request. */
  request_tokens: number;
  /** `cupel/1`. */
  schema: Schema;
  /** The part of both that counts once for all tools. */
  shared_tokens: number;
  /** The same if every tool were as short as it can be. */
  short_tokens: number;
  /** Name of the tokenizer. */
  tokenizer: string;
  /** The tools, in the order of the request. */
  tools: Array<ToolRow>;
  /** Tokens of all tools, with those that count once. */
  total_tokens: number;
};

/** The rules of its provider that a request breaks. */
export type Validation = {
  /** The format that it was read as. */
  format: string;
  /** True if it breaks no rule. */
  is_valid: boolean;
  /** `cupel/1`. */
  schema: Schema;
  /** The rules, in the order of the request. */
  violations: Array<RuleBroken>;
};

/** Window of a budget, with nothing set aside but the margin for estimates. */
export type Window = {
  /** The budget. */
  budget: number;
  /** True if the messages that must be kept fit. */
  fits: boolean;
  /** The positions of the candidates that stay, in placed order. */
  kept: Array<number>;
  /** The indices of the messages that stay, in the order written. */
  kept_messages: Array<number>;
  /** Those of the positions whose candidate is shorter than it was, with the name of the form. */
  shortened?: Array<ShortenedPosition>;
  /** Tokens of the window. */
  tokens: number;
};

/** The windows of many budgets, from one ranking. */
export type Windows = {
  /** True if token counts are estimates. */
  is_estimate: boolean;
  /** `cupel/1`. */
  schema: Schema;
  /** Tokens of the request. */
  total_tokens: number;
  /** One for each budget that was asked for, in that order. */
  windows: Array<Window>;
};
