// The server that the page came from.

const BASE = '/cupel/api';

async function asked(path, method = 'GET') {
  const answer = await fetch(BASE + path, { method, headers: { accept: 'application/json' }, credentials: 'same-origin' });
  const body = await answer.json().catch(() => null);
  if (!answer.ok) throw new Error(body?.error ?? `the server answered ${answer.status}`);
  if (!body) throw new Error('the server gave no JSON');
  return body;
}

export function requestsAfter(number) {
  return asked(`/requests?after=${number}`);
}

/** Messages of a request that its conversation keeps; with a method, keeps some or no longer. */
export function pinsOf(id, method = 'GET', messages = []) {
  return asked(`/requests/${encodeURIComponent(id)}/pins${messages.length > 0 ? `?${messages.map((at) => `message=${at}`).join('&')}` : ''}`, method);
}

export function requestView(id, policies) {
  const query = policies.map((policy) => `policy=${encodeURIComponent(policy)}`).join('&');
  return asked(`/requests/${encodeURIComponent(id)}${query ? `?${query}` : ''}`);
}

export function learntLimits() {
  return asked('/limits');
}

/** Forgets the windows that upstreams told; tells what is left. */
export function forgetLimits() {
  return asked('/limits', 'DELETE');
}

/** Tells of rows as they come; after a break it asks for what it missed. */
export function follow(onRows, onState, lastNumber) {
  const source = new EventSource(`${BASE}/events`);
  source.addEventListener('message', (event) => {
    try {
      onRows(JSON.parse(event.data));
    } catch {
      // What is no list of rows is not for us.
    }
  });
  const catchUp = async () => {
    try {
      onRows(await requestsAfter(lastNumber()));
      onState('live');
    } catch {
      onState('lost');
    }
  };
  source.addEventListener('open', catchUp);
  // More has come at once than the server tells one by one.
  source.addEventListener('behind', catchUp);
  source.addEventListener('error', () => onState('lost'));
  return source;
}
