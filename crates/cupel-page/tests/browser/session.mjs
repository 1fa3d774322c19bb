// The run of an agent, step by step, through the command: what a gateway would have seen.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { file, folder, root, run, singleFile } from './support.mjs';

/** The requests of a run: the history before each answer of the assistant. */
export function histories(name) {
  const whole = JSON.parse(readFileSync(join(root, `examples/${name}.json`), 'utf8'));
  const ends = whole.messages.flatMap((message, at) => (message.role === 'assistant' && at > 0 ? [at] : []));
  return ends.map((end) => JSON.stringify({ ...whole, messages: whole.messages.slice(0, end) }));
}

/** The views of the last steps of a run at a budget, and a row for each. */
export function agentRun({ max, steps, shown }) {
  const session = join(folder, `run-${max}.session`);
  const points = [];
  const views = new Map();
  const rows = [];
  const requests = histories('coding-agent').slice(-steps);
  requests.forEach((text, at) => {
    const id = at + 1;
    const path = file(`step-${id}.json`, text);
    const flags = [path, '--max', String(max), '--session', session, '--at', String(1_000 + 10 * at), '--tokenizer', 'estimate'];
    if (id > steps - shown) {
      const { view } = singleFile(`step-${id}.html`, ...flags);
      points.push(view.step.run.at(-1));
      views.set(id, { ...view, title: undefined, step: { ...view.step, run: [...points] } });
    } else {
      const { session: step } = JSON.parse(run('explain', ...flags, '--json'));
      points.push({
        number: step.number,
        sent: step.totals.sent,
        everything: step.totals.everything,
        newest_first: step.totals.newest_first,
        step: { cached_tokens: step.cached_tokens, uncached_tokens: step.uncached_tokens },
      });
    }
    const { summary, session: step } = JSON.parse(run('explain', ...flags, '--json'));
    run('select', ...flags);
    rows.push({
      id,
      time_ms: 1_700_000_000_000 + 9_000 * at,
      model: 'gpt-4.1',
      conversation: 'fix-parser',
      step: id,
      title: 'Fix the failing parser test',
      tokens_before: summary.tokens_before,
      tokens_after: summary.tokens_after,
      kept: summary.messages_after,
      dropped: summary.messages_before - summary.messages_after,
      cached_prefix: step.cached_tokens,
      status: summary.messages_after < summary.messages_before ? 'fitted' : 'whole',
      http_status: 200,
      has_view: views.has(id),
    });
  });
  return { rows, views };
}
