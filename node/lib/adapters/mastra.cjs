"use strict";
// Mastra: what is sent fits; what the agent remembers stays whole.

const { CupelError } = require("../errors.cjs");
const { Fitter, defined, isSame } = require("./fitter.cjs");

/** A schema as JSON Schema, whichever library it is of. */
function jsonSchema(schema, path) {
  const standard = schema?.["~standard"]?.jsonSchema;
  if (standard !== undefined) return standard.input({ target: "draft-07" });
  if (typeof schema?.toJSONSchema === "function") return schema.toJSONSchema();
  const written = schema?.jsonSchema ?? schema;
  if (written === undefined || ["type", "properties", "anyOf", "$ref"].some((name) => name in written)) return written;
  const remedy = "give a JSON Schema, or one of a library that can write it as such";
  throw new CupelError(`${path}: has a schema whose tokens cannot be counted; ${remedy}`, { path, remedy });
}

/** A tool as it is sent; those that the provider hosts go as they are written. */
function tool([name, given]) {
  if (typeof given.type === "string" && given.type.startsWith("provider")) {
    return { type: given.type, id: given.id, name: given.name ?? name, args: given.args };
  }
  const inputSchema = jsonSchema(given.inputSchema ?? given.parameters, `tools.${name}`);
  return defined({ type: "function", name, description: given.description, inputSchema });
}

/** The id of the conversation that the agent remembers. */
function thread(context) {
  return context?.get("mastra__threadId") || context?.get("MastraMemory")?.thread?.id || undefined;
}

/** What a step has beside its prompt, between the two hooks that it goes through. */
const STEP = "cupel";

/** An input processor for agents. */
class CupelProcessor {
  id = "cupel";
  name = "Cupel";
  #fits;

  constructor(options) {
    this.#fits = new Fitter(options, "ai-sdk");
  }

  /** Notes what is sent beside the prompt: the hook that gets the prompt is not told. */
  async processInputStep({ state, tools = {}, activeTools, structuredOutput, modelSettings }) {
    const active = Object.entries(tools).filter(([name]) => activeTools === undefined || activeTools.includes(name));
    const schema = structuredOutput?.schema && jsonSchema(structuredOutput.schema, "structuredOutput");
    state[STEP] = defined({
      tools: active.length > 0 ? active.map(tool) : undefined,
      responseFormat: schema && { type: "json", schema },
      maxOutputTokens: modelSettings?.maxOutputTokens,
    });
  }

  /** Changes what is sent. */
  async processLLMRequest({ prompt, model, state, requestContext }) {
    const request = defined({ model: model?.modelId, prompt, ...state[STEP] });
    const { messages } = await this.#fits.window(request, prompt, { id: thread(requestContext) });
    return isSame(messages, prompt) ? undefined : { prompt: messages };
  }
}

module.exports = { CupelProcessor };
