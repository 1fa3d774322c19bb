// Compiled, never run: the filter is what the framework takes.
import { Runner } from "@openai/agents";
import { inputFilter } from "cupel/openai-agents";

export const runner = new Runner({ callModelInputFilter: inputFilter({ maxTokens: 100 }) });
// @ts-expect-error: items of the SDK cannot be repaired
inputFilter({ repair: true });
