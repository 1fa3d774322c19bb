"use strict";
// The AI SDK, versions 5 to 7: what its models are sent fits, and the caller's history stays whole.

const { CupelError } = require("../errors.cjs");
const { Fitter, defined, isSame } = require("./fitter.cjs");

/** The id of the conversation, as the caller gave it beside the options of providers. */
function conversation(providerOptions) {
  const { conversation: id, ...others } = providerOptions?.cupel ?? {};
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    const path = `providerOptions.cupel.${unknown}`;
    throw new CupelError(`${path}: there is no such option`, { path, remedy: "give conversation, or options of the middleware" });
  }
  return id;
}

/** A middleware for `wrapLanguageModel`. */
function cupelMiddleware(options) {
  const fits = new Fitter(options, "ai-sdk");
  return {
    // Nothing that it uses differs between versions 2 to 4 of the specification.
    specificationVersion: "v3",
    async transformParams({ params, model }) {
      const { prompt, tools, responseFormat, maxOutputTokens, providerOptions } = params;
      const request = defined({ model: model?.modelId, prompt, tools, responseFormat, maxOutputTokens });
      const window = await fits.window(request, prompt, { id: conversation(providerOptions) });
      return isSame(window.messages, prompt) ? params : { ...params, prompt: window.messages };
    },
  };
}

module.exports = { cupelMiddleware };
