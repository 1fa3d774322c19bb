// Elements without markup: every text goes in as text, whatever it holds.

export function el(name, properties, ...children) {
  const node = document.createElement(name);
  return fill(node, properties, children);
}

export function svg(name, properties, ...children) {
  const node = document.createElementNS('http' + '://www.w3.org/2000/svg', name);
  return fill(node, properties, children);
}

function fill(node, properties, children) {
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key === 'className' ? 'class' : key, value === true ? '' : String(value));
  }
  node.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** Puts other children into a node. */
export function put(node, ...children) {
  node.replaceChildren(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** A button that looks like one of several choices. */
export function choice(label, isOn, onclick, hint) {
  return el('button', { type: 'button', className: 'choice', 'aria-pressed': String(isOn), title: hint, onclick }, label);
}

/** Calls at most once a frame, however often it is asked. */
export function onceAFrame(action) {
  let isAsked = false;
  return () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      action();
    });
  };
}

/** True if a key was meant for a field that takes text. */
export function isTyping(event) {
  const node = event.target;
  return (
    node instanceof HTMLElement &&
    (node.isContentEditable || (['INPUT', 'SELECT', 'TEXTAREA'].includes(node.tagName) && node.getAttribute('type') !== 'range'))
  );
}

/** A colour of the style sheet. */
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
