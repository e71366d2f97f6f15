// Lines over a common axis: uPlot with the page's colours, a legend with line samples, a choice of views, keyboard and data.

import uPlot from "uplot";
import { chooser, dataTable, element, number } from "dynamis/elements";
import { colour, onThemeChange, seriesColours } from "dynamis/theme";

const HEIGHT = 280;
const FONT = '12px system-ui, -apple-system, "Segoe UI", sans-serif';
// lines differ in dash and in colour: neither alone has to be told apart
const DASHES = [[], [9, 4], [2, 3], [12, 3, 2, 3], [5, 5], [14, 5], [8, 3, 2, 3, 2, 3], [1, 4]];

export class LinePlot {
  constructor(figure, data) {
    this.data = data;
    this.view = 0;
    this.chart = null;
    this.hidden = new Set();
    this.place = element("div", { class: "chart", tabindex: 0, role: "img", style: `height: ${HEIGHT}px`, "aria-label": `${data.title}. ${data.summary} Arrow keys move the cursor.` });
    this.legend = element("div", { class: "legend" });
    const choice = chooser(data.choose || "view", data.views.map((view) => view.name), (k) => {
      this.view = k;
      this.hidden.clear();
      this.fillLegend();
      this.draw();
    });
    figure.querySelector(".place").replaceChildren(...[choice, this.place, this.legend].filter(Boolean));
    figure.append(dataTable(data.title, () => this.rows()));
    this.place.addEventListener("keydown", (event) => this.key(event));
    this.fillLegend();
  }

  // draw for the first time: until then the figure has its size, and nothing in it
  show() {
    this.shown = true;
    onThemeChange(() => {
      this.fillLegend();
      this.draw();
    });
    new ResizeObserver(() => this.resize()).observe(this.place);
    this.draw();
  }

  get names() {
    return Object.keys(this.data.views[this.view].series);
  }

  rows() {
    const view = this.data.views[this.view];
    return { header: [this.xLabel(), ...this.names], body: view.x.map((x, k) => [x, ...this.names.map((name) => view.series[name][k])]) };
  }

  xLabel() {
    return this.data.xLabel || this.data.views[this.view].name;
  }

  yLabel() {
    return this.data.views[this.view].yLabel || this.data.yLabel;
  }

  // a sample of each line with its name, which switches the line on and off, and its value at the cursor
  fillLegend() {
    const colours = seriesColours();
    this.told = this.names.map(() => element("span", { class: "value" }));
    const entries = this.names.map((name, k) => {
      const entry = element("button", { type: "button", "aria-pressed": String(!this.hidden.has(name)) }, sample(colours[k % colours.length], DASHES[k % DASHES.length]), element("span", {}, ...breakable(name)), this.told[k]);
      entry.addEventListener("click", () => {
        this.hidden[this.hidden.has(name) ? "delete" : "add"](name);
        entry.setAttribute("aria-pressed", String(!this.hidden.has(name)));
        this.chart?.setSeries(k + 1, { show: !this.hidden.has(name) });
      });
      return entry;
    });
    this.at = element("span", { class: "at" });
    this.legend.replaceChildren(...entries, this.at);
  }

  draw() {
    if (!this.shown) return;
    const view = this.data.views[this.view];
    const colours = seriesColours();
    const axis = { stroke: colour("quiet"), grid: { stroke: colour("grid"), width: 1 }, ticks: { stroke: colour("grid"), width: 1 }, font: FONT, labelFont: FONT, labelSize: 22 };
    const options = {
      width: Math.max(this.place.clientWidth, 200),
      height: this.place.clientHeight || HEIGHT,
      scales: { x: { time: false }, y: this.data.logarithmic ? { distr: 3 } : { range: (_, low, high) => padded(low, high) } },
      axes: [
        { ...axis, label: this.xLabel(), size: 34, values: (_, ticks) => (ticks ?? []).map((x) => number(x)) },
        { ...axis, label: this.yLabel(), size: 66, values: (_, ticks) => (ticks ?? []).map((x) => (x == null ? "" : number(x))) },
      ],
      series: [
        {},
        ...this.names.map((name, k) => ({
          stroke: colours[k % colours.length],
          width: 2,
          dash: DASHES[k % DASHES.length],
          show: !this.hidden.has(name),
          points: { show: false },
          pxAlign: 0,
        })),
      ],
      // no horizontal line: the cursor that follows a motion has a time, and no value
      cursor: { y: false, sync: this.data.player ? { key: this.data.player, setSeries: false } : undefined, points: { size: 7 } },
      legend: { show: false },
      hooks: { setCursor: [(chart) => this.tell(chart.cursor.idx)] },
    };
    this.chart?.destroy();
    this.chart = new uPlot(options, [view.x, ...this.names.map((name) => view.series[name])], this.place);
  }

  // the values at a point of the lines, in the legend
  tell(index) {
    const view = this.data.views[this.view];
    const known = index != null && view.x[index] != null;
    this.names.forEach((name, k) => (this.told[k].textContent = known ? number(view.series[name][index], 3) : ""));
    const [, label, unit] = /^(.*?)(?: \[(.*)\])?$/.exec(this.xLabel());
    this.at.textContent = known ? `at ${label} = ${number(view.x[index])}${unit ? ` ${unit}` : ""}` : "";
  }

  // put the cursor at a value of x
  mark(x) {
    if (!this.chart) return;
    const left = this.chart.valToPos(x, "x");
    this.index = this.chart.valToIdx(x);
    this.chart.setCursor({ left, top: this.chart.bbox.height / devicePixelRatio / 2 }, false);
    this.tell(this.index);
  }

  key(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1, PageUp: 10, PageDown: -10 }[event.key];
    if (!step) return;
    event.preventDefault();
    const x = this.data.views[this.view].x;
    this.mark(x[Math.min(Math.max((this.index ?? 0) + step, 0), x.length - 1)]);
  }

  resize() {
    const width = this.place.clientWidth;
    if (this.chart && width > 0 && Math.abs(width - this.chart.width) > 1) this.chart.setSize({ width, height: HEIGHT });
  }
}

// a name that may be broken after its underscores, and not within words
function breakable(name) {
  return name.split(/(?<=_)/).flatMap((part) => [part, document.createElement("wbr")]);
}

function sample(stroke, dash) {
  const make = (tag, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  };
  const picture = make("svg", { width: 30, height: 8, "aria-hidden": "true" });
  picture.append(make("line", { x1: 0, y1: 4, x2: 30, y2: 4, stroke, "stroke-width": 2.5, "stroke-dasharray": dash.join(" ") }));
  return picture;
}

function padded(low, high) {
  if (low == null || high == null) return [0, 1];
  const size = Math.max(Math.abs(low), Math.abs(high), 1e-300);
  // values that differ by rounding errors alone are one value
  const room = high - low < 1e-9 * size ? 0.5 * size : 0.06 * (high - low);
  return [low - room, high + room];
}
