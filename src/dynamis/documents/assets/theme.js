// Colours of the page, read from its style, so that plots and views follow day and night.

const listeners = new Set();

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export function seriesColours() {
  return [1, 2, 3, 4, 5, 6, 7, 8].map((k) => colour(`series-${k}`));
}

export function onThemeChange(listener) {
  listeners.add(listener);
}

export function calm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

function changed() {
  for (const listener of listeners) listener();
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
// paper is white, whatever the screen is
addEventListener("beforeprint", () => {
  document.documentElement.classList.add("printing");
  changed();
});
addEventListener("afterprint", () => {
  document.documentElement.classList.remove("printing");
  changed();
});

// a button that goes round: as the system has it, light, dark
export function themeButton(button) {
  const names = { "": "Theme: system", light: "Theme: light", dark: "Theme: dark" };
  const order = ["", "light", "dark"];
  const show = () => (button.textContent = names[document.documentElement.dataset.theme ?? ""]);
  button.hidden = false;
  button.addEventListener("click", () => {
    const next = order[(order.indexOf(document.documentElement.dataset.theme ?? "") + 1) % order.length];
    if (next) document.documentElement.dataset.theme = next;
    else delete document.documentElement.dataset.theme;
    show();
    changed();
  });
  show();
}
