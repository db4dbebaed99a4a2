// The eye: it turns about a target that it follows. Matrices are columns, as WebGL wants them.

import { clamp } from "./dom.js";

export function multiply(a, b) {
  const product = new Float32Array(16);
  for (let column = 0; column < 4; column++)
    for (let row = 0; row < 4; row++)
      for (let i = 0; i < 4; i++) product[column * 4 + row] += a[i * 4 + row] * b[column * 4 + i];
  return product;
}

export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
export const unit = (a) => a.map((v) => v / (Math.hypot(...a) || 1));

export function lookAt(eye, target) {
  const z = unit(eye.map((v, i) => v - target[i]));
  const x = unit(cross([0, 0, 1], z));
  const y = cross(z, x);
  return new Float32Array([x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -dot(x, eye), -dot(y, eye), -dot(z, eye), 1]);
}

export const perspective = (slope, aspect, near, far) =>
  new Float32Array([1 / (slope * aspect), 0, 0, 0, 0, 1 / slope, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, (2 * far * near) / (near - far), 0]);

export const orthographic = (size, near, far) =>
  new Float32Array([1 / size, 0, 0, 0, 0, 1 / size, 0, 0, 0, 0, 2 / (near - far), 0, 0, 0, (far + near) / (near - far), 1]);

export class Camera {
  constructor() {
    Object.assign(this, { azimuth: 0.42, elevation: 0.24, distance: 5, target: [0, 0, 0.8] });
  }

  eye() {
    const flat = Math.cos(this.elevation) * this.distance;
    const { target: [x, y, z] } = this;
    return [x + Math.sin(this.azimuth) * flat, y - Math.cos(this.azimuth) * flat, z + Math.sin(this.elevation) * this.distance];
  }

  matrix(aspect) {
    return multiply(perspective(0.36, aspect, 0.1, 120), lookAt(this.eye(), this.target));
  }

  turn(x, y) {
    this.azimuth -= x;
    this.elevation = clamp(this.elevation + y, -0.02, 1.5);
  }

  zoom(factor) {
    this.distance = clamp(this.distance * factor, 1, 60);
  }

  // Drag, wheel, two fingers and arrow keys.
  listen(canvas, changed) {
    const fingers = new Map();
    const spread = () => {
      const [a, b] = [...fingers.values()];
      return Math.hypot(a[0] - b[0], a[1] - b[1]);
    };
    canvas.addEventListener("pointerdown", (event) => {
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) return;
      const width = fingers.size === 2 ? spread() : 0;
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      if (width) this.zoom(width / spread());
      else this.turn((event.clientX - before[0]) * 0.008, (event.clientY - before[1]) * 0.006);
      changed();
    });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => fingers.delete(event.pointerId));
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(clamp(event.deltaY, -200, 200) * 0.001));
      changed();
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.06], ArrowDown: [0, -0.06] };
      if (steps[event.key]) this.turn(...steps[event.key]);
      else if (event.key === "+" || event.key === "=") this.zoom(0.9);
      else if (event.key === "-") this.zoom(1.1);
      else return;
      event.preventDefault();
      changed();
    });
  }
}
