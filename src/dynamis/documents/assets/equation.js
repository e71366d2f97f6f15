// Formulas: KaTeX where they can be seen; inside folded parts when these are opened.

import katex from "katex";
import { element } from "dynamis/elements";

function hidden(node) {
  const fold = node.parentElement.closest("details:not([open])");
  return fold !== null;
}

function typeset(root, all) {
  for (const node of root.querySelectorAll(".math:not([data-done])")) {
    if (!all && hidden(node)) continue;
    const latex = node.textContent;
    node.dataset.done = "";
    katex.render(latex, node, { displayMode: node.classList.contains("display"), throwOnError: false, strict: "ignore", trust: false });
  }
}

// paper does not scroll: a formula wider than it is set smaller
function fit(root) {
  for (const place of root.querySelectorAll(".formula")) {
    if (place.scrollWidth > place.clientWidth + 1) place.style.fontSize = `${(0.98 * place.clientWidth) / place.scrollWidth}em`;
  }
}

// Formulas in folds are set when a page is printed, too late to wait for the fonts of their brackets and sums. A face that
// nothing uses is unloaded when colours or media change: each is used by a bracket that has no size.
function keepFonts(root) {
  const used = element("div", { class: "fonts", "aria-hidden": "true" });
  for (const { family, style, weight } of document.fonts) used.append(element("span", { style: `font: ${style} ${weight} 1px ${family}` }, "("));
  root.append(used);
}

export function typesetPage(root) {
  keepFonts(root);
  typeset(root, false);
  for (const fold of root.querySelectorAll("details")) fold.addEventListener("toggle", () => fold.open && typeset(fold, false));
  addEventListener("beforeprint", () => {
    typeset(root, true);
    fit(root);
  });
  addEventListener("afterprint", () => root.querySelectorAll(".formula").forEach((place) => (place.style.fontSize = "")));
}
