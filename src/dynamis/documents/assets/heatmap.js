// A map of colours over a rectangle, with axes, colour bar, crosshair for pointer and keyboard, and data.

import { chooser, dataTable, element, number } from "dynamis/elements";
import { colour, onThemeChange } from "dynamis/theme";

const RISING = ["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"];
// values of both signs: two colours, by sign
const TWO_SIDED = {
  light: ["#0b3c6e", "#2b6ca8", "#8fbce2", "#f4f4f2", "#ecab9b", "#c0503c", "#7d1d10"],
  dark: ["#a9d6ff", "#4f95d8", "#2a4d70", "#1f252b", "#74392e", "#d9664f", "#ffb8a6"],
};
const EDGE = { left: 58, right: 92, top: 12, bottom: 46 };
const TALLEST = 420;
const TOUCH = matchMedia("(hover: none), (pointer: coarse)").matches;
const READ = TOUCH ? "Tap the map to read values." : "Move the pointer over the map to read values.";
const PICK = `${TOUCH ? "Tap" : "Click"} the map to read a value and to show the configuration in the 3-D view.`;
const FONT = '12px system-ui, -apple-system, "Segoe UI", sans-serif';

export class HeatMap {
  constructor(figure, data, { onPick } = {}) {
    this.data = data;
    this.chosen = 0;
    this.cell = null;
    this.onPick = onPick;
    this.canvas = element("canvas", { class: "map", tabindex: 0, role: "img" });
    this.told = element("output", { class: "reading" }, onPick ? PICK : READ);
    this.key = element("p", { class: "key" });
    this.caption = figure.querySelector("figcaption");
    const choice = chooser(data.choose || "view", data.views.map((view) => view.name), (k) => {
      this.chosen = k;
      this.describe();
      this.draw();
      this.tell();
    });
    figure.querySelector(".place").replaceChildren(...[choice, this.canvas, this.key, this.told].filter(Boolean));
    figure.append(dataTable(data.title, () => this.rows()));
    this.canvas.addEventListener("pointermove", (event) => event.pointerType === "mouse" && this.point(event));
    this.canvas.addEventListener("keydown", (event) => this.press(event));
    this.canvas.addEventListener("click", (event) => this.point(event) && this.pick());
    new ResizeObserver(() => this.draw()).observe(this.canvas.parentElement);
    this.describe();
    this.draw();
  }

  // draw for the first time: until then the figure has its size, and nothing in it
  show() {
    this.shown = true;
    onThemeChange(() => this.draw());
    this.draw();
  }

  get view() {
    return this.data.views[this.chosen];
  }

  get values() {
    return this.view.values;
  }

  describe() {
    this.canvas.setAttribute("aria-label", `${this.data.title}. ${this.view.summary} Arrow keys move the crosshair${this.onPick ? ", Enter shows the configuration" : ""}.`);
    this.caption.textContent = this.view.summary;
    const empty = this.values.some((row) => row.includes(null));
    this.key.hidden = !empty;
    this.key.replaceChildren(...(empty ? [element("span", { class: "swatch" }), `no value: ${this.data.empty || "not defined here"}`] : []));
  }

  rows() {
    const { columns, rows } = this.size();
    const xs = Array.from({ length: columns }, (_, i) => this.centre(i, 0).x);
    const body = this.values.map((row, j) => [this.centre(0, j).y, ...row]);
    return { header: [`${this.view.yLabel} \\ ${this.view.xLabel}`, ...xs.map((x) => number(x, 3))], body: rows ? body : [] };
  }

  size() {
    return { columns: this.values[0].length, rows: this.values.length };
  }

  centre(i, j) {
    const { columns, rows } = this.size();
    const [x0, x1] = this.view.x, [y0, y1] = this.view.y;
    return { x: x0 + ((i + 0.5) * (x1 - x0)) / columns, y: y0 + ((j + 0.5) * (y1 - y0)) / rows };
  }

  // the colour of a number, and the ends of the scale; numbers of both signs get two colours
  scale() {
    const known = this.values.flat().filter((x) => x != null).sort((a, b) => a - b);
    let low = known[0] ?? 0;
    let high = known[known.length - 1] ?? 1;
    if (low < 0 && high > 0 && -low > 0.05 * high && high > 0.05 * -low) {
      const end = Math.max(-low, high);
      return { low: -end, high: end, of: ramp(TWO_SIDED[colour("scheme")]) };
    }
    // a constant gets a scale around it
    if (!(high - low > 1e-6 * Math.max(Math.abs(low), Math.abs(high)))) [low, high] = [low - 0.5 * (Math.abs(low) || 1), high + 0.5 * (Math.abs(high) || 1)];
    return { low, high, of: ramp(RISING) };
  }

  layout() {
    const width = Math.max(this.canvas.parentElement.clientWidth, 200);
    let w = width - EDGE.left - EDGE.right;
    let h = Math.min(Math.max(0.62 * w, 200), 360);
    if (this.data.square) {
      const ratio = (this.view.y[1] - this.view.y[0]) / Math.max(this.view.x[1] - this.view.x[0], 1e-12);
      h = w * ratio;
      if (h > TALLEST) [w, h] = [TALLEST / ratio, TALLEST];
    }
    return { width, height: h + EDGE.top + EDGE.bottom, w, h };
  }

  draw() {
    const { width, height, w, h } = this.layout();
    const sharp = devicePixelRatio || 1;
    this.canvas.width = Math.round(width * sharp);
    this.canvas.height = Math.round(height * sharp);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    if (!this.shown) return;
    const g = this.canvas.getContext("2d");
    g.scale(sharp, sharp);
    const scale = (this.shown = this.scale());
    // smooth where the values are a function of the position; samples stay cells
    g.imageSmoothingEnabled = !this.data.square;
    g.imageSmoothingQuality = "high";
    g.drawImage(this.picture(scale), EDGE.left, EDGE.top, w, h);
    g.font = FONT;
    g.fillStyle = g.strokeStyle = colour("quiet");
    g.lineWidth = 1;
    g.strokeRect(EDGE.left + 0.5, EDGE.top + 0.5, w - 1, h - 1);
    this.axes(g, w, h);
    this.bar(g, w, h, scale);
    if (this.cell) this.crosshair(g, w, h);
  }

  picture(scale) {
    const { columns, rows } = this.size();
    const off = element("canvas", { width: columns, height: rows });
    const g = off.getContext("2d");
    const image = g.createImageData(columns, rows);
    const empty = rgb(colour("empty"));
    this.values.forEach((row, j) =>
      row.forEach((x, i) => {
        const at = 4 * ((rows - 1 - j) * columns + i);
        image.data.set([...(x == null ? empty : scale.of((x - scale.low) / (scale.high - scale.low))), 255], at);
      }),
    );
    g.putImageData(image, 0, 0);
    return off;
  }

  axes(g, w, h) {
    g.textAlign = "center";
    g.textBaseline = "top";
    for (const x of ticks(...this.view.x, w / 70)) {
      const at = EDGE.left + ((x - this.view.x[0]) / (this.view.x[1] - this.view.x[0])) * w;
      g.fillRect(at, EDGE.top + h, 1, 4);
      g.fillText(number(x, 3), at, EDGE.top + h + 7);
    }
    g.fillText(this.view.xLabel, EDGE.left + w / 2, EDGE.top + h + 26);
    g.textAlign = "right";
    g.textBaseline = "middle";
    for (const y of ticks(...this.view.y, h / 45)) {
      const at = EDGE.top + h - ((y - this.view.y[0]) / (this.view.y[1] - this.view.y[0])) * h;
      g.fillRect(EDGE.left - 4, at, 4, 1);
      g.fillText(number(y, 3), EDGE.left - 7, at);
    }
    g.save();
    g.translate(12, EDGE.top + h / 2);
    g.rotate(-Math.PI / 2);
    g.textAlign = "center";
    g.fillText(this.view.yLabel, 0, 0);
    g.restore();
  }

  bar(g, w, h, scale) {
    const left = EDGE.left + w + 14;
    for (let k = 0; k < h; k++) {
      g.fillStyle = `rgb(${scale.of(1 - k / h).join(",")})`;
      g.fillRect(left, EDGE.top + k, 12, 1.5);
    }
    g.fillStyle = colour("quiet");
    g.textAlign = "left";
    g.textBaseline = "middle";
    let widest = 0;
    for (const value of ticks(scale.low, scale.high, h / 45)) {
      const at = EDGE.top + h - ((value - scale.low) / (scale.high - scale.low)) * h;
      g.fillRect(left + 12, at, 4, 1);
      g.fillText(number(value, 3), left + 19, at);
      widest = Math.max(widest, g.measureText(number(value, 3)).width);
    }
    if (this.view.unit) {
      g.save();
      g.translate(left + 29 + widest, EDGE.top + h / 2);
      g.rotate(-Math.PI / 2);
      g.textAlign = "center";
      g.fillText(this.view.unit, 0, 0);
      g.restore();
    }
  }

  crosshair(g, w, h) {
    const { columns, rows } = this.size();
    const x = EDGE.left + ((this.cell.i + 0.5) / columns) * w, y = EDGE.top + h - ((this.cell.j + 0.5) / rows) * h;
    for (const [stroke, width] of [["#fff", 3], ["#000", 1]]) {
      g.strokeStyle = stroke;
      g.lineWidth = width;
      g.beginPath();
      g.arc(x, y, 5, 0, 2 * Math.PI);
      g.stroke();
    }
  }

  point(event) {
    const { w, h } = this.layout();
    const box = this.canvas.getBoundingClientRect();
    const { columns, rows } = this.size();
    const i = Math.floor(((event.clientX - box.left - EDGE.left) / w) * columns);
    const j = Math.floor(((EDGE.top + h - (event.clientY - box.top)) / h) * rows);
    if (i < 0 || j < 0 || i >= columns || j >= rows) return false;
    this.cell = { i, j };
    this.draw();
    this.tell();
    return true;
  }

  tell() {
    if (!this.cell) return;
    const { i, j } = this.cell, { x, y } = this.centre(i, j);
    const value = this.values[j][i];
    this.told.textContent = `${this.view.xLabel} = ${number(x, 3)}, ${this.view.yLabel} = ${number(y, 3)}: ${value == null ? "no value" : `${number(value)} ${this.view.unit}`}`;
  }

  press(event) {
    if (event.key === "Enter") return this.pick();
    const move = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!move) return;
    event.preventDefault();
    const { columns, rows } = this.size();
    const { i, j } = this.cell ?? { i: columns >> 1, j: rows >> 1 };
    this.cell = { i: Math.min(Math.max(i + move[0], 0), columns - 1), j: Math.min(Math.max(j + move[1], 0), rows - 1) };
    this.draw();
    this.tell();
  }

  // hand over what the cell stands for: two joint positions, or the fractions of all joint ranges
  pick() {
    if (!this.cell || !this.onPick) return;
    const { i, j } = this.cell, { joints, q } = this.view;
    if (joints) return this.onPick({ joints, ...this.centre(i, j) });
    if (this.values[j][i] == null) return;
    const { columns, rows } = this.size();
    this.levels ??= new Map();
    if (!this.levels.has(q)) this.levels.set(q, new Uint16Array(Uint8Array.from(atob(q), (c) => c.charCodeAt(0)).buffer));
    const levels = this.levels.get(q), n = levels.length / (columns * rows), at = n * (j * columns + i);
    this.onPick({ share: Array.from(levels.subarray(at, at + n), (x) => x / 65535) });
  }
}

function rgb(hex) {
  return [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
}

function ramp(stops) {
  const points = stops.map(rgb);
  return (share) => {
    const at = Math.min(Math.max(share || 0, 0), 1) * (points.length - 1);
    const k = Math.min(Math.floor(at), points.length - 2);
    return points[k].map((x, c) => Math.round(x + (at - k) * (points[k + 1][c] - x)));
  };
}

// round numbers between two ends, about so many and at least three
export function ticks(low, high, about) {
  const raw = (high - low) / Math.max(about, 1);
  if (!(raw > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const steps = [10, 5, 2, 1, 0.5, 0.2].map((k) => k * power);
  // the widest step at least as wide as asked for, or the next ones where fewer than three numbers would be left
  let made = [];
  for (let i = steps.findLastIndex((x) => x >= raw * (1 - 1e-9)); i < steps.length && made.length < 3; i++) {
    const step = steps[i];
    made = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) made.push(Math.abs(k * step) < 1e-12 * step ? 0 : k * step);
  }
  return made;
}
