"""Whoever sees less can read the page too: contrast by day and by night, names for what has no text, room at any width."""

import pytest

LEAST, LEAST_LARGE = 4.5, 3.0  # of WCAG 2, level AA
TEXTS = """
() => {
  const channel = (x) => (x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4);
  const parse = (text) => (text.match(/[\\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = parse(getComputedStyle(e).backgroundColor);
      if ((colour[3] ?? 1) > 0.99) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement, style = getComputedStyle(element);
    const shown = walker.currentNode.textContent.trim() && element.getClientRects().length && style.visibility === "visible";
    if (!shown || element.closest("script, style, .katex, .skip, svg")) continue;
    const [a, b] = [luminance(parse(style.color)), luminance(behind(element))].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize);
    found.push([(a + 0.05) / (b + 0.05), size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700), element.className + ": " + walker.currentNode.textContent.trim().slice(0, 40)]);
  }
  return found;
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_what_is_behind_it(planar_page, scheme):
    page = planar_page.page
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function("() => !document.getAnimations().some((x) => x instanceof CSSTransition)")
    found = page.evaluate(TEXTS)
    page.emulate_media(color_scheme="light")
    assert len(found) > 100
    faint = [(round(ratio, 2), text) for ratio, large, text in found if ratio < (LEAST_LARGE if large else LEAST)]
    assert faint == []


def test_what_is_operated_has_a_name_and_what_is_drawn_a_description(planar, planar_page):
    for section in planar[0].sections:
        planar_page.visit(section.key)
    nameless = planar_page.page.evaluate(
        "() => [...document.querySelectorAll('button, select, input, canvas[tabindex], [role=img], [role=region], summary, a')]"
        ".filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length"
        " || (e.matches('summary, a') && e.title))).map((e) => e.outerHTML.slice(0, 90))"
    )
    assert nameless == []
    undescribed = planar_page.page.evaluate(
        "() => [...document.querySelectorAll('figure')].filter((f) => !f.querySelector('figcaption')?.textContent.trim()).length"
    )
    assert undescribed == 0
