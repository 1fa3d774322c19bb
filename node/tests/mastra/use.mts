// Compiled, never run: the processor is what the framework takes.
import { Agent } from "@mastra/core/agent";
import { CupelProcessor } from "cupel/mastra";

const inputProcessors = [new CupelProcessor({ maxTokens: 100 })];
export const agent = new Agent({ id: "a", name: "A", instructions: "b", model: "openai/gpt-4o", inputProcessors });
// @ts-expect-error: a budget is a number
new CupelProcessor({ maxTokens: "100" });
