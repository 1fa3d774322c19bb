// A request of one's own: read here, chosen from here, sent nowhere.
import { el, put } from './dom.js';
import { themeButton } from './theme.js';
import { RequestPage } from './view.js';
import { engine } from './engine.js';
import { EXAMPLE } from './example.js';
import { forEngine, linkOf, settingsIn } from './settings.js';

const settings = settingsIn(location.hash);
let page = null;
let asked = 0;

const lists = new engine.Engine('{}');
const listed = (name) => JSON.parse(lists.ask('[]', JSON.stringify({ ask: name })))[name];

const request = el('textarea', {
  id: 'request', spellcheck: 'false', 'aria-label': 'Request',
  placeholder: 'Paste a request or a list of messages here, or drop a file: OpenAI, Anthropic, Gemini, Bedrock, AI SDK, LangChain …',
  oninput: () => soon(),
});
const told = el('p', { className: 'told', role: 'status' });
const place = el('div', { className: 'place' });

let linking = 0;
/** Sets it here and, once a slider rests, in the link: browsers refuse an address that changes all the time. */
function set(name, value) {
  settings[name] = value;
  clearTimeout(linking);
  linking = setTimeout(() => history.replaceState(null, '', linkOf(settings)), 200);
}

/** A request's page whose slider sets the window of the link. */
class Shown extends RequestPage {
  move(size) {
    super.move(size);
    set('maxTokens', String(size));
    document.getElementById('maxTokens').value = size;
  }
}

/** A field of a setting. */
function field(name, label, node, className) {
  node.id = name;
  node.value = settings[name] ?? '';
  node.addEventListener('change', () => {
    set(name, node.value.trim());
    show();
  });
  return el('label', { for: name, className }, label, node);
}

const options = (names, first) => el('select', {}, el('option', { value: '' }, first), names.map((name) => el('option', { value: name }, name)));
const models = el('datalist', { id: 'models' }, listed('models').map((model) => el('option', { value: model.name })));
const file = el('input', { type: 'file', id: 'file', accept: '.json,.jsonl,.txt', 'aria-label': 'A file with a request', onchange: () => file.files[0] && read(file.files[0]) });
const given = el('section', { className: 'given', 'aria-label': 'Request and settings' },
  el('h1', {}, 'What would the model see?'),
  el('p', { className: 'sub' }, 'The engine runs in this page. What you paste or drop stays here; nothing is sent.'),
  request,
  el('div', { className: 'how' },
    field('maxTokens', 'Window in tokens', el('input', { type: 'number', min: '1', placeholder: 'of the model' })),
    field('model', 'Model', el('input', { list: 'models', placeholder: 'of the request' })), models,
    field('policy', 'Policy', options(listed('policies').map((policy) => policy.name), 'the usual one')),
    field('shorten', 'Shorten results', options(['off', 'json', 'all'], 'as usual')),
    field('pins', 'Keep in any case', el('input', { placeholder: '3, role:user, words:never use tabs' }), 'wide'),
    el('label', { for: 'file' }, 'File', file),
    el('button', { type: 'button', id: 'example', onclick: () => take(EXAMPLE) }, 'Show an example')),
  told);

/** Takes a text as the request. */
function take(text) {
  request.value = text;
  show();
}

async function read(one) {
  take(await one.text());
}

let timer = 0;
/** Shows it once the typing pauses. */
function soon() {
  clearTimeout(timer);
  timer = setTimeout(show, 300);
}

function tell(text, isWrong = false) {
  told.className = isWrong ? 'told wrong' : 'told';
  put(told, text);
}

/** What the page shows of the request, from the engine in it. */
async function view(more) {
  const { settings: ofEngine, options: ofCall } = forEngine(settings);
  const one = new engine.Engine(JSON.stringify(ofEngine));
  const question = JSON.stringify({ ask: 'view', options: ofCall, ...more });
  return JSON.parse(await one.askAsync(request.value, question));
}

/** An error in words. */
function inWords(error) {
  try {
    const { rule, path, remedy, message } = JSON.parse(error.message);
    return message ?? [path && `${path}: `, rule, remedy && `; ${remedy}`].filter(Boolean).join('');
  } catch {
    return `the engine stopped: ${error.message}`;
  }
}

async function show() {
  const turn = ++asked;
  page?.stop();
  page = null;
  if (request.value.trim() === '') {
    put(place);
    tell('');
    return;
  }
  tell('choosing …');
  try {
    const shown = await view({});
    if (turn !== asked) return;
    tell(shown.is_estimate ? `Counts are estimates: ${shown.tokenizer}.` : '');
    page = new Shown(shown, { ask: (policy) => view({ beside: [policy] }) });
    put(place, page.node);
    page.start();
  } catch (error) {
    if (turn !== asked) return;
    put(place);
    tell(inWords(error), true);
  }
}

for (const name of ['dragover', 'dragenter']) {
  addEventListener(name, (event) => { event.preventDefault(); given.classList.add('over'); });
}
addEventListener('dragleave', () => given.classList.remove('over'));
addEventListener('drop', (event) => {
  event.preventDefault();
  given.classList.remove('over');
  const [one] = event.dataTransfer.files;
  if (one) read(one);
  else take(event.dataTransfer.getData('text'));
});

put(document.getElementById('app'),
  el('header', { className: 'top' },
    el('span', { className: 'brand' }, el('span', { className: 'cup', 'aria-hidden': 'true' }), 'Cupel'),
    el('span', { className: 'crumbs' }, 'playground'),
    themeButton(() => page?.update())),
  given, place);
show();
