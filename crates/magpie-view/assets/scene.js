// Robots on a checkered ground, with shadows, in WebGL 2.

import { Camera, lookAt, multiply, orthographic, unit } from "./camera.js";
import { rgb } from "./colour.js";
import { capsules, root } from "./gait.js";
import { capsuleMesh, groundMesh, programs, shadowMap } from "./gl.js";

const SUN = unit([-0.38, -0.42, 0.82]);
const GROUND = {
  light: { even: "#ece7db", odd: "#d8d2c3", paper: "#f4f1ea", depth: 0.42 },
  dark: { even: "#1d232b", odd: "#2a323c", paper: "#14181d", depth: 0.62 },
};
const HURDLE = rgb("#8a8f98");
// Metres between the tracks of robots that race.
const TRACK = 1.3;

export const track = (index, count) => (index - (count - 1) / 2) * TRACK;

export class Scene {
  constructor(canvas, changed) {
    this.canvas = canvas;
    this.camera = new Camera();
    this.camera.listen(canvas, changed);
    this.gl = canvas.getContext("webgl2", { antialias: true, alpha: false, powerPreference: "low-power" });
    if (!this.gl) return;
    this.begin();
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => {
      this.begin();
      changed();
    });
  }

  begin() {
    const { gl } = this;
    this.programs = programs(gl);
    this.capsule = capsuleMesh(gl);
    this.ground = groundMesh(gl);
    this.shadows = shadowMap(gl, 2048);
    gl.enable(gl.DEPTH_TEST);
  }

  // As high as the robots are: how near the eye begins.
  frame(gaits) {
    const heights = gaits.flatMap((gait) => capsules(gait, 0).map((c) => Math.max(c.a[2], c.b[2]) + c.radius));
    this.size = Math.max(0.6, ...heights);
    this.camera.distance = 3.0 * this.size + 1.1 * (gaits.length - 1);
  }

  // Moves the target towards the robots: at once, or smoothly.
  follow(gaits, frames, share) {
    const roots = gaits.map((gait, i) => root(gait, Math.min(Math.round(frames[i]), gait.frames - 1)));
    if (!roots.length) return;
    const xs = roots.map((r) => r[0]);
    const y = roots.length === 1 ? roots[0][1] : 0;
    const middle = [(Math.min(...xs) + Math.max(...xs)) / 2, y, this.size * 0.5];
    this.camera.target = this.camera.target.map((v, i) => v + (middle[i] - v) * share);
  }

  instances(racers, frames) {
    const rows = [];
    racers.forEach(({ gait, colour }, index) => {
      const base = rgb(colour);
      const shift = track(index, racers.length);
      for (const { a, b, radius, lit, left } of capsules(gait, frames[index])) {
        const tint = left ? base.map((v) => v + (1 - v) * 0.35) : base;
        rows.push(a[0], a[1] + shift, a[2], radius, b[0], b[1] + shift, b[2], lit ? 1 : 0, ...tint);
      }
    });
    const hurdles = racers.map((racer) => racer.gait.hurdles).find((h) => h && h.height > 0);
    const wide = 0.5 + (racers.length * TRACK) / 2;
    for (const x of hurdles ? near(hurdles, this.camera.target[0]) : []) {
      const [r, top] = [hurdles.thickness / 2, Math.max(hurdles.height - hurdles.thickness / 2, 0)];
      rows.push(x, -wide, top, r, x, wide, top, 0, ...HURDLE);
      for (const y of [-wide, wide]) rows.push(x, y, 0, r * 0.6, x, y, top, 0, ...HURDLE);
    }
    return new Float32Array(rows);
  }

  draw(racers, frames, theme) {
    const { gl, canvas } = this;
    if (!gl || gl.isContextLost()) return;
    const scale = Math.min(window.devicePixelRatio || 1, 2);
    const [width, height] = [canvas.clientWidth * scale, canvas.clientHeight * scale].map(Math.round);
    if (!width || !height) return;
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    const data = this.instances(racers, frames);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.capsule.instances);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
    const count = data.length / 11;
    const { target } = this.camera;
    const reach = Math.max(3, this.camera.distance * 0.8);
    const lamp = multiply(orthographic(reach, 0.1, 40), lookAt(target.map((v, i) => v + SUN[i] * 20), target));

    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadows.frame);
    gl.viewport(0, 0, this.shadows.size, this.shadows.size);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    this.use("shadows", { camera: lamp });
    this.draws(count);

    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, width, height);
    const { even, odd, paper, depth } = GROUND[theme];
    gl.clearColor(...rgb(paper), 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.shadows.texture);
    const camera = this.camera.matrix(width / height);
    const light = { camera, lamp, sun: SUN };
    this.use("capsules", { ...light, eye: this.camera.eye() });
    this.draws(count);
    const middle = [target[0], target[1], 0];
    const colours = { even: rgb(even), odd: rgb(odd), paper: rgb(paper), depth };
    this.use("ground", { ...light, ...colours, middle, reach: Math.max(9, this.camera.distance * 2.2) });
    gl.bindVertexArray(this.ground);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.bindVertexArray(null);
  }

  use(name, uniforms) {
    const { gl } = this;
    const { program, at } = this.programs[name];
    gl.useProgram(program);
    if (at.shadows) gl.uniform1i(at.shadows, 0);
    for (const [key, value] of Object.entries(uniforms)) {
      if (!at[key]) continue;
      if (value.length === 16) gl.uniformMatrix4fv(at[key], false, value);
      else if (value.length === 3) gl.uniform3fv(at[key], value);
      else gl.uniform1f(at[key], value);
    }
  }

  draws(count) {
    const { gl, capsule } = this;
    gl.bindVertexArray(capsule.array);
    if (count) gl.drawElementsInstanced(gl.TRIANGLES, capsule.count, gl.UNSIGNED_SHORT, 0, count);
  }
}

// The hurdles that can be seen.
function near({ first, spacing, count }, x) {
  const start = Math.max(0, Math.floor((x - 12 - first) / spacing));
  const places = Array.from({ length: 24 }, (_, i) => start + i).filter((i) => i < count);
  return places.map((i) => first + i * spacing).filter((place) => Math.abs(place - x) < 14);
}
