// Compiled, never run: the types of the package as a user meets them.
import { CupelError, Engine, Session, count, models, select, selectAsync, simulate } from "cupel";

interface Own {
  role: "user" | "assistant";
  content: string;
  note: { own: number };
}
declare const messages: Own[];

const selection = select(messages, { maxTokens: 100 });
const kept: Own[] = selection.messages;
const notes: number[] = [...selection].map((message) => message.note.own);
const same: Own[] = selection.request;
const total: number = selection.report.total_candidates;
const tokens: number = selection.explanation().kept[0].part.tokens;

const request = select({ model: "gpt-4o", temperature: 0.5, messages });
const temperature: number = request.request.temperature;
const inside: Own = request.messages[0];

const session = new Session(new Engine({ policy: "chat", maxTokens: 100 }));
const step = select(messages, { session, now: new Date() });
const own: Own[] = step.messages;
const unchanged: number = step.session.unchanged_messages;
const later: Promise<{ messages: Own[] }> = selectAsync(messages, { maxTokens: 100 });

const curve = simulate(messages, { steps: 3 });
const windows = simulate(messages, { budgets: [1, 2] }).windows;
const window: number = models()[0].context_window;
const all: number = count(messages).total_tokens;
const code: string = new CupelError("no").code;

// @ts-expect-error: a budget is a number
select(messages, { maxTokens: "100" });
// @ts-expect-error: there is no such option
select(messages, { maxToken: 100 });
// @ts-expect-error: a step explains nothing
step.explain();
// @ts-expect-error: messages are the caller's
const wrong: string[] = selection.messages;

export { kept, notes, same, total, tokens, temperature, inside, own, unchanged, later, curve, windows, window, all, code, wrong };
