// Lines over a common axis: uPlot with the page's colours, a choice of views, keyboard and data.

import uPlot from "uplot";
import { chooser, dataTable, element, number } from "dynamis/elements";
import { colour, onThemeChange, seriesColours } from "dynamis/theme";

const HEIGHT = 280;
const FONT = '12px system-ui, -apple-system, "Segoe UI", sans-serif';

export class LinePlot {
  constructor(figure, data) {
    this.data = data;
    this.view = 0;
    this.chart = null;
    this.place = element("div", { class: "chart", tabindex: 0, role: "img", "aria-label": `${data.title}. ${data.summary} Arrow keys move along the lines.` });
    const choice = chooser(data.choose || "view", data.views.map((view) => view.name), (k) => {
      this.view = k;
      this.draw();
    });
    const table = dataTable(data.title, () => this.rows());
    figure.querySelector(".place").replaceChildren(...[choice, this.place].filter(Boolean));
    figure.append(table);
    this.place.addEventListener("keydown", (event) => this.key(event));
    onThemeChange(() => this.draw());
    new ResizeObserver(() => this.resize()).observe(this.place);
    this.draw();
  }

  rows() {
    const view = this.data.views[this.view];
    const names = Object.keys(view.series);
    return { header: [this.xLabel(), ...names], body: view.x.map((x, k) => [x, ...names.map((name) => view.series[name][k])]) };
  }

  xLabel() {
    return this.data.xLabel || this.data.views[this.view].name;
  }

  yLabel() {
    const unit = this.data.yLabel.includes("[") ? null : /\[[^\]]*\]$/.exec(this.data.views[this.view].name);
    return unit ? `${this.data.yLabel} ${unit[0]}` : this.data.yLabel;
  }

  draw() {
    const view = this.data.views[this.view];
    const colours = seriesColours();
    const axis = { stroke: colour("quiet"), grid: { stroke: colour("grid"), width: 1 }, ticks: { stroke: colour("grid"), width: 1 }, font: FONT, labelFont: FONT, labelSize: 22 };
    const names = Object.keys(view.series);
    const options = {
      width: Math.max(this.place.clientWidth, 200),
      height: HEIGHT,
      scales: { x: { time: false }, y: this.data.logarithmic ? { distr: 3 } : { range: (_, low, high) => padded(low, high) } },
      axes: [
        { ...axis, label: this.xLabel(), size: 34, values: (_, ticks) => (ticks ?? []).map((x) => number(x)) },
        { ...axis, label: this.yLabel(), size: 66, values: (_, ticks) => (ticks ?? []).map((x) => (x == null ? "" : number(x))) },
      ],
      series: [
        { label: this.xLabel(), value: (_, x) => number(x) },
        ...names.map((name, k) => ({
          label: name,
          stroke: colours[k % colours.length],
          width: 2,
          dash: k >= colours.length || name === "work put in" || name === "torque" ? [6, 4] : undefined,
          value: (_, y) => number(y),
          points: { show: false },
        })),
      ],
      cursor: { sync: this.data.player ? { key: this.data.player, setSeries: false } : undefined, points: { size: 7 } },
      legend: { live: true },
    };
    this.chart?.destroy();
    this.chart = new uPlot(options, [view.x, ...names.map((name) => view.series[name])], this.place);
    // the entries of the legend switch lines on and off: by keyboard too
    for (const entry of this.place.querySelectorAll(".u-legend th")) {
      entry.tabIndex = 0;
      entry.setAttribute("role", "button");
      entry.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          event.stopPropagation();
          entry.click();
        }
      });
    }
  }

  // put the cursor at a value of x
  mark(x) {
    if (!this.chart) return;
    const left = this.chart.valToPos(x, "x");
    const index = this.chart.valToIdx(x);
    this.chart.setCursor({ left, top: this.chart.bbox.height / devicePixelRatio / 2 }, false);
    this.chart.setLegend({ idx: index }, false);
    this.index = index;
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

function padded(low, high) {
  if (low == null || high == null) return [0, 1];
  const size = Math.max(Math.abs(low), Math.abs(high), 1e-300);
  // what differs by rounding alone is one value
  const room = high - low < 1e-9 * size ? 0.5 * size : 0.06 * (high - low);
  return [low - room, high + room];
}
