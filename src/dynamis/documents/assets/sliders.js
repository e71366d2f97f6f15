// The robot in 3-D with a slider per joint, layers to show, and a table of link poses.

import { element, freshId, number } from "dynamis/elements";
import { rollPitchYaw } from "dynamis/kinematics";
import { RobotView } from "dynamis/view3d";

const LAYERS = { links: "Links", frames: "Frames", masses: "Centres of mass", ellipsoids: "Inertia ellipsoids" };
const HOME = "Each joint at zero, or in the middle of its range where zero is outside its limits";

const MOST_OPEN = 8;

export class RobotPanel {
  constructor(place, scene) {
    this.scene = scene;
    // the origin of a robot that stands on its feet is not on the floor
    this.aboveFloor = !scene.planar && scene.floor < -0.01 * scene.reach ? `, floor at z = ${scene.floor.toFixed(3).replace("-", "−")} m` : "";
    const stage = (this.stage = element("div", { class: "stage" }));
    this.tip = element("output", { class: "reading", "aria-live": "polite" });
    this.panel = element("div", { class: "panel" });
    place.replaceChildren(element("div", { class: "view" }, element("div", { class: "berth" }, stage), this.tip), this.panel, this.poseTable());
    this.view = new RobotView(stage, scene, { frames: false });
    this.q = [...scene.pose];
    this.inputs = scene.coordinates.filter((c) => c.q != null).map((c) => this.slider(c));
    this.panel.append(this.buttons(), this.switches(), element("div", { class: "sliders" }, ...folded(this.inputs.map((one) => one.row))));
    const held = scene.coordinates.length - this.inputs.length;
    if (held) this.panel.append(element("p", { class: "note" }, `Not adjustable here: ${held} coordinates of the floating base or of ball joints.`));
    this.set(this.q);
  }

  slider(c) {
    const id = freshId("joint");
    const input = element("input", { type: "range", id, min: c.lower, max: c.upper, step: "any", "data-q": c.q, "aria-describedby": `${id}-value` });
    const told = element("output", { id: `${id}-value`, for: id });
    input.addEventListener("input", () => {
      this.q[c.q] = Number(input.value);
      this.set(this.q);
    });
    const step = (c.upper - c.lower) / 50;
    input.addEventListener("keydown", (event) => {
      // with step="any" an arrow key would move by one unit; here it moves by a fiftieth of the range
      const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 5, PageDown: -5 }[event.key];
      if (!way) return;
      event.preventDefault();
      this.q[c.q] = Math.min(Math.max(this.q[c.q] + way * step, c.lower), c.upper);
      this.set(this.q);
    });
    const row = element("div", { class: "slider" }, element("label", { for: id, title: c.name }, c.name), told, input);
    return { c, input, told, row };
  }

  buttons() {
    const random = () => {
      for (const { c } of this.inputs) this.q[c.q] = c.lower + Math.random() * (c.upper - c.lower);
      this.set(this.q);
    };
    const button = (text, onclick, title) => element("button", { type: "button", onclick, title }, text);
    return element(
      "div", { class: "buttons" },
      button("Home", () => this.set([...this.scene.home]), HOME), button("Random pose", random), button("Reset view", () => this.view.resetView()),
    );
  }

  switches() {
    const boxes = Object.entries(LAYERS).map(([layer, name]) => {
      const id = freshId("layer");
      const box = element("input", { type: "checkbox", id, "data-layer": layer, checked: layer === "links" });
      box.addEventListener("change", () => this.view.show(layer, box.checked));
      return element("div", {}, box, element("label", { for: id }, name));
    });
    return element("fieldset", { class: "switches" }, element("legend", {}, "Show"), ...boxes);
  }

  poseTable() {
    this.rows = new Map();
    const body = element("tbody");
    for (const { name } of this.scene.frames) {
      const cells = Array.from({ length: 6 }, () => element("td", { class: "number" }));
      body.append(element("tr", {}, element("th", { scope: "row" }, name), ...cells));
      this.rows.set(name, cells);
    }
    const head = ["link", "x [m]", "y [m]", "z [m]", "roll [rad]", "pitch [rad]", "yaw [rad]"].map((cell) => element("th", { scope: "col" }, cell));
    const table = element("table", { "aria-label": "Poses of the links in the world frame" }, element("thead", {}, element("tr", {}, ...head)), body);
    this.details = element("details", { class: "poses" }, element("summary", {}, "Link poses in the world frame, in the current configuration"),
      element("div", { class: "wide tall", tabindex: 0, role: "region", "aria-label": "Poses of the links" }, table));
    this.details.addEventListener("toggle", () => this.tell());
    return this.details;
  }

  set(q) {
    this.q = [...q];
    for (const { c, input, told } of this.inputs) {
      input.value = this.q[c.q];
      told.textContent = `${this.q[c.q].toFixed(3).replace("-", "−")} ${c.unit}`;
    }
    this.view.set(this.q);
    this.tell();
    this.onPicked?.();
  }

  tell() {
    const poses = this.view.frames();
    const X = poses.get(this.scene.tip);
    this.tip.textContent = `${this.scene.tip} at (${[X[3], X[7], X[11]].map((x) => x.toFixed(3).replace("-", "−")).join(", ")}) m${this.aboveFloor}`;
    if (!this.details.open) return;
    for (const [name, cells] of this.rows) {
      const pose = poses.get(name);
      [pose[3], pose[7], pose[11], ...rollPitchYaw(pose)].forEach((x, k) => (cells[k].textContent = number(Math.abs(x) < 1e-12 ? 0 : x, 5)));
    }
  }
}

// on a phone only the first of many sliders are open; the style keeps all of them open in a wide window
function folded(rows) {
  if (rows.length <= MOST_OPEN + 2) return rows;
  const more = element("details", { class: "more" }, element("summary", {}, `${rows.length - MOST_OPEN} more joints`), ...rows.slice(MOST_OPEN));
  return [...rows.slice(0, MOST_OPEN), more];
}
