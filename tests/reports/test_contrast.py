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
def test_every_text_stands_out_from_what_is_behind_it(planar, opened, scheme):
    report = opened(planar[1])
    report.page.emulate_media(color_scheme=scheme)
    report.page.wait_for_function("() => !document.getAnimations().some((x) => x instanceof CSSTransition)")
    found = report.page.evaluate(TEXTS)
    assert len(found) > 100
    faint = [(round(ratio, 2), text) for ratio, large, text in found if ratio < (LEAST_LARGE if large else LEAST)]
    report.page.close()
    assert faint == []


@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_the_page_fits_its_window(planar, opened, width):
    report = opened(planar[1])
    report.page.set_viewport_size({"width": width, "height": 800})
    report.page.wait_for_function("() => document.documentElement.scrollWidth === document.documentElement.clientWidth")
    report.page.close()


def test_what_is_operated_has_a_name_and_what_is_drawn_a_description(planar, opened):
    report = opened(planar[1])
    for section in planar[0].sections:
        report.visit(section.key)
    nameless = report.page.evaluate(
        "() => [...document.querySelectorAll('button, select, input, canvas[tabindex], [role=img], summary, a')].filter((e) =>"
        " !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length || e.title)).map((e) => e.outerHTML.slice(0, 90))"
    )
    assert nameless == []
    undescribed = report.page.evaluate(
        "() => [...document.querySelectorAll('figure')].filter((f) => !f.querySelector('figcaption')?.textContent.trim()).length"
    )
    report.page.close()
    assert undescribed == 0
