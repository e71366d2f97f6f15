// Marks the section in view in the page's navigation.

const READ_AT = 0.3; // of the window's height: the section at this line is the one in view

export function followSections(nav) {
  if (!nav) return;
  const links = [...nav.querySelectorAll("a")];
  const sections = links.map((link) => document.getElementById(link.hash.slice(1)));
  let current = null;
  const mark = () => {
    const line = READ_AT * innerHeight;
    const at = Math.max(sections.findLastIndex((section) => section.getBoundingClientRect().top <= line), 0);
    if (links[at] === current) return;
    current?.removeAttribute("aria-current");
    current = links[at];
    current.setAttribute("aria-current", "location");
    // a navigation that scrolls sideways keeps the mark visible; scrollIntoView would scroll the page as well
    const list = nav.querySelector("ol");
    if (list.scrollWidth > list.clientWidth) list.scrollTo({ left: current.offsetLeft - 0.4 * list.clientWidth });
  };
  let asked = false;
  addEventListener("scroll", () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      mark();
    });
  }, { passive: true });
  addEventListener("resize", mark);
  mark();
}
