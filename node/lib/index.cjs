"use strict";
// Cupel: decides what goes into a language model's context window.

const { Engine, Selection, Session, Step, native } = require("./engine.cjs");
const { CupelError } = require("./errors.cjs");
const calls = require("./calls.cjs");

module.exports.CupelError = CupelError;
module.exports.Engine = Engine;
module.exports.Selection = Selection;
module.exports.Session = Session;
module.exports.Step = Step;
module.exports.select = calls.select;
module.exports.selectAsync = calls.selectAsync;
module.exports.count = calls.count;
module.exports.validate = calls.validate;
module.exports.repair = calls.repair;
module.exports.simulate = calls.simulate;
module.exports.compare = calls.compare;
module.exports.policies = calls.policies;
module.exports.models = calls.models;
// The engine for Node has its data in it.
module.exports.load = native.load ?? (async () => {});
module.exports.handle = native.handle;
module.exports.version = native.VERSION;
