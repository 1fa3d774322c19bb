import type { BaseMessage } from "@langchain/core/messages";
import type { AgentMiddleware } from "langchain";
import type { WindowOptions } from "./options.cjs";

export type { WindowOptions };

/**
 * A middleware for `createAgent`: what the model is sent fits its window, with the system prompt, the tools and the schema of the
 * answer counted. The state of the agent stays whole.
 *
 * Without `maxTokens` the window is that of the model, where Cupel or the model's profile knows it. Conversations that have a
 * `thread_id` are sessions, whose windows keep the provider's cache. What cannot fit is a `ContextOverflowError`.
 */
export declare function cupelMiddleware(options?: WindowOptions): AgentMiddleware;

/**
 * A `preModelHook` for the agents of LangGraph: what the model sees next, beside a history that is left alone. The graph adds its
 * prompt and its tools behind the hook, which cannot count them: leave room. Nor does it say which model it calls: name it.
 */
export declare function preModelHook(
  options?: WindowOptions,
): (state: { messages: BaseMessage[] }, config?: { configurable?: Record<string, any> }) => Promise<{ llmInputMessages: BaseMessage[] }>;
