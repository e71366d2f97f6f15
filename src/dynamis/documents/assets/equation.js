// Formulas: KaTeX where they can be seen; inside folded parts when these are opened.

import katex from "katex";

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

export function typesetPage(root) {
  typeset(root, false);
  for (const fold of root.querySelectorAll("details")) fold.addEventListener("toggle", () => fold.open && typeset(fold, false));
  addEventListener("beforeprint", () => typeset(root, true));
}
