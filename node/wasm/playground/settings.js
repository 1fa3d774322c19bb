// The settings as a link has them: behind the `#`, which no browser sends, and without any text of a request.

/** Each setting of a link, and what it is for the engine. */
const KINDS = {
  maxTokens: ['max_tokens', (text) => Number(text)],
  model: ['model', String],
  policy: ['policy', String],
  pins: ['pins', (text) => text.split(',').map((pin) => pin.trim()).filter(Boolean).map((pin) => (/^\d+$/.test(pin) ? Number(pin) : pin))],
  shorten: ['shorten', String],
};

/** The settings in a link. */
export function settingsIn(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ''));
  return Object.fromEntries(Object.keys(KINDS).filter((name) => given.get(name)).map((name) => [name, given.get(name)]));
}

/** The link of settings. A pin by words has words of a request in it, so it stays out. */
export function linkOf(settings) {
  const pins = (settings.pins ?? '').split(',').filter((pin) => !pin.includes('words:')).join(',');
  const told = Object.entries({ ...settings, pins }).filter(([, value]) => value);
  return told.length > 0 ? `#${new URLSearchParams(told)}` : '#';
}

/** What an engine is set to, and what one call is. The size of the window is the slider's. */
export function forEngine(settings) {
  const of = (names) => Object.fromEntries(names.filter((name) => settings[name]).map((name) => [KINDS[name][0], KINDS[name][1](settings[name])]));
  return { settings: of(['policy']), options: of(['model', 'pins', 'shorten', 'maxTokens']) };
}
