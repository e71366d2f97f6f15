// What a robot is drawn with: the shapes of its links, the rails of sliding joints, and what can be shown besides.

import * as THREE from "three";

const LINKS = [0xe4e8ec, 0xa9bccf];
const BASE = 0x6b7783, MASS = 0xf2b134, ELLIPSOID = 0x7a4fb0;
const RAIL = 0.016; // radius of what a sliding joint has come out of its guide, of the reach
const CREASE = Math.cos((40 * Math.PI) / 180); // edges of a mesh that bend more are sharp
const ROUND = 3; // steps from a face of a rounded box to its edge

export function buildRobot(scene) {
  const bodies = [null, ...scene.bodies].map(() => {
    const group = new THREE.Group();
    group.matrixAutoUpdate = false;
    return group;
  });
  const layers = { links: new Layer(), frames: new Layer(), masses: new Layer(), ellipsoids: new Layer() };
  const moving = [];
  for (const shape of scene.shapes) {
    const thing = shape.kind === "mesh" ? meshOf(scene.meshes[shape.mesh], shape, LINKS[shape.body % 2]) : solidOf(shape);
    add(layers.links, bodies[shape.body], placed(thing, shape.pose));
  }
  if (standsOnFloor(scene)) cutAtFloor(scene, bodies.slice(0, 2));
  scene.bodies.forEach((body) => {
    if (body.kind === "prismatic") moving.push(rail(body, bodies, RAIL * scene.reach, layers.links));
  });
  for (const frame of scene.frames) add(layers.frames, bodies[frame.body], placed(new THREE.AxesHelper(0.11 * scene.reach), frame.pose));
  for (const mass of scene.masses) massMarks(scene, mass, bodies[mass.body], layers);
  layers.frames.visible = layers.masses.visible = layers.ellipsoids.visible = false;
  return { bodies, layers, moving };
}

const standsOnFloor = (scene) => !scene.planar && scene.floor > -1e-6 * scene.reach;

// what stands on the floor does not show below it
function cutAtFloor(scene, groups) {
  const plane = new THREE.Plane(new THREE.Vector3(...scene.up), -scene.floor);
  for (const group of groups) {
    for (const thing of group.children) for (const paint of [thing.material].flat()) paint.clippingPlanes = [plane];
  }
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

const position = (X) => [X[3], X[7], X[11]];

function material(hex, options = {}) {
  return new THREE.MeshStandardMaterial({ color: hex, roughness: 0.45, metalness: 0.15, ...options });
}

function shadowed(mesh) {
  mesh.castShadow = mesh.receiveShadow = true;
  return mesh;
}

function along(thing, direction) {
  if (direction.lengthSq() > 0) thing.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), direction.clone().normalize());
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

function solidOf(shape) {
  const [a, b, c, d] = shape.size;
  const geometry = {
    box: () => new THREE.BoxGeometry(a, b, c),
    rounded_box: () => roundedBox(a, b, c, d),
    sphere: () => new THREE.SphereGeometry(a, 32, 24),
    ellipsoid: () => new THREE.SphereGeometry(1, 36, 24).scale(a, b, c),
    cylinder: () => new THREE.CylinderGeometry(a, a, b, 40).rotateX(Math.PI / 2),
    capsule: () => taperedCapsule(a, a, b),
    tapered_capsule: () => taperedCapsule(a, b, c),
  }[shape.kind]();
  return shadowed(new THREE.Mesh(geometry, shape.rgba ? painted(shape.rgba) : material(LINKS[shape.body % 2])));
}

// two balls on the z axis, of radius a below and b above, and the cone that touches both
function taperedCapsule(a, b, length) {
  const slope = Math.asin(Math.min(Math.max((a - b) / Math.max(length, 1e-12), -1), 1));
  const profile = [], steps = 10;
  const arc = (from, to, radius, height) => {
    for (let k = 0; k <= steps; k++) {
      const angle = from + ((to - from) * k) / steps;
      profile.push(new THREE.Vector2(Math.max(radius * Math.cos(angle), 0), height + radius * Math.sin(angle)));
    }
  };
  arc(-Math.PI / 2, slope, a, -length / 2);
  arc(slope, Math.PI / 2, b, length / 2);
  return new THREE.LatheGeometry(profile, 32).rotateX(Math.PI / 2);
}

// a cube blown up to a ball of the edges' radius, its eight corners then moved apart; flat between them
function roundedBox(x, y, z, radius) {
  const cells = 2 * ROUND + 1, geometry = new THREE.BoxGeometry(1, 1, 1, cells, cells, cells);
  const at = geometry.attributes.position, normal = geometry.attributes.normal;
  const inner = [x / 2 - radius, y / 2 - radius, z / 2 - radius];
  for (let k = 0; k < at.count; k++) {
    const corner = [at.getX(k), at.getY(k), at.getZ(k)];
    const out = corner.map((c) => Math.sign(c) * Math.tan(((Math.abs(c) * cells - 0.5) / ROUND) * (Math.PI / 4)));
    const size = Math.hypot(...out);
    normal.setXYZ(k, ...out.map((c) => c / size));
    at.setXYZ(k, ...out.map((c, i) => Math.sign(corner[i]) * inner[i] + (radius * c) / size));
  }
  return geometry;
}

function painted([r, g, b, opacity]) {
  return material(new THREE.Color(r, g, b), { transparent: opacity < 1, opacity });
}

// the file's colour for the link, else the mesh's own, else that of links without colours; a negative scale mirrors
function meshOf(data, shape, hex) {
  const paint = data.paint.map(({ rgba }) => (shape.rgba ?? rgba ? painted(shape.rgba ?? rgba) : material(hex)));
  const mesh = shadowed(new THREE.Mesh(meshGeometry(data), paint));
  mesh.scale.set(...shape.size);
  return mesh;
}

// all views of a page share the geometry of a mesh
const geometries = new WeakMap();

function meshGeometry(data) {
  if (!geometries.has(data)) geometries.set(data, decoded(data));
  return geometries.get(data);
}

function decoded({ low, step, vertices, triangles, wide, paint }) {
  const corners = wide ? new Uint32Array(bytes(triangles)) : new Uint16Array(bytes(triangles));
  const points = Float32Array.from(new Uint16Array(bytes(vertices)), (x, k) => low[k % 3] + step * x);
  const geometry = new THREE.BufferGeometry();
  const spread = new Float32Array(3 * corners.length);
  corners.forEach((v, k) => spread.set(points.subarray(3 * v, 3 * v + 3), 3 * k));
  geometry.setAttribute("position", new THREE.BufferAttribute(spread, 3));
  geometry.setAttribute("normal", new THREE.BufferAttribute(creasedNormals(spread, corners, points.length / 3), 3));
  let start = 0;
  paint.forEach(({ count }, k) => {
    geometry.addGroup(start, 3 * count, k);
    start += 3 * count;
  });
  return geometry;
}

function bytes(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
}

// round where the triangles at a vertex bend little, sharp where they bend more: for each corner of each triangle
function creasedNormals(spread, corners, count) {
  const faces = new Float32Array(corners.length), lengths = new Float32Array(corners.length / 3); // 2 · area
  const [a, b, c] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3()];
  for (let f = 0; f < lengths.length; f++) {
    [a, b, c].forEach((p, i) => p.fromArray(spread, 9 * f + 3 * i));
    b.sub(a).cross(c.sub(a)).toArray(faces, 3 * f);
    lengths[f] = b.length();
  }
  // the triangles around vertex v: around[first[v]] to around[first[v + 1] - 1]
  const first = new Uint32Array(count + 1), around = new Uint32Array(corners.length);
  for (const v of corners) first[v + 1]++;
  for (let v = 0; v < count; v++) first[v + 1] += first[v];
  const next = first.slice();
  corners.forEach((v, k) => (around[next[v]++] = Math.floor(k / 3)));
  const normals = new Float32Array(spread.length);
  corners.forEach((v, k) => {
    const own = 3 * Math.floor(k / 3);
    const n = [0, 0, 0];
    for (let j = first[v]; j < first[v + 1]; j++) {
      const other = 3 * around[j];
      const along = faces[own] * faces[other] + faces[own + 1] * faces[other + 1] + faces[own + 2] * faces[other + 2];
      if (along >= CREASE * lengths[own / 3] * lengths[other / 3]) for (let i = 0; i < 3; i++) n[i] += faces[other + i];
    }
    const size = Math.hypot(...n) || 1;
    for (let i = 0; i < 3; i++) normals[3 * k + i] = n[i] / size;
  });
  return normals;
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

// lines that fade away from the middle, so that the floor has no edge
function fadingGrid(cells = 20, size = 1024) {
  const canvas = Object.assign(document.createElement("canvas"), { width: size, height: size });
  const paint = canvas.getContext("2d");
  paint.strokeStyle = "rgb(128, 144, 160)";
  for (let k = 0; k <= cells; k++) {
    const at = Math.min((k * size) / cells, size - 1);
    paint.lineWidth = k % 5 ? 1 : 2;
    for (const line of [[at, 0, at, size], [0, at, size, at]]) {
      paint.beginPath();
      paint.moveTo(line[0], line[1]);
      paint.lineTo(line[2], line[3]);
      paint.stroke();
    }
  }
  const fade = paint.createRadialGradient(size / 2, size / 2, 0, size / 2, size / 2, size / 2);
  fade.addColorStop(0, "rgba(0, 0, 0, 0.75)");
  fade.addColorStop(0.45, "rgba(0, 0, 0, 0.45)");
  fade.addColorStop(1, "rgba(0, 0, 0, 0)");
  paint.globalCompositeOperation = "destination-in";
  paint.fillStyle = fade;
  paint.fillRect(0, 0, size, size);
  const texture = new THREE.CanvasTexture(canvas);
  texture.anisotropy = 8;
  return texture;
}

// a grid on the floor that receives shadows; an arm in an upright plane gets a stand
export function buildFloor(scene) {
  const { reach, floor, planar } = scene;
  const up = new THREE.Vector3(...scene.up);
  const low = planar ? floor - 0.12 * reach : floor;
  const group = new THREE.Group();
  const grid = new THREE.Mesh(new THREE.PlaneGeometry(5 * reach, 5 * reach), new THREE.MeshBasicMaterial({ map: fadingGrid(), transparent: true, depthWrite: false }));
  grid.rotateX(-Math.PI / 2);
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
  } else if (scene.plate) {
    const foot = shadowed(new THREE.Mesh(new THREE.CylinderGeometry(0.085 * reach, 0.1 * reach, 0.025 * reach, 40), material(BASE)));
    foot.position.y = 0.0125 * reach;
    group.add(foot);
  }
  return group;
}
