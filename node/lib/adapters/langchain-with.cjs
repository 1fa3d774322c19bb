"use strict";
// LangChain.js and LangGraph.js: what is sent fits, and the stored history stays whole.

const { Fitter, defined, isSame } = require("./fitter.cjs");

/** Where chat models keep the name of their model, the most telling first. */
const NAMES = ["modelName", "model", "modelId", "deploymentName", "azureOpenAIApiDeploymentName"];

/** Where they keep how long an answer may be. */
const LIMITS = ["maxTokens", "maxOutputTokens", "maxCompletionTokens", "numPredict"];

/** The chat model itself, without what is bound to it. */
function unbound(model) {
  return typeof model?.bound === "object" ? unbound(model.bound) : model;
}

/** What a chat model says of itself: its name, and how long its answers may be. */
function told(model) {
  const name = NAMES.map((name) => model?.[name]).find((name) => typeof name === "string" && name !== "");
  const limit = LIMITS.map((name) => model?.[name]).find((limit) => Number.isInteger(limit) && limit > 0);
  return { model: name?.replace(/^models\//, ""), max_tokens: limit };
}

/** The id of the conversation: agents within agents share a thread, and their namespaces tell them apart. */
function conversation(configurable) {
  const { thread_id: thread, checkpoint_ns: namespace = "" } = configurable ?? {};
  // The last part of a namespace names the step alone.
  return thread && JSON.stringify([thread, namespace.split("|").slice(0, -1).join("|")]);
}

/** The adapter, with the framework's own objects. */
module.exports = ({ createMiddleware, toolStrategy, convertToOpenAITool, ContextOverflowError }) => {
  /** The window; what cannot fit is an error that LangChain knows, and its fallbacks catch. */
  async function window(fits, ...asked) {
    try {
      return await fits.window(...asked);
    } catch (error) {
      throw error.code === "does-not-fit" ? ContextOverflowError.fromError(error) : error;
    }
  }

  /** A tool as it is sent; those that the provider hosts go as they are. */
  function tool(given) {
    const isHosted = given.schema === undefined && given.lc_namespace === undefined;
    return isHosted ? given : convertToOpenAITool(given);
  }

  /** The schema of a structured answer, as the tools that it may become: as a field of the request it takes no more. */
  function answers(format) {
    if (format === undefined || format === null) return [];
    if (Array.isArray(format)) return format.flatMap(answers);
    if (format.tool !== undefined) return [format.tool];
    return toolStrategy(format.schema ?? format).map((one) => one.tool);
  }

  /** A middleware for `createAgent`. */
  function cupelMiddleware(options) {
    const fits = new Fitter(options, "langchain");
    return createMiddleware({
      name: "CupelMiddleware",
      async wrapModelCall(request, handler) {
        const { messages, systemMessage, tools = [], responseFormat, runtime } = request;
        const head = systemMessage?.content?.length > 0 ? [systemMessage] : [];
        const model = unbound(request.model);
        const sent = [...tools.map(tool), ...answers(responseFormat)];
        const whole = defined({ ...told(model), messages: [...head, ...messages], tools: sent.length > 0 ? sent : undefined });
        const most = model?.profile?.maxInputTokens;
        const fitted = await window(fits, whole, messages, { id: conversation(runtime?.configurable), window: most });
        const kept = fitted.messages.filter((message) => message !== head[0]);
        return handler(isSame(kept, messages) ? request : { ...request, messages: kept });
      },
    });
  }

  /**
   * A hook for the agents of LangGraph: what the model sees next, beside a history that is left alone. The graph adds its prompt and
   * its tools behind the hook, which cannot count them: leave room.
   */
  function preModelHook(options) {
    const fits = new Fitter(options, "langchain");
    return async ({ messages }, config) => {
      const fitted = await window(fits, { messages }, messages, { id: conversation(config?.configurable) });
      return { llmInputMessages: fitted.messages };
    };
  }

  return { cupelMiddleware, preModelHook };
};
