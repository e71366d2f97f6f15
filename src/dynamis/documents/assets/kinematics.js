// Forward kinematics of a scene: where every body and frame is, for a configuration q.
// A pose is twelve numbers, row by row: R | p.

export const IDENTITY = Object.freeze([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0]);

export function multiply(A, B) {
  const X = new Array(12);
  for (let i = 0; i < 12; i += 4) {
    for (let j = 0; j < 4; j++) {
      X[i + j] = A[i] * B[j] + A[i + 1] * B[4 + j] + A[i + 2] * B[8 + j] + (j === 3 ? A[i + 3] : 0);
    }
  }
  return X;
}

// Rodrigues' formula, and a shift along the axis
function aboutAxis([x, y, z], angle, shift) {
  const c = Math.cos(angle), s = Math.sin(angle), k = 1 - c;
  return [
    c + k * x * x, k * x * y - s * z, k * x * z + s * y, shift * x,
    k * x * y + s * z, c + k * y * y, k * y * z - s * x, shift * y,
    k * x * z - s * y, k * y * z + s * x, c + k * z * z, shift * z,
  ];
}

function ofQuaternion([x, y, z, w], [px, py, pz]) {
  return [
    1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), px,
    2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x), py,
    2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y), pz,
  ];
}

// the joint's motion: what stands between a body's placement and its frame
export function jointMotion(body, q) {
  const own = (k) => (body.ratio ?? 1) * q[body.q + k] + (body.offset ?? 0);
  switch (body.kind) {
    case "revolute": return aboutAxis(body.axis, own(0), 0);
    case "prismatic": return aboutAxis(body.axis, 0, own(0));
    case "helical": return aboutAxis(body.axis, own(0), body.pitch * own(0));
    case "spherical": return ofQuaternion(q.slice(body.q, body.q + 4), [0, 0, 0]);
    case "free": return ofQuaternion(q.slice(body.q + 3, body.q + 7), q.slice(body.q, body.q + 3));
    default: return IDENTITY;
  }
}

// the poses of all bodies in the world; the base is number 0, and parents come before their children
export function bodyPoses(scene, q) {
  const poses = [IDENTITY];
  for (const body of scene.bodies) {
    poses.push(multiply(poses[body.parent], multiply(body.placement, jointMotion(body, q))));
  }
  return poses;
}

// the poses of all named frames, as a Map in the order of the robot
export function framePoses(scene, q, bodies = bodyPoses(scene, q)) {
  return new Map(scene.frames.map((frame) => [frame.name, multiply(bodies[frame.body], frame.pose)]));
}

// roll, pitch and yaw of a pose: R = Rz(yaw) Ry(pitch) Rx(roll)
export function rollPitchYaw(X) {
  return [Math.atan2(X[9], X[10]), Math.atan2(-X[8], Math.hypot(X[0], X[4])), Math.atan2(X[4], X[0])];
}
