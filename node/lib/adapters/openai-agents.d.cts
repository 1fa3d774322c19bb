import type { CallModelInputFilter } from "@openai/agents";
import type { WindowOptions } from "./options.cjs";

export type { WindowOptions };

/**
 * A filter for `callModelInputFilter`, of a runner or of a run: what a model is sent fits its window, with the instructions, the
 * tools, the handoffs and the schema of the answer counted.
 *
 * Without `maxTokens` the window is that of the agent's model, where Cupel knows it; where a run has a model of its own, name it. A
 * traced run, or a group of them, is a session of each of its agents, whose windows keep the provider's cache. Hosted tools count as
 * they are written: leave room for what the provider makes of them.
 */
export declare function inputFilter(options?: Omit<WindowOptions, "repair">): CallModelInputFilter<any>;
