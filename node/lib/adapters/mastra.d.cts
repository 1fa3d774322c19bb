import type { WindowOptions } from "./options.cjs";

export type { WindowOptions };

/**
 * An input processor for agents: what the model is sent fits its window, with the instructions, the tools and the schema of the
 * answer counted. What the agent remembers stays whole.
 *
 * Without `maxTokens` the window is that of the model, where Cupel knows it. Conversations that have a thread are sessions, whose
 * windows keep the provider's cache. It belongs behind processors that change the prompt.
 */
export declare class CupelProcessor {
  constructor(options?: WindowOptions);
  readonly id: "cupel";
  readonly name: "Cupel";
  processInputStep(step: { state: Record<string, unknown>; tools?: Record<string, unknown>; [field: string]: any }): Promise<undefined>;
  processLLMRequest<P extends readonly any[]>(call: {
    prompt: P;
    model: { modelId: string };
    state: Record<string, unknown>;
    [field: string]: any;
  }): Promise<{ prompt: P } | undefined>;
}
