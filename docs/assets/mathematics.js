// Typesets what pymdownx.arithmatex left as \( … \) and \[ … \] in elements of the class "arithmatex".
document.addEventListener("DOMContentLoaded", () => {
  const macros = {
    "\\T": "^{\\mathsf T}",
    "\\qd": "\\dot q",
    "\\qdd": "\\ddot q",
  };
  for (const element of document.querySelectorAll(".arithmatex")) {
    const text = element.textContent.trim();
    const display = text.startsWith("\\[");
    katex.render(text.slice(2, -2), element, { displayMode: display, throwOnError: false, macros });
  }
});
