// Compiled, never run: the adapters are what the framework takes.
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { cupelMiddleware, preModelHook } from "cupel/langchain";
import { createAgent } from "langchain";

export const agent = createAgent({ model: "openai:gpt-4o", tools: [], middleware: [cupelMiddleware({ maxTokens: 100 })] });
declare const llm: Parameters<typeof createReactAgent>[0]["llm"];
export const graph = createReactAgent({ llm, tools: [], preModelHook: preModelHook({ maxTokens: 100 }) });
// @ts-expect-error: a budget is a number
cupelMiddleware({ maxTokens: "100" });
