// Light or dark: as the system says, until somebody says otherwise.
import { el } from './dom.js';

const KEY = 'cupel-theme';
const NEXT = { auto: 'light', light: 'dark', dark: 'auto' };
const SIGN = { auto: '◐', light: '○', dark: '●' };

function remembered() {
  try {
    return localStorage.getItem(KEY) ?? 'auto';
  } catch {
    return 'auto';
  }
}

function apply(theme) {
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** A button that goes round: as the system, light, dark. */
export function themeButton(onChange) {
  let theme = NEXT[remembered()] ? remembered() : 'auto';
  apply(theme);
  const button = el('button', { type: 'button', className: 'quiet theme' });
  const show = () => {
    button.textContent = SIGN[theme];
    const label = `Colours: ${theme === 'auto' ? 'as the system' : theme}`;
    button.setAttribute('aria-label', label);
    button.title = label;
  };
  button.addEventListener('click', () => {
    theme = NEXT[theme];
    apply(theme);
    show();
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // A page that is opened as a file may have no storage; it then forgets.
    }
    onChange();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', onChange);
  show();
  return button;
}
