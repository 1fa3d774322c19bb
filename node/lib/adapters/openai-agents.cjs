"use strict";
const adapter = require("./openai-agents-with.cjs")(require("@openai/agents"));

module.exports.inputFilter = adapter.inputFilter;
