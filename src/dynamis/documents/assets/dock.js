// Keeps the robot in sight while the large 3-D view is outside the window and a map is inside: a small view that covers no content.
// Where the window is wide it is in the free part of the navigation's column; elsewhere a button of the navigation opens it in a strip
// at the bottom of the window, and the page gets as much room below.

import { element } from "dynamis/elements";

const HEIGHT = 190, GAP = 16; // pixels, of the view in the margin

export function dock(panel, maps) {
  const { stage } = panel;
  const nav = document.querySelector("nav");
  const seen = new Set();
  let near = true, opened = false, closed = false;
  const choose = (open) => () => {
    opened = open;
    closed = !open;
    update();
  };
  const close = element("button", { type: "button", class: "undock", "aria-label": "Close the small 3-D view", hidden: true, onclick: choose(false) }, "×");
  const open = element("button", { type: "button", class: "dock", hidden: true, onclick: choose(true) }, "3-D view");
  stage.append(close);
  nav?.append(open);
  // the part of the margin below the list of sections, or null where it is too small
  const margin = () => {
    const list = nav?.querySelector("ol");
    if (!list || getComputedStyle(list).display === "flex") return null;
    const { left, width, bottom } = list.getBoundingClientRect();
    return bottom + 2 * GAP + 40 + HEIGHT < innerHeight ? { left, width } : null;
  };
  const update = () => {
    const wanted = !near && seen.size > 0;
    const free = wanted ? margin() : null;
    const docked = wanted && (free ? !closed : opened);
    close.hidden = !docked;
    open.hidden = !wanted || docked;
    stage.classList.toggle("strip", docked && !free);
    document.body.classList.toggle("with-strip", docked && !free);
    Object.assign(stage.style, docked && free ? { left: `${free.left}px`, width: `${free.width}px`, height: `${HEIGHT}px` } : { left: "", width: "", height: "" });
    if (stage.classList.toggle("docked", docked) !== panel.docked) panel.docked = docked;
    else if (!docked) return;
    panel.view.resize();
  };
  // the box that keeps the place of the view: the view itself leaves it
  new IntersectionObserver(([entry]) => {
    near = entry.isIntersecting;
    if (near) closed = opened = false;
    update();
  }, { threshold: 0.25 }).observe(stage.parentElement);
  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) seen[isIntersecting ? "add" : "delete"](target);
    update();
  });
  for (const map of maps) watch.observe(map);
  addEventListener("resize", update);
  panel.onPicked = () => {
    closed = false;
    update();
  };
}
