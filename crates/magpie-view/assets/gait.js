// A gait: unpacking it, and the robot at any moment of it. The layout is that of gait.rs.

function halves(numbers) {
  const values = new Float32Array(numbers.length);
  for (let i = 0; i < numbers.length; i++) {
    const bits = numbers[i];
    const [power, digits] = [(bits >> 10) & 31, bits & 1023];
    const size = power ? 2 ** (power - 15) * (1 + digits / 1024) : 2 ** -14 * (digits / 1024);
    values[i] = bits & 0x8000 ? -size : size;
  }
  return values;
}

export function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const { frames, robot } = head;
  const [bodies, feet] = [robot.bodies.length, robot.feet.length];
  let at = 4 + length;
  const take = (Kind, count) => {
    const numbers = new Kind(buffer, at, count);
    at += count * Kind.BYTES_PER_ELEMENT;
    return numbers;
  };
  let positions, rotations;
  if (head.half) {
    const root = take(Float32Array, frames * 3);
    positions = halves(take(Uint16Array, frames * bodies * 3));
    rotations = halves(take(Uint16Array, frames * bodies * 4));
    for (let i = 0; i < positions.length; i++) positions[i] += root[Math.floor(i / (bodies * 3)) * 3 + (i % 3)];
    at = Math.ceil(at / 4) * 4;
  } else {
    positions = take(Float32Array, frames * bodies * 3);
    rotations = take(Float32Array, frames * bodies * 4);
  }
  const rewards = take(Float32Array, frames - 1);
  const contacts = take(Uint8Array, (frames - 1) * feet);
  const touched = take(Uint8Array, (frames - 1) * bodies);
  const total = new Float64Array(frames);
  rewards.forEach((reward, i) => (total[i + 1] = total[i] + reward));
  return { ...head, positions, rotations, rewards, contacts, touched, total, bodies, duration: (frames - 1) * head.dt };
}

// The root at a frame.
export function root(gait, frame) {
  const at = (frame * gait.bodies + gait.robot.root) * 3;
  return [gait.positions[at], gait.positions[at + 1], gait.positions[at + 2]];
}

const turn = ([w, x, y, z], [a, b, c]) => {
  const t = [2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)];
  return [
    a + w * t[0] + y * t[2] - z * t[1],
    b + w * t[1] + z * t[0] - x * t[2],
    c + w * t[2] + x * t[1] - y * t[0],
  ];
};

// Position and rotation of a body between two frames.
function pose(gait, body, frame) {
  const low = Math.min(Math.floor(frame), gait.frames - 1);
  const [share, high] = [frame - low, Math.min(low + 1, gait.frames - 1)];
  const mix = (values, width, sign) =>
    Array.from({ length: width }, (_, i) => {
      const [a, b] = [low, high].map((f) => values[(f * gait.bodies + body) * width + i]);
      return share ? a + share * (sign * b - a) : a;
    });
  const place = mix(gait.positions, 3, 1);
  let dot = 0;
  for (let i = 0; i < 4; i++)
    dot += gait.rotations[(low * gait.bodies + body) * 4 + i] * gait.rotations[(high * gait.bodies + body) * 4 + i];
  const mixed = mix(gait.rotations, 4, dot < 0 ? -1 : 1);
  const size = Math.hypot(...mixed) || 1;
  return [place, mixed.map((v) => v / size)];
}

// Both ends of every capsule, its radius, and whether its body is a foot that touches something.
export function capsules(gait, frame) {
  const poses = gait.robot.bodies.map((_, body) => pose(gait, body, frame));
  const step = Math.min(Math.max(Math.ceil(frame) - 1, 0), gait.frames - 2);
  return gait.robot.capsules.map(({ body, centre, half, radius }) => {
    const [place, rotation] = poses[body];
    const end = (sign) => turn(rotation, centre.map((c, i) => c + sign * half[i])).map((v, i) => v + place[i]);
    const lit = gait.robot.feet.includes(body) && gait.frames > 1 && gait.touched[step * gait.bodies + body] === 1;
    return { a: end(-1), b: end(1), radius, lit, left: gait.robot.bodies[body].includes("left") };
  });
}
