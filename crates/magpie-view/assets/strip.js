// Which foot touches the ground when: a row for each foot of each gait.

import { css, sharpen } from "./dom.js";

const ROW = 11;
const GAP = 7;

export class Strip {
  constructor(canvas, text, seek) {
    Object.assign(this, { canvas, text, racers: [], time: 0 });
    const at = (event) => seek(((event.clientX - canvas.getBoundingClientRect().left) / canvas.clientWidth) * this.end());
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      at(event);
    });
    canvas.addEventListener("pointermove", (event) => event.buttons && at(event));
  }

  end = () => Math.max(1e-9, ...this.racers.map((racer) => racer.gait.duration));

  show(racers) {
    this.racers = racers;
    const lines = racers.map(({ gait, name }) => {
      const feet = gait.robot.feet.map((body, foot) => {
        const steps = gait.frames - 1;
        let touched = 0;
        for (let step = 0; step < steps; step++) touched += gait.contacts[step * gait.robot.feet.length + foot];
        return `${gait.robot.bodies[body].replaceAll("_", " ")} ${Math.round((100 * touched) / Math.max(steps, 1))} %`;
      });
      const end = gait.terminated ? `falls after ${gait.duration.toFixed(1)} s` : `${gait.duration.toFixed(1)} s`;
      return `${racers.length > 1 ? `${name}: ` : ""}on the ground: ${feet.join(", ") || "–"} · ${end}`;
    });
    this.text.textContent = lines.join(" | ");
    this.canvas.setAttribute("aria-label", `Foot contacts. ${lines.join(". ")}`);
    this.paint();
  }

  cursor(time) {
    this.time = time;
    this.paint();
  }

  paint() {
    const rows = this.racers.reduce((sum, racer) => sum + racer.gait.robot.feet.length, 0);
    const height = rows * ROW + Math.max(0, this.racers.length - 1) * GAP + 8;
    this.canvas.hidden = rows === 0;
    const paper = rows && sharpen(this.canvas, height);
    if (!paper) return;
    const { draw, wide } = paper;
    const scale = wide / this.end();
    let top = 4;
    for (const { gait, colour } of this.racers) {
      const feet = gait.robot.feet.length;
      for (let foot = 0; foot < feet; foot++) {
        draw.fillStyle = css("--wash");
        draw.fillRect(0, top, gait.duration * scale, ROW - 2);
        draw.fillStyle = colour;
        let from = -1;
        for (let step = 0; step < gait.frames; step++) {
          const on = step < gait.frames - 1 && gait.contacts[step * feet + foot];
          if (on && from < 0) from = step;
          if (!on && from >= 0) {
            draw.fillRect(from * gait.dt * scale, top, Math.max((step - from) * gait.dt * scale, 0.7), ROW - 2);
            from = -1;
          }
        }
        top += ROW;
      }
      top += GAP;
    }
    draw.fillStyle = css("--ink");
    draw.fillRect(Math.min(this.time * scale, wide - 1.5), 0, 1.5, height);
  }
}
