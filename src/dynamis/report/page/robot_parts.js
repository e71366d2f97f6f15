// What a robot is drawn with: a tube from joint to joint, a cylinder about each axis, and what can be shown besides.

import * as THREE from "three";

const LINKS = [0xe4e8ec, 0xa9bccf];
const JOINT = 0x3273b0, SLIDE = 0xc9543f, BASE = 0x6b7783, MASS = 0xf2b134, ELLIPSOID = 0x7a4fb0;
const RADIUS = 0.036; // of a tube, of the reach, where all mass is still to come
const NEAR = 1e-4; // of the reach: what lies so close is at the same place

export function buildRobot(scene) {
  const bodies = [null, ...scene.bodies].map(() => {
    const group = new THREE.Group();
    group.matrixAutoUpdate = false;
    return group;
  });
  const layers = { links: new Layer(), frames: new Layer(), masses: new Layer(), ellipsoids: new Layer() };
  const moving = [];
  const radius = radii(scene);
  const solid = new Set(scene.shapes.map((shape) => shape.frame));
  const drawn = new Set(scene.frames.filter((frame) => solid.has(frame.name)).map((frame) => frame.body));
  bodies.forEach((group, k) => {
    if (!drawn.has(k)) for (const end of ends(scene, k)) add(layers.links, group, tube([0, 0, 0], end, radius[k], k ? LINKS[k % 2] : BASE));
    if (k && !drawn.has(k)) add(layers.links, group, jointMark(scene.bodies[k - 1], radius[k]));
  });
  scene.bodies.forEach((body, k) => {
    if (body.kind === "prismatic") moving.push(rail(body, bodies, radius[k + 1], layers.links));
  });
  for (const shape of scene.shapes) shapeOf(scene, shape, bodies, layers.links);
  for (const frame of scene.frames) add(layers.frames, bodies[frame.body], placed(new THREE.AxesHelper(0.11 * scene.reach), frame.pose));
  for (const mass of scene.masses) massMarks(scene, mass, bodies[mass.body], layers);
  layers.frames.visible = layers.masses.visible = layers.ellipsoids.visible = false;
  return { bodies, layers, moving };
}

// things that are shown and hidden together, wherever in the tree they hang
class Layer {
  constructor() {
    this.things = [];
  }
  set visible(on) {
    this.shown = on;
    for (const thing of this.things) thing.visible = on;
  }
  get visible() {
    return this.shown ?? true;
  }
}

function add(layer, group, ...things) {
  group.add(...things);
  layer.things.push(...things);
}

// tubes get thinner as less mass is left to carry
function radii(scene) {
  const carried = [0, ...scene.bodies.map(() => 0)];
  for (const mass of scene.masses) carried[mass.body] += mass.mass;
  for (let k = scene.bodies.length; k > 0; k--) carried[scene.bodies[k - 1].parent] += carried[k];
  const most = Math.max(carried[0], 1e-12);
  return carried.map((mass) => RADIUS * scene.reach * (0.38 + 0.62 * Math.cbrt(mass / most)));
}

// where tubes from a body's origin lead: its children's joints, and the farthest frame where there are none
function ends(scene, k) {
  const children = scene.bodies.filter((body) => body.parent === k).map((body) => position(body.placement));
  const frames = scene.frames.filter((frame) => frame.body === k).map((frame) => position(frame.pose));
  const far = frames.sort((a, b) => Math.hypot(...b) - Math.hypot(...a))[0];
  const mass = scene.masses.find((one) => one.body === k && one.pose);
  let found = children;
  if (!children.length && k) found = far && Math.hypot(...far) > NEAR * scene.reach ? [far] : mass ? [scaled(position(mass.pose), 2)] : [];
  return found.filter((end) => Math.hypot(...end) > NEAR * scene.reach);
}

const position = (X) => [X[3], X[7], X[11]];
const scaled = (p, s) => p.map((x) => s * x);

function material(hex, options = {}) {
  return new THREE.MeshStandardMaterial({ color: hex, roughness: 0.45, metalness: 0.15, ...options });
}

function shadowed(mesh) {
  mesh.castShadow = mesh.receiveShadow = true;
  return mesh;
}

// a cylinder with round ends from one point to another
function tube(from, to, radius, hex) {
  const a = new THREE.Vector3(...from), b = new THREE.Vector3(...to);
  const mesh = shadowed(new THREE.Mesh(new THREE.CapsuleGeometry(radius, a.distanceTo(b), 6, 20), material(hex)));
  along(mesh, b.clone().sub(a));
  mesh.position.copy(a).add(b).multiplyScalar(0.5);
  return mesh;
}

function along(thing, direction) {
  if (direction.lengthSq() > 0) thing.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), direction.clone().normalize());
}

function jointMark(body, radius) {
  if (!body.axis) return shadowed(new THREE.Mesh(new THREE.SphereGeometry(1.35 * radius, 24, 16), material(JOINT)));
  const slides = body.kind === "prismatic";
  const shape = slides ? new THREE.BoxGeometry(2.3 * radius, 2.6 * radius, 2.3 * radius) : new THREE.CylinderGeometry(1.22 * radius, 1.22 * radius, 2.7 * radius, 32);
  const mesh = shadowed(new THREE.Mesh(shape, material(slides ? SLIDE : JOINT)));
  along(mesh, new THREE.Vector3(...body.axis));
  return mesh;
}

// what a sliding joint has come out of its guide
function rail(body, groups, radius, layer) {
  const mesh = shadowed(new THREE.Mesh(new THREE.CylinderGeometry(0.6 * radius, 0.6 * radius, 1, 16), material(LINKS[0])));
  const X = body.placement, [x, y, z] = body.axis;
  const axis = new THREE.Vector3(X[0] * x + X[1] * y + X[2] * z, X[4] * x + X[5] * y + X[6] * z, X[8] * x + X[9] * y + X[10] * z);
  along(mesh, axis);
  add(layer, groups[body.parent], mesh);
  return (_, q) => {
    const way = (body.ratio ?? 1) * q[body.q] + (body.offset ?? 0);
    mesh.scale.y = Math.max(Math.abs(way), 1e-6);
    mesh.position.set(...position(X)).addScaledVector(axis, 0.5 * way);
  };
}

function placed(thing, X) {
  thing.applyMatrix4(new THREE.Matrix4().set(X[0], X[1], X[2], X[3], X[4], X[5], X[6], X[7], X[8], X[9], X[10], X[11], 0, 0, 0, 1));
  return thing;
}

function shapeOf(scene, shape, groups, layer) {
  const [a, b, c] = shape.size;
  const geometry = {
    box: () => new THREE.BoxGeometry(a, b, c),
    sphere: () => new THREE.SphereGeometry(a, 28, 20),
    cylinder: () => new THREE.CylinderGeometry(a, a, b, 32).rotateX(Math.PI / 2),
    capsule: () => new THREE.CapsuleGeometry(a, b, 8, 24).rotateX(Math.PI / 2),
  }[shape.kind]();
  const [r, g, bl, opacity] = shape.rgba ?? [0.82, 0.85, 0.88, 1];
  const mesh = shadowed(new THREE.Mesh(geometry, material(new THREE.Color(r, g, bl), { transparent: opacity < 1, opacity })));
  const frame = scene.frames.find((one) => one.name === shape.frame);
  const holder = new THREE.Group().add(placed(mesh, shape.pose));
  add(layer, groups[frame.body], placed(holder, frame.pose));
}

function massMarks(scene, mass, group, layers) {
  if (!mass.pose) return;
  const size = 0.016 * scene.reach * (0.6 + Math.cbrt(mass.mass / Math.max(...scene.masses.map((one) => one.mass))));
  const ball = new THREE.Mesh(new THREE.SphereGeometry(size, 20, 14), new THREE.MeshBasicMaterial({ color: MASS, depthTest: false, transparent: true }));
  ball.renderOrder = 2;
  add(layers.masses, group, placed(ball, mass.pose));
  const ellipsoid = new THREE.Mesh(new THREE.SphereGeometry(1, 32, 20), material(ELLIPSOID, { transparent: true, opacity: 0.5, depthWrite: false }));
  ellipsoid.renderOrder = 1;
  ellipsoid.scale.set(...mass.radii.map((r) => Math.max(r, 2e-3 * scene.reach)));
  add(layers.ellipsoids, group, placed(new THREE.Group().add(ellipsoid), mass.pose));
}

// a grid on the floor that receives shadows; an arm in an upright plane gets a stand
export function buildFloor(scene) {
  const { reach, floor, planar } = scene;
  const up = new THREE.Vector3(...scene.up);
  const low = planar ? floor - 0.12 * reach : floor;
  const group = new THREE.Group();
  const grid = new THREE.GridHelper(4 * reach, 16, 0x8a96a3, 0x8a96a3);
  grid.material.transparent = true;
  grid.material.opacity = 0.28;
  const ground = new THREE.Mesh(new THREE.CircleGeometry(2.9 * reach, 64), new THREE.ShadowMaterial({ opacity: 0.22 }));
  ground.rotateX(-Math.PI / 2);
  ground.receiveShadow = true;
  ground.position.y = -1e-3 * reach;
  group.add(grid, ground);
  group.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), up);
  group.position.copy(up).multiplyScalar(low);
  if (planar) {
    const height = -low;
    const stand = shadowed(new THREE.Mesh(new THREE.BoxGeometry(0.09 * reach, height, 0.05 * reach), material(BASE)));
    stand.position.set(0, height / 2, -0.12 * reach);
    group.add(stand);
  } else if (floor > -1e-6 * reach) {
    const foot = shadowed(new THREE.Mesh(new THREE.CylinderGeometry(0.085 * reach, 0.1 * reach, 0.025 * reach, 40), material(BASE)));
    foot.position.y = 0.0125 * reach;
    group.add(foot);
  }
  return group;
}
