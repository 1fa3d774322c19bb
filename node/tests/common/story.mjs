// A run of an agent that looks for the port of a service: 60 steps with a tool.

export const STEPS = 60;

export const INSTRUCTIONS = "You repair services. Never restart the database.";
export const TASK = "The payment service does not answer on its port. Find out which port it listens on, and why.";

const NOISE = "worker idle; queue empty; heartbeat sent; cache warm; no requests waiting; nothing to report here. ";

/** What the tool says at a step. */
export function result(step) {
  if (step === 7) return "payment.toml: listen = 7443 # moved from 8443 on Monday";
  return `log ${step}: ${NOISE.repeat(1 + (step % 4))}`;
}

/** What the model asks the tool at a step. */
export const asked = (step) => ({ path: step === 7 ? "payment.toml" : `logs/part-${step}.log` });

/** A counter of tokens that counts no text twice; what is no text counts as it is written. */
export function remembering(count) {
  const known = new Map();
  return (value) => {
    const text = typeof value === "string" ? value : JSON.stringify(value ?? "");
    if (!known.has(text)) known.set(text, count(text));
    return known.get(text);
  };
}
