// An animation of a motion: 3-D view, time slider, and a cursor in the plots of the motion.

import { element, freshId } from "dynamis/elements";
import { calm } from "dynamis/theme";
import { RobotView } from "dynamis/view3d";

export class Player {
  constructor(place, motion, scene) {
    Object.assign(this, { motion, scene, time: motion.times[0], plots: [], playing: null });
    this.stage = element("div", { class: "stage" });
    this.button = element("button", { type: "button", "aria-pressed": "false", onclick: () => this.toggle() }, "Play");
    const id = freshId("time");
    const last = motion.times[motion.times.length - 1];
    this.range = element("input", { type: "range", id, min: motion.times[0], max: last, step: last / 400, value: 0 });
    this.range.addEventListener("input", () => {
      this.pause();
      this.seek(Number(this.range.value));
    });
    this.told = element("output", { for: id });
    const speedId = freshId("speed");
    this.speed = element("select", { id: speedId }, ...[["0.25", "¼ ×"], ["0.5", "½ ×"], ["1", "1 ×"], ["2", "2 ×"]].map(([value, text]) => element("option", { value, selected: value === "1" }, text)));
    place.replaceChildren(this.stage, element("div", { class: "transport" }, this.button, element("label", { for: id }, "Time"), this.range, this.told, element("span", { class: "pace" }, element("label", { for: speedId }, "Speed"), this.speed)));
    this.told.textContent = "0.00 s";
  }

  // create the view: until then its place is reserved
  show() {
    if (this.view) return;
    this.view = new RobotView(this.stage, this.scene, { label: this.motion.title, frames: false, motion: this.motion.q });
    this.seek(this.time);
    this.view.draw();
  }

  toggle() {
    this.show();
    if (this.playing) return this.pause();
    const end = this.motion.times[this.motion.times.length - 1];
    if (this.time >= end - 1e-9) this.seek(this.motion.times[0]);
    // where the system asks for reduced motion: ten pictures per second
    const least = calm() ? 0.1 : 0;
    let before = null, shown = 0;
    const step = (now) => {
      if (before === null) before = shown = now;
      this.time = Math.min(this.time + ((now - before) / 1000) * Number(this.speed.value), end);
      before = now;
      if (now - shown >= 1000 * least || this.time >= end) {
        this.seek(this.time);
        shown = now;
      }
      if (this.time >= end) this.pause();
      else this.playing = requestAnimationFrame(step);
    };
    this.button.textContent = "Pause";
    this.button.setAttribute("aria-pressed", "true");
    this.playing = requestAnimationFrame(step);
  }

  pause() {
    if (this.playing) cancelAnimationFrame(this.playing);
    this.playing = null;
    this.button.textContent = "Play";
    this.button.setAttribute("aria-pressed", "false");
  }

  seek(time) {
    this.show();
    const { times, q } = this.motion;
    let k = times.findIndex((t) => t > time) - 1;
    if (k < 0) k = time <= times[0] ? 0 : times.length - 2;
    const share = Math.min(Math.max((time - times[k]) / (times[k + 1] - times[k]), 0), 1);
    this.time = time;
    this.view.set(q[k].map((x, i) => x + share * (q[k + 1][i] - x)));
    this.range.value = time;
    this.told.textContent = `${time.toFixed(2)} s`;
    for (const plot of this.plots) plot.mark(time);
  }
}
