// Which page it is: one request that came with it, or the list of a gateway.
import { el, put } from './dom.js';
import { pinsOf, requestView } from './api.js';
import { themeButton } from './theme.js';
import { RequestPage } from './view.js';
import { RequestList } from './requests.js';

// The token has become a cookie: it need not stand in the address, or in the history, any longer.
if (new URLSearchParams(location.search).has('token')) history.replaceState(null, '', location.pathname + location.hash);

const app = document.getElementById('app');
const given = document.getElementById('view');
const place = el('div', { className: 'place' });
const crumbs = el('span', { className: 'crumbs' });
let page = null;

const header = el(
  'header',
  { className: 'top' },
  el('a', { className: 'brand', href: given ? '#' : '#/' }, el('span', { className: 'cup', 'aria-hidden': 'true' }), 'Cupel'),
  crumbs,
  themeButton(() => page?.update?.()),
);
put(app, header, place);

function show(next, title) {
  page?.stop?.();
  page = next;
  put(place, next.node);
  put(crumbs, title);
  document.title = title ? `${title} · Cupel` : 'Cupel';
  next.start?.();
}

function titleOf(view, fallback) {
  const title = view.title ?? fallback;
  return view.model && !title.includes(view.model) ? `${title} · ${view.model}` : title;
}

let list = null;

async function route() {
  const found = /^#\/r\/(\d+)$/.exec(location.hash);
  if (!found) {
    list ??= new RequestList({
      open: (id) => {
        location.hash = `#/r/${id}`;
      },
    });
    show(list, '');
    return;
  }
  const id = found[1];
  put(place, el('p', { className: 'none muted' }, 'loading …'));
  try {
    const view = await requestView(id, []);
    if (location.hash !== `#/r/${id}`) return;
    const back = () => {
      location.hash = '#/';
    };
    show(
      new RequestPage(view, { ask: (policy) => requestView(id, [policy]), pins: (method, messages) => pinsOf(id, method, messages), back }),
      titleOf(view, `request ${id}`),
    );
    scrollTo(0, 0);
  } catch (error) {
    const node = el(
      'main',
      {},
      el(
        'div',
        { className: 'headline' },
        el('h1', {}, `Request ${id} cannot be shown`),
        el('p', { className: 'sub' }, error.message),
        el('p', {}, el('a', { href: '#/' }, 'All requests')),
      ),
    );
    show({ node }, `request ${id}`);
  }
}

if (given) {
  const view = JSON.parse(given.textContent);
  show(new RequestPage(view), titleOf(view, 'one request'));
} else {
  addEventListener('hashchange', route);
  route();
}
