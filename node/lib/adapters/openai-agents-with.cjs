"use strict";
// OpenAI Agents SDK: what a run sends fits; its items are handed on as they are.

const { CupelError } = require("../errors.cjs");
const { Fitter, defined, isSame } = require("./fitter.cjs");

/** Types of items that Responses names otherwise. */
const TYPES = {
  function_call_result: "function_call_output",
  computer_call_result: "computer_call_output",
};

/** Images and files, which the SDK has under one field each. */
function content(part) {
  if (typeof part !== "object" || part === null) return part;
  const { type, image, file, providerData: _, ...rest } = part;
  if (type === "input_image" || type === "image") {
    if (typeof image === "string") return { ...rest, type: "input_image", image_url: image };
    const { url, id, fileId, data, mediaType } = image ?? {};
    const address = url ?? (data === undefined ? undefined : { type: "base64", media_type: mediaType, data });
    return defined({ ...rest, type: "input_image", image_url: url, source: url ? undefined : address, file_id: id ?? fileId });
  }
  if (type === "input_file" || type === "file") {
    if (typeof file === "string") return { ...rest, type: "input_file", file_data: file };
    const { url, id, data, filename } = file ?? {};
    return defined({ ...rest, type: "input_file", filename, file_data: data, file_url: url, file_id: id });
  }
  return type === "text" ? { ...rest, type: "input_text" } : { ...rest, type };
}

const contents = (given) => (Array.isArray(given) ? given.map(content) : given);

/** An item as Responses has it: the SDK writes names in camel case, and some of its own. */
function item(given) {
  const { type, callId, providerData, ...rest } = given;
  const named = defined({ ...rest, type: TYPES[type] ?? type, call_id: callId });
  if (type === "reasoning") {
    const summary = (given.content ?? []).map(({ text }) => ({ type: "summary_text", text }));
    return defined({ type, id: given.id, summary, content: given.rawContent });
  }
  // What the provider ran by itself, result and all.
  if (type === "hosted_tool_call") return { ...named, type: providerData?.type ?? "web_search_call" };
  if (named.content !== undefined) named.content = contents(named.content);
  if (type === "function_call_result") {
    const { output } = given;
    named.output = typeof output === "string" ? output : contents(Array.isArray(output) ? output : [output]);
  }
  return named;
}

/** The name of the model that an agent calls: of its own, or what the SDK takes without one. */
function modelOf({ model }, framework) {
  if (typeof model === "string") return model || framework.getDefaultModel();
  // Models keep their name to themselves; those of the AI SDK say it.
  return [model?.model, model?.modelId, model?._model].find((name) => typeof name === "string");
}

const functionTool = ({ name, description, parameters, strict }) => ({ type: "function", name, description, parameters, strict });

/** A handoff, as the tool that it is sent as. */
function handoff(given, framework) {
  const { toolName, toolDescription, inputJsonSchema } = framework.getHandoff(given);
  return { type: "function", name: toolName, description: toolDescription, parameters: inputJsonSchema };
}

/** A tool as it is sent. What the provider hosts goes as it is written. */
function tool(given) {
  if (given.type === "function") return functionTool(given);
  return defined({ ...given.providerData, type: given.providerData?.type ?? given.type, name: given.name });
}

/** What the answer has to look like, as a field of the request. */
function answer({ outputType }, framework) {
  if (outputType === undefined || outputType === "text") return undefined;
  if (outputType.type === "json_schema" && outputType.schema !== undefined) return { format: outputType };
  // The SDK makes JSON Schemas of parameters, and of answers in the same way.
  const { parameters: schema } = framework.tool({ name: "final_output", description: "", parameters: outputType, execute() {} });
  return { format: { type: "json_schema", name: "final_output", schema } };
}

/** The adapter, with the SDK's own objects. */
module.exports = (framework) => {
  /** The id of the conversation that the run belongs to, or of the run itself. */
  function run() {
    const trace = framework.getCurrentTrace();
    return trace?.groupId ?? (trace?.traceId === "no-op" ? undefined : trace?.traceId);
  }

  /** A filter for `callModelInputFilter`. */
  function inputFilter(options = {}) {
    if (options.repair) {
      throw new CupelError("repair: items of the SDK cannot be repaired", { path: "repair", remedy: "leave it out" });
    }
    const fits = new Fitter(options, "openai-responses");

    async function filter({ modelData, agent, context }) {
      const { input, instructions } = modelData;
      if (input.length === 0) return modelData;
      const items = input.map(item);
      const tools = await enabled(agent, context, framework);
      const settings = agent.modelSettings ?? {};
      const request = defined({
        model: modelOf(agent, framework),
        instructions: instructions || undefined,
        input: items,
        tools: tools.length > 0 ? tools : undefined,
        text: answer(agent, framework),
        max_output_tokens: settings.maxTokens,
      });
      // Agents hand over within a run, and each has instructions and tools of its own.
      const id = run() && `${run()} ${agent.name}`;
      const window = await fits.window(request, items, { id });
      const kept = window.messages.map((chosen, at) => {
        const own = input[window.kept[at]];
        return chosen === items[window.kept[at]] ? own : { ...own, output: chosen.output };
      });
      return isSame(kept, input) ? modelData : { ...modelData, input: kept };
    }
    // Nothing here writes into an item.
    filter.preserveInputIdentity = true;
    return filter;
  }

  return { inputFilter };
};

/** The tools that the agent has now, as the run sends them. */
async function enabled(agent, context, framework) {
  const runContext = new framework.RunContext(context);
  const tools = await agent.getAllTools(runContext);
  const handoffs = await agent.getEnabledHandoffs(runContext);
  return [...tools.map(tool), ...handoffs.map((one) => handoff(one, framework))];
}
