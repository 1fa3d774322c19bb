import { ContextOverflowError } from "@langchain/core/errors";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { createMiddleware, toolStrategy } from "langchain";
import adapter from "./langchain-with.cjs";

export const { cupelMiddleware, preModelHook } = adapter({ createMiddleware, toolStrategy, convertToOpenAITool, ContextOverflowError });
