// The 3-D view of the robot: three.js, drawn when something changes, rotated by pointer, touch or keyboard.

import * as THREE from "three";
import { OrbitControls } from "three/OrbitControls";
import { bodyPoses, framePoses } from "dynamis/kinematics";
import { buildFloor, buildRobot } from "dynamis/robot_parts";

const TURN = Math.PI / 36;
const OPEN = 32; // degrees, from the lower edge to the upper
const LOOKED_AT = 40; // configurations of a motion, to see how much room it takes
const MARGIN = 1.2; // what is seen, by what the robot takes
const CLEARANCE = 0.02; // of the camera above the floor, of the reach
const FOLLOWED = 6; // reaches: the camera moves with a robot that goes farther
const SQUARE = 1.25; // of the reach: five cells of the floor, by which it moves with the robot
const BELOW = 0.12; // of the reach: the floor of an arm in an upright plane lies lower (robot_parts.js)

export class RobotView {
  constructor(place, scene, { label, frames = true, motion = [scene.pose] } = {}) {
    this.model = scene;
    const extent = new THREE.Box3().setFromPoints(motion.map((q) => centreOf(bodyPoses(scene, q))));
    this.follows = extent.getSize(new THREE.Vector3()).length() > FOLLOWED * scene.reach;
    this.start = centreOf(bodyPoses(scene, motion[0]));
    this.centre = this.start.clone();
    this.seen = outlineOf(scene, motion, this.follows);
    this.q = [...scene.pose];
    this.three = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(OPEN, 1, scene.reach / 100, scene.reach * 40);
    this.renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true, preserveDrawingBuffer: true });
    this.renderer.toneMapping = THREE.ACESFilmicToneMapping;
    this.renderer.toneMappingExposure = 1;
    this.renderer.localClippingEnabled = true;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFSoftShadowMap;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.canvas = this.renderer.domElement;
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `${label ?? scene.name} in 3-D. Arrow keys rotate the view, plus and minus zoom, zero resets it.`);
    place.append(this.canvas);
    this.place = place;
    this.parts = buildRobot(scene);
    this.parts.layers.frames.visible = frames;
    this.ground = new THREE.Group().add(buildFloor(scene), ...this.lights());
    this.three.add(...this.parts.bodies, this.ground);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.floor = scene.floor - (scene.planar ? BELOW * scene.reach : 0);
    // the page scrolls past the view: the wheel zooms only where the view has been clicked; two fingers always do
    this.canvas.addEventListener("focus", () => this.allowZoom());
    this.canvas.addEventListener("blur", () => this.allowZoom());
    this.canvas.addEventListener("pointerdown", (event) => this.allowZoom(event.pointerType === "touch"), { capture: true });
    this.canvas.addEventListener("pointerdown", () => this.canvas.focus({ preventScroll: true }));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.resetView();
    new ResizeObserver(() => this.resize()).observe(place);
    this.resize();
    this.set(this.q);
    this.draw(); // at once: a page that is being printed has no next picture
  }

  lights() {
    const sky = new THREE.HemisphereLight(0xffffff, 0x6f7f92, 1.9);
    const sun = new THREE.DirectionalLight(0xfff4e6, 3.2);
    const R = this.model.reach;
    const up = new THREE.Vector3(...this.model.up);
    const side = this.forward().clone().multiplyScalar(1.2).addScaledVector(this.sideways(), 1.4).addScaledVector(up, 2.6);
    sky.position.copy(up);
    sun.position.copy(side.multiplyScalar(R));
    sun.castShadow = true;
    sun.shadow.mapSize.set(1024, 1024);
    sun.shadow.radius = 4;
    sun.shadow.bias = -5e-4;
    sun.shadow.normalBias = 0.006 * R;
    Object.assign(sun.shadow.camera, { left: -2 * R, right: 2 * R, top: 2 * R, bottom: -2 * R, near: 0.1 * R, far: 8 * R });
    return [sky, sun, sun.target];
  }

  // two level directions: towards the viewer of a planar arm, or of an arm on the floor
  forward() {
    const up = new THREE.Vector3(...this.model.up);
    const first = Math.abs(up.z) > 0.9 ? new THREE.Vector3(1, 0, 0) : new THREE.Vector3(0, 0, 1);
    return first.addScaledVector(up, -first.dot(up)).normalize();
  }

  sideways() {
    return new THREE.Vector3(...this.model.up).cross(this.forward());
  }

  resetView() {
    const top = new THREE.Vector3(...this.model.up);
    this.camera.up.copy(top);
    this.fit();
    // the controls read the camera's up direction when they are created
    this.controls.dispose();
    const target = this.controls.target.clone();
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.allowZoom();
    this.controls.target.copy(target);
    this.controls.addEventListener("change", () => {
      this.stayAboveFloor();
      this.ask();
    });
    this.controls.update();
    this.home = this.camera.position.clone();
    this.ask();
  }

  // look along the usual direction from as near as shows the whole outline
  fit() {
    const top = new THREE.Vector3(...this.model.up);
    const angle = this.model.planar ? 0.35 : 0.75;
    const back = this.forward().multiplyScalar(Math.cos(angle)).addScaledVector(this.sideways(), Math.sin(angle)).addScaledVector(top, 0.3).normalize();
    const right = top.clone().cross(back).normalize(), over = back.clone().cross(right);
    const tall = Math.tan((OPEN * Math.PI) / 360) / MARGIN, wide = tall * this.camera.aspect;
    // of each ball the place along right, over and back; the middle is moved until what is seen is as far from all edges
    const seen = this.seen.map(([point, radius]) => [point.dot(right), point.dot(over), point.dot(back), radius]);
    let x = 0, y = 0, distance = 0;
    for (let k = 0; k < 12; k++) {
      const need = (sign, i, open) => Math.max(...seen.map((p) => (sign * (p[i] - [x, y][i]) + p[3]) / open + p[2] + p[3]));
      const [left, far, low, high] = [need(-1, 0, wide), need(1, 0, wide), need(-1, 1, tall), need(1, 1, tall)];
      distance = Math.max(left, far, low, high);
      x += ((far - left) * wide) / 2;
      y += ((high - low) * tall) / 2;
    }
    const depths = seen.map((p) => p[2]), middle = (Math.min(...depths) + Math.max(...depths)) / 2;
    this.controls.target.set(0, 0, 0).addScaledVector(right, x).addScaledVector(over, y).addScaledVector(back, middle);
    if (this.follows) this.controls.target.add(this.centre).sub(this.start);
    this.camera.position.copy(this.controls.target).addScaledVector(back, distance - middle);
  }

  // nobody has turned or moved the view
  untouched() {
    return this.home && this.camera.position.distanceTo(this.home) < 1e-6 * this.model.reach;
  }

  allowZoom(touched = false) {
    this.controls.enableZoom = touched || document.activeElement === this.canvas;
  }

  // from below, the floor would hide nothing and the robot would seem to hang in the air
  stayAboveFloor() {
    const up = new THREE.Vector3(...this.model.up);
    if (this.controls.target.dot(up) < this.floor) return; // the robot has fallen below it
    const missing = this.floor + CLEARANCE * this.model.reach - this.camera.position.dot(up);
    if (missing <= 0) return;
    this.camera.position.addScaledVector(up, missing);
    this.camera.lookAt(this.controls.target);
  }

  set(q) {
    this.q = [...q];
    const poses = bodyPoses(this.model, this.q);
    this.parts.bodies.forEach((group, k) => place(group, poses[k]));
    for (const update of this.parts.moving) update(poses, this.q);
    this.accompany(centreOf(poses));
    this.ask();
  }

  // the camera follows a robot that goes far, and the floor one that stands on it, by whole squares
  accompany(centre) {
    if (this.follows) {
      const way = centre.clone().sub(this.centre);
      for (const point of [this.camera.position, this.controls.target, this.home]) point.add(way);
    }
    this.centre = centre;
    if (this.model.plate || this.model.planar) return;
    const square = SQUARE * this.model.reach;
    this.ground.position.set(0, 0, 0);
    for (const side of [this.forward(), this.sideways()]) this.ground.position.addScaledVector(side, Math.round(centre.dot(side) / square) * square);
  }

  frames() {
    return framePoses(this.model, this.q);
  }

  show(layer, on) {
    this.parts.layers[layer].visible = on;
    this.ask();
  }

  key(event) {
    const turns = { ArrowLeft: [-TURN, 0], ArrowRight: [TURN, 0], ArrowUp: [0, -TURN], ArrowDown: [0, TURN] }[event.key];
    const zoom = { "+": 0.9, "=": 0.9, "-": 1 / 0.9 }[event.key];
    if (event.key === "0") this.resetView();
    else if (turns) this.turn(...turns);
    else if (zoom) this.zoom(zoom);
    else return;
    event.preventDefault();
  }

  turn(around, over) {
    const offset = this.camera.position.clone().sub(this.controls.target);
    const upright = new THREE.Quaternion().setFromUnitVectors(this.camera.up.clone().normalize(), new THREE.Vector3(0, 1, 0));
    const s = new THREE.Spherical().setFromVector3(offset.applyQuaternion(upright));
    s.theta += around;
    s.phi += over;
    s.makeSafe();
    offset.setFromSpherical(s).applyQuaternion(upright.invert());
    this.camera.position.copy(this.controls.target).add(offset);
    this.stayAboveFloor();
    this.controls.update();
    this.ask();
  }

  zoom(factor) {
    this.camera.position.sub(this.controls.target).multiplyScalar(factor).add(this.controls.target);
    this.controls.update();
    this.ask();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.place;
    if (!width || !height) return;
    this.renderer.setSize(width, height, false);
    const again = this.untouched();
    this.camera.aspect = width / height;
    if (again) {
      this.fit();
      this.controls.update();
      this.home = this.camera.position.clone();
    }
    this.camera.updateProjectionMatrix();
    this.ask();
  }

  // draw once per frame, however often something changed
  ask() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.draw();
    });
  }

  draw() {
    this.renderer.render(this.three, this.camera);
  }
}

// the mean of the places of the bodies that move
function centreOf(poses) {
  const moving = poses.length > 1 ? poses.slice(1) : poses;
  return moving.reduce((sum, X) => sum.add(new THREE.Vector3(X[3], X[7], X[11])), new THREE.Vector3()).divideScalar(moving.length);
}

// balls [centre, radius] that hold the robot in some configurations, and the place where it stands; of a robot that is followed,
// as if it were where it starts
function outlineOf(scene, motion, follows) {
  const start = centreOf(bodyPoses(scene, motion[0]));
  const found = [], step = Math.max(1, Math.floor(motion.length / LOOKED_AT));
  for (let k = 0; k < motion.length; k += step) {
    const poses = bodyPoses(scene, motion[k]);
    const back = follows ? start.clone().sub(centreOf(poses)) : new THREE.Vector3();
    const origins = poses.map((_, body) => [body, 0, 0, 0, 0]).filter(([body]) => body || !scene.outline.length);
    for (const [body, x, y, z, radius] of [...origins, ...scene.outline]) {
      const X = poses[body];
      found.push([new THREE.Vector3(X[0] * x + X[1] * y + X[2] * z + X[3], X[4] * x + X[5] * y + X[6] * z + X[7], X[8] * x + X[9] * y + X[10] * z + X[11]).add(back), radius]);
    }
  }
  if (scene.planar) found.push([new THREE.Vector3(...scene.up).multiplyScalar(scene.floor - BELOW * scene.reach), 0.02 * scene.reach]);
  if (scene.plate) found.push([new THREE.Vector3(), 0.1 * scene.reach]);
  return found;
}

function place(group, X) {
  group.matrix.set(X[0], X[1], X[2], X[3], X[4], X[5], X[6], X[7], X[8], X[9], X[10], X[11], 0, 0, 0, 1);
  group.matrixWorldNeedsUpdate = true;
}
