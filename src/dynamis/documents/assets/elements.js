// Elements of a page: numbers as text, choices, tables of data.

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

export function number(x, digits = 4) {
  if (x == null || !Number.isFinite(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  const rounded = Number(x.toPrecision(digits));
  const text = size >= 1e6 || size < 1e-4 ? powerOfTen(rounded) : String(rounded);
  return text.replaceAll("-", "−");
}

// 1.6 × 10⁻¹⁵
function powerOfTen(x) {
  const [mantissa, exponent] = x.toExponential().split("e");
  const raised = [...exponent.replace("+", "")].map((digit) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(digit)]).join("");
  return `${mantissa} × 10${raised}`;
}

// a box that scrolls must be reachable by keyboard; others are not in the tab order
export function markScrolling(root = document) {
  for (const box of root.querySelectorAll(".wide, .formula, pre")) {
    const sideways = box.scrollWidth > box.clientWidth + 1;
    if (sideways || box.scrollHeight > box.clientHeight + 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
    // a table's columns, unlike a long formula or line of code, do not show that there are more of them
    if (box.matches(".wide")) box.toggleAttribute("data-scrolls", sideways);
  }
}

let counted = 0;
export function freshId(stem) {
  counted += 1;
  return `${stem}-${counted}`;
}

// a labelled choice among views; nothing where there is only one
export function chooser(label, names, choose) {
  if (names.length < 2) return null;
  const id = freshId("choose");
  const select = element("select", { id }, ...names.map((name, k) => element("option", { value: k }, name)));
  select.addEventListener("change", () => choose(Number(select.value)));
  return element("div", { class: "chooser" }, element("label", { for: id }, label), select);
}

// the numbers of a figure, as a table that is built when it is opened
export function dataTable(title, rows) {
  const details = element("details", { class: "data" }, element("summary", {}, "Data"));
  details.addEventListener("toggle", () => {
    if (!details.open) return;
    const { header, body } = rows();
    const table = element(
      "table", { "aria-label": title },
      element("thead", {}, element("tr", {}, ...header.map((cell) => element("th", { scope: "col" }, cell)))),
      element("tbody", {}, ...body.map((row) => element("tr", {}, ...row.map((x) => element("td", { class: "number" }, number(x, 5)))))),
    );
    const csv = [header, ...body.map((row) => row.map((x) => x ?? ""))].map((row) => row.map(quoted).join(",")).join("\r\n");
    const link = element("a", { download: `${title}.csv`, href: URL.createObjectURL(new Blob([csv], { type: "text/csv" })) }, "Download as CSV");
    const region = element("div", { class: "wide tall", tabindex: 0, role: "region", "aria-label": title }, table);
    details.replaceChildren(details.firstElementChild, link, region);
  });
  return details;
}

// a cell of a CSV file; a leading sign that a spreadsheet would evaluate becomes text
function quoted(cell) {
  const text = String(cell);
  const safe = typeof cell === "string" && /^[=+\-@\t]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
