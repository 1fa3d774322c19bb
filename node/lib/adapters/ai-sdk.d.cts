import type { WindowOptions } from "./options.cjs";

export type { WindowOptions };

/** What `wrapLanguageModel` takes, in every version of the AI SDK from 5 to 7. */
export interface CupelMiddleware {
  /** Each version of the AI SDK asks for its own, and none reads it. */
  readonly specificationVersion: any;
  transformParams<P extends { prompt: readonly unknown[] }>(call: { params: P; model: { modelId: string } }): Promise<P>;
}

/**
 * A middleware for `wrapLanguageModel`: what the model is sent fits its window, with the tools and the schema of the answer
 * counted.
 *
 * Without `maxTokens` the window is that of the model, where Cupel knows it. Calls with
 * `providerOptions: { cupel: { conversation: id } }` are a session, whose windows keep the provider's cache. Tools that the
 * provider runs itself count as they are written in the request: leave room for what it makes of them.
 */
export declare function cupelMiddleware(options?: WindowOptions): CupelMiddleware;
