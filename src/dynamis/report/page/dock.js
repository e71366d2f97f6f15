// Keeps the robot in sight: a small 3-D view in the corner while the large one is outside the window and a map is inside.

import { element } from "dynamis/elements";

export function dock(panel, maps) {
  const { stage } = panel;
  const seen = new Set();
  let near = true, closed = false;
  const close = element("button", { type: "button", class: "undock", "aria-label": "Close the small 3-D view", hidden: true, onclick: () => {
    closed = true;
    update();
  } }, "×");
  stage.append(close);
  const update = () => {
    const docked = !near && !closed && seen.size > 0;
    close.hidden = !docked;
    if (stage.classList.toggle("docked", docked) !== panel.docked) {
      panel.docked = docked;
      panel.view.resize();
    }
  };
  // the box that keeps the place of the view: the view itself leaves it
  new IntersectionObserver(([entry]) => {
    near = entry.isIntersecting;
    if (near) closed = false;
    update();
  }, { threshold: 0.25 }).observe(stage.parentElement);
  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) seen[isIntersecting ? "add" : "delete"](target);
    update();
  });
  for (const map of maps) watch.observe(map);
  panel.onPicked = () => {
    closed = false;
    update();
  };
}
