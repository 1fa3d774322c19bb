// The tools of a request, one by one: what they cost, whole and now, and why.
import { el } from './dom.js';
import { counted, grouped } from './words.js';

function how(tool) {
  if (tool.fate === 'left-out') return 'left out';
  return tool.fate === 'whole' ? 'whole' : `shorter: ${tool.step}`;
}

export function toolsPanel(view) {
  const tools = view.tools ?? [];
  if (tools.length === 0) return null;
  const sum = (name) => tools.reduce((all, tool) => all + tool[name], 0);
  const [before, after] = [sum('tokens_before'), sum('tokens_after')];
  const title =
    before === after
      ? `${counted(tools.length, 'tool')}, ${counted(before, 'token')}`
      : `${counted(tools.length, 'tool')}, ${grouped(after)} of ${counted(before, 'token')}`;
  const told = (tool) => `${grouped(tool.tokens_after)} of ${counted(tool.tokens_before, 'token')}, ${how(tool)}: ${tool.why}`;
  return el(
    'details',
    { className: 'particulars tools' },
    el('summary', {}, title),
    el(
      'dl',
      {},
      tools.map((tool) => [el('dt', {}, tool.name), el('dd', {}, told(tool))]),
    ),
  );
}
