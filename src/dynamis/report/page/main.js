// Brings a report to life: each figure says what it is, and finds its data by the name of its section.

import { markScrolling } from "dynamis/elements";
import { themeButton } from "dynamis/theme";

const held = new Map();

function dataOf(place) {
  const [section, key] = place.dataset.source.split("/");
  if (!held.has(section)) held.set(section, JSON.parse(document.getElementById(`data-${section}`).textContent));
  return held.get(section)[key];
}

function figures(kind) {
  return [...document.querySelectorAll(`[data-component="${kind}"]`)];
}

// made when they come near, so that a long report opens at once
function whenNear(place, make) {
  const watch = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    watch.disconnect();
    make();
  }, { rootMargin: "600px" });
  watch.observe(place);
  addEventListener("beforeprint", () => {
    watch.disconnect();
    make();
  });
}

function once(make) {
  let made;
  return () => (made ??= make());
}

async function start() {
  themeButton(document.getElementById("theme"));
  const report = { players: new Map() };
  const robots = figures("robot"), players = figures("player");
  const scene = JSON.parse(document.getElementById("data-scene")?.textContent ?? "null");
  if (document.querySelector(".math")) (await import("dynamis/equation")).typesetPage(document.body);
  if (robots.length || players.length) {
    try {
      const [{ RobotPanel }, { Player }] = await Promise.all([import("dynamis/sliders"), import("dynamis/player")]);
      for (const place of robots) report.panel = new RobotPanel(place.querySelector(".place"), scene);
      for (const place of players) {
        const motion = dataOf(place);
        whenNear(place, once(() => {
          const player = new Player(place.querySelector(".place"), motion, scene);
          report.players.set(motion.name, player);
          player.plots = (report.plots ?? []).filter((plot) => plot.data.player === motion.name);
        }));
      }
    } catch (error) {
      // without WebGL there is no view; everything else is still worth reading
      for (const place of [...robots, ...players]) place.querySelector(".place").textContent = `The view in space needs WebGL: ${error.message}`;
    }
  }
  await drawPlots(report);
  await drawMaps(report);
  markScrolling();
  addEventListener("resize", () => markScrolling());
  document.addEventListener("toggle", (event) => markScrolling(event.target), true);
  window.dynamisReport = report;
  document.documentElement.dataset.ready = "";
}

async function drawPlots(report) {
  const places = figures("plot");
  report.plots = [];
  if (!places.length) return;
  const { LinePlot } = await import("dynamis/plot");
  for (const place of places) {
    const data = dataOf(place);
    whenNear(place, once(() => {
      const plot = new LinePlot(place, data);
      report.plots.push(plot);
      report.players.get(data.player)?.plots.push(plot);
    }));
  }
}

async function drawMaps(report) {
  const places = figures("heatmap");
  if (!places.length) return;
  const { HeatMap } = await import("dynamis/heatmap");
  for (const place of places) {
    const data = dataOf(place);
    const pick = (joints, { x, y }) => {
      const q = [...report.panel.q];
      [q[joints[0]], q[joints[1]]] = [x, y];
      report.panel.set(q);
    };
    whenNear(place, once(() => new HeatMap(place, data, { onPick: data.joints && report.panel ? pick : undefined })));
  }
}

start();
