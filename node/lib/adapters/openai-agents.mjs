import * as framework from "@openai/agents";
import adapter from "./openai-agents-with.cjs";

export const { inputFilter } = adapter(framework);
