"use strict";
const { ContextOverflowError } = require("@langchain/core/errors");
const { convertToOpenAITool } = require("@langchain/core/utils/function_calling");
const { createMiddleware, toolStrategy } = require("langchain");

const adapter = require("./langchain-with.cjs")({ createMiddleware, toolStrategy, convertToOpenAITool, ContextOverflowError });

module.exports.cupelMiddleware = adapter.cupelMiddleware;
module.exports.preModelHook = adapter.preModelHook;
