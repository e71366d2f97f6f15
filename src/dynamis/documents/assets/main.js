// Starts a report: builds the layout of every figure at once, and draws a figure when it comes near the window.

import { markScrolling } from "dynamis/elements";
import { followSections } from "dynamis/navigation";
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

// drawing, and WebGL above all, waits until a figure is near, so that a long report opens at once
function whenNear(place, draw) {
  let drawn = false;
  const once = () => {
    watch.disconnect();
    if (drawn) return;
    drawn = true;
    draw();
    place.dataset.drawn = "";
  };
  const watch = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && once(), { rootMargin: "600px" });
  watch.observe(place);
  addEventListener("beforeprint", once);
}

async function start() {
  themeButton(document.getElementById("theme"));
  const report = { players: new Map(), plots: [] };
  const robots = figures("robot"), players = figures("player");
  const scene = JSON.parse(document.getElementById("data-scene")?.textContent ?? "null");
  if (document.querySelector(".math")) (await import("dynamis/equation")).typesetPage(document.body);
  if (robots.length || players.length) {
    try {
      const [{ RobotPanel }, { Player }] = await Promise.all([import("dynamis/sliders"), import("dynamis/player")]);
      for (const place of robots) {
        report.panel = new RobotPanel(place.querySelector(".place"), scene);
        place.dataset.drawn = "";
      }
      for (const place of players) {
        const motion = dataOf(place);
        // a legged robot that is released has another base than the one in the first view
        const player = new Player(place.querySelector(".place"), motion, { ...scene, ...motion.scene });
        report.players.set(player.motion.name, player);
        whenNear(place, () => player.show());
      }
    } catch (error) {
      // without WebGL there is no 3-D view; the rest of the report does not need it
      for (const place of [...robots, ...players]) place.querySelector(".place").textContent = `The 3-D view needs WebGL: ${error.message}`;
      for (const place of robots) place.querySelector("figcaption").remove(); // how to turn the view
    }
  }
  await addPlots(report);
  const picked = await addMaps(report);
  if (report.panel && picked.length) (await import("dynamis/dock")).dock(report.panel, picked);
  markScrolling();
  addEventListener("resize", () => markScrolling());
  document.addEventListener("toggle", (event) => markScrolling(event.target), true);
  followSections(document.querySelector("nav"));
  // the layout was not complete when the browser went to the address's section
  if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView({ behavior: "instant" });
  window.dynamisReport = report;
  document.documentElement.dataset.ready = "";
}

async function addPlots(report) {
  const places = figures("plot");
  if (!places.length) return;
  const { LinePlot } = await import("dynamis/plot");
  for (const place of places) {
    const data = dataOf(place);
    const plot = new LinePlot(place, data);
    report.plots.push(plot);
    report.players.get(data.player)?.plots.push(plot);
    whenNear(place, () => plot.show());
  }
}

// the figures whose cells are configurations of the robot
async function addMaps(report) {
  const places = figures("heatmap"), picked = [];
  if (!places.length) return picked;
  const { HeatMap } = await import("dynamis/heatmap");
  for (const place of places) {
    const data = dataOf(place);
    const moves = report.panel && data.views.every((view) => view.joints || view.q);
    const map = new HeatMap(place, data, moves ? { onPick: (cell) => report.panel.set(configuration(report.panel, cell)) } : {});
    if (moves) picked.push(place);
    whenNear(place, () => map.show());
  }
  return picked;
}

// what the robot's q becomes: two joints of it, or all of them
function configuration(panel, { joints, x, y, share }) {
  const q = [...panel.q];
  if (joints) [q[joints[0]], q[joints[1]]] = [x, y];
  else panel.scene.coordinates.forEach((c, k) => (q[c.q] = c.lower + share[k] * (c.upper - c.lower)));
  return q;
}

start();
