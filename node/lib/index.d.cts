import type * as answers from "./answers.cjs";

export type * from "./answers.cjs";

/** A policy: the name of one that is known, or a description as data. */
export type Policy = string | { name?: string; scorers: unknown[]; [field: string]: unknown };

/** A message that is kept, whatever it costs: its index, which may count from the end, `"role:user"`, or `"words:never use tabs"`. */
export type Pin = number | string;

/** The options of one call. */
export interface CallOptions {
  /** The window in tokens, with the answer; without it that of the model. */
  maxTokens?: number;
  /** The tokens to aim at, if that is less than what fits. */
  targetTokens?: number;
  /** Tokens of the window that are left for the answer. */
  outputReserve?: number;
  /** The share of the window that is left free because counts are estimates. */
  marginPercent?: number;
  /** The model whose tokens are counted, and whose window it is. */
  model?: string;
  /** Query that the window must answer; without it the last words of the user. */
  query?: string;
  /** Messages that are kept, whatever they cost. */
  pins?: Pin | readonly Pin[];
  /** Standing rules: every message that states one is kept. */
  rules?: string | readonly string[];
  /** `"json"` or `"all"`: results of tools may go in shorter; `"off"`: never. */
  shorten?: "off" | "json" | "all";
  /** `"shorten"`: tools may say less where they take too much of the window; `"choose"`: besides, those that nothing asks for may go. */
  tools?: "keep" | "shorten" | "choose";
  /** Shorter forms that the caller made, as `cupel select --renderings` reads them. */
  renderings?: readonly unknown[];
  /** Vectors of the messages and of the query, as `cupel select --vectors` reads them. */
  vectors?: object;
}

/** The settings that an engine has and no call changes. */
export interface EngineOnly {
  /** Policy, which says which messages are worth keeping; `auto` without it. */
  policy?: Policy;
  /** `o200k_base`, `cl100k_base` or `estimate`; without it as the model counts. */
  tokenizer?: string;
  /** `"drop"` leaves out what something newer makes superfluous. */
  superseded?: "keep" | "drop";
  /** Repairs requests that their provider would refuse. */
  repair?: boolean;
  /** Lets caps and quotas leave things out of a request that fits. */
  keepCaps?: boolean;
  /** Never lets the user speak twice in a row. */
  alternate?: boolean;
  /** Keeps or drops whole turns, but for the last one. */
  wholeTurns?: boolean;
  /** Ends what is shortened with the handle of its original, unless it is `false`. */
  handles?: boolean;
  /** The format of all requests, where they should not be looked at to tell it. */
  format?: string;
}

/** The settings of an engine. */
export type EngineSettings = EngineOnly & Omit<CallOptions, "query" | "renderings" | "vectors">;

/** The options of `select`. */
export type SelectOptions = EngineOnly & CallOptions;

/** The options of a step of a session. */
export type StepOptions = CallOptions & {
  /** The time, as a `Date` or in seconds since 1970: it tells whether the provider still remembers. */
  now?: Date | number;
};

/** A request: an object with `messages`, `input`, `contents` or `items`, or JSON. */
export type RequestLike = object | string | Uint8Array;

/** The type of the messages of a request. */
export type MessageOf<R> = R extends ReadonlyArray<infer M>
  ? M
  : R extends { messages: ReadonlyArray<infer M> }
    ? M
    : R extends { input: ReadonlyArray<infer M> }
      ? M
      : R extends { contents: ReadonlyArray<infer M> }
        ? M
        : any;

/** The messages that fit, whoever chose them. */
export declare abstract class Window<R = any> implements Iterable<MessageOf<R>> {
  /** The indices of the messages that stay, in the request's own list. */
  readonly kept: number[];
  /** The tokens of the window. */
  readonly tokens: number;
  /** The messages that stay: the very objects that were handed in, but for shortened ones. */
  readonly messages: MessageOf<R>[];
  /** The request with these messages, in the shape in which it was handed in. */
  readonly request: R;
  /** The request as JSON; every message that stays is its original text. */
  readonly text: string;
  /** Sizes before and after, and what they were measured with. */
  readonly summary: answers.Summary;
  /** Texts that are in the window shorter than they were. */
  readonly shortened: answers.ShortenedText[];
  /** What became of each tool, if the request goes out with others or shorter ones; else nothing. */
  readonly tools: answers.FittedTool[];
  [Symbol.iterator](): Iterator<MessageOf<R>>;
  /** The window in a line. */
  toString(): string;
}

/** The best request that fits, and why. */
export declare class Selection<R = any> extends Window<R> {
  private constructor();
  /** Everything but texts, as the command writes it. */
  readonly answer: answers.SelectionAnswer;
  /** The report of the specification: every item with its score and reason. */
  readonly report: answers.Report;
  /** The window, what is not in it, and why, as data. */
  explanation(mostLeftOut?: number): answers.Explanation;
  /** The window, what is not in it, and why, as text. */
  explain(mostLeftOut?: number): string;
}

/** The window of a step of a session, and what it does to the prompt cache. */
export declare class Step<R = any> extends Window<R> {
  private constructor();
  /** Everything but texts, as the command writes it. */
  readonly answer: answers.StepAnswer;
  /** The cache: what is read from it and what is written. */
  readonly session: answers.SessionStep;
}

/** A request, repaired as far as it can be, with the caller's own messages. */
export type Repaired<R = any> = answers.RepairedAnswer & { messages: MessageOf<R>[]; request: R };

/** Fits requests into a window: made once, used for many requests. */
export declare class Engine {
  constructor(settings?: EngineSettings);
  /** The name of the policy that it selects by. */
  readonly policy: string;
  /** The best request that fits. */
  select<const R extends RequestLike>(request: R, options?: CallOptions): Selection<R>;
  /** As `select`, on a thread of its own. */
  selectAsync<const R extends RequestLike>(request: R, options?: CallOptions): Promise<Selection<R>>;
  /** The tokens of a request, part by part. */
  count(request: RequestLike, options?: CallOptions): answers.Count;
  /** The rules of its provider that a request breaks. */
  validate(request: RequestLike): answers.Validation;
  /** The request, repaired as far as it can be, and what was done to it. Nothing is lost, unless with `drop`. */
  repair<const R extends RequestLike>(request: R, options?: { drop?: boolean }): Repaired<R>;
  /** The whole text that a window has a shorter form of, by its handle; `null` if there is none. */
  original(request: RequestLike, handle: string): string | null;
  /** The windows of many budgets, from one ranking. */
  windows(request: RequestLike, budgets: readonly number[], options?: CallOptions): answers.Windows;
  /** Windows of many budgets, from the pinned messages to everything. */
  curve(request: RequestLike, options?: CallOptions & { steps?: number; from?: number; to?: number }): answers.Curve;
  /** Messages that the last tokens of the budget buy. */
  marginal(request: RequestLike, slackTokens: number, options?: CallOptions): answers.Marginal;
  /** The smallest budget that keeps a message. */
  minBudget(request: RequestLike, message: number, options?: CallOptions): answers.MinBudget;
  /** Differences between two or more policies. */
  compare(request: RequestLike, policies: readonly Policy[], options?: CallOptions): answers.Comparison;
  /** Begins a session: windows that keep the prompt cache. */
  session(settings?: SessionSettings): Session;
}

/** The settings of a session. */
export interface SessionSettings {
  /** Seconds for which the provider keeps what it has read. */
  cacheLifetime?: number;
  /** True if windows get marks that tell Anthropic what to keep. */
  cacheMarks?: boolean;
  /** The share of a window that may be sent again to make room. */
  resendShare?: number;
}

/** A conversation whose windows keep what the provider has in its cache. */
export declare class Session {
  constructor(engine?: Engine, settings?: SessionSettings);
  /** The engine that it selects with. */
  readonly engine: Engine;
  /** Proposes the window of the next request, from the whole history so far. */
  next<const R extends RequestLike>(request: R, options?: StepOptions): Step<R>;
  /** As `next`, on a thread of its own. */
  nextAsync<const R extends RequestLike>(request: R, options?: StepOptions): Promise<Step<R>>;
  /** The provider has answered: the step that was proposed last counts. */
  accept(): boolean;
  /** Forgets the step that was proposed last, as the next one does anyway. */
  rollBack(): void;
  /** The accepted steps, without any text; `null` if there are none. */
  toJSON(): answers.SessionState | null;
  /** Goes on with a session that was written down. */
  static fromJSON(state: answers.SessionState | string | null, engine?: Engine, settings?: SessionSettings): Session;
}

/** Why a call has no answer. */
export declare class CupelError extends Error {
  constructor(
    message: string,
    fields?: { code?: string; path?: string; rule?: string; remedy?: string; details?: object; cause?: unknown },
  );
  /** The kind of error; texts may change from version to version, this does not. */
  readonly code: string;
  /** The place in the request, the policy or the options, as in `messages[4].role`. */
  readonly path?: string;
  /** The rule that was broken, with the value that broke it. */
  readonly rule: string;
  /** Remedy: what to do about the error. */
  readonly remedy?: string;
  /** Everything else that is known of it. */
  readonly details: Record<string, any>;
}

/** The window of the next step of a session. */
export declare function select<const R extends RequestLike>(request: R, options: StepOptions & { session: Session }): Step<R>;
/** The best request that fits: messages, or a whole request with its tools and system prompt. */
export declare function select<const R extends RequestLike>(request: R, options?: SelectOptions): Selection<R>;

/** As `select`, on a thread of its own, so that the event loop goes on. */
export declare function selectAsync<const R extends RequestLike>(
  request: R,
  options: StepOptions & { session: Session },
): Promise<Step<R>>;
export declare function selectAsync<const R extends RequestLike>(request: R, options?: SelectOptions): Promise<Selection<R>>;

/** The tokens of a request, part by part. */
export declare function count(request: RequestLike, options?: SelectOptions): answers.Count;
/** The rules of its provider that a request breaks. */
export declare function validate(request: RequestLike, options?: EngineOnly): answers.Validation;
/** The request, repaired as far as it can be, and what was done to it. Nothing is lost, unless with `drop`. */
export declare function repair<const R extends RequestLike>(request: R, options?: EngineOnly & { drop?: boolean }): Repaired<R>;

/** The windows of many budgets, from one ranking. */
export declare function simulate(request: RequestLike, options: SelectOptions & { budgets: readonly number[] }): answers.Windows;
/** The smallest budget that keeps a message. */
export declare function simulate(request: RequestLike, options: SelectOptions & { message: number }): answers.MinBudget;
/** Messages that the last tokens of the budget buy. */
export declare function simulate(request: RequestLike, options: SelectOptions & { slackTokens: number }): answers.Marginal;
/** Windows of many budgets, from the pinned messages to everything. */
export declare function simulate(
  request: RequestLike,
  options?: SelectOptions & { steps?: number; from?: number; to?: number },
): answers.Curve;

/** Differences between two or more policies. */
export declare function compare(request: RequestLike, policies: readonly Policy[], options?: SelectOptions): answers.Comparison;
/** The policies that are known by name, the default first. */
export declare function policies(): answers.PolicyList["policies"];
/** The models that are known, with tokenizer, window and prices. */
export declare function models(): answers.ModelList["models"];
/**
 * Fetches data of the engine before it is missed, where the engine is WebAssembly: vocabularies and the table of words, by the names of
 * their files or all. In a browser counts are estimates until a vocabulary is there, and `selectAsync` fetches what it misses.
 */
export declare function load(names?: Array<"o200k_base.merges" | "cl100k_base.merges" | "english.words">): Promise<void>;

/** The handle of a text, which names it for good. */
export declare function handle(text: string): string;
/** The version of the engine. */
export declare const version: string;
