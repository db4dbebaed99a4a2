// Plays up to four gaits in step: time, speed, frames, and what is said about them.

import { $, clamp, make, number, within } from "./dom.js";
import { root } from "./gait.js";
import { Scene } from "./scene.js";
import { Strip } from "./strip.js";

export const MOST = 4;

export class Player {
  constructor(theme) {
    Object.assign(this, { theme, racers: [], time: 0, playing: false, dirty: true, last: 0 });
    const changed = () => (this.dirty = true);
    this.scene = new Scene($("scene"), changed);
    this.strip = new Strip($("contacts"), $("contacts-text"), (time) => this.seek(time));
    if (!this.scene.gl) $("empty").textContent = "This browser has no WebGL 2, so that gaits cannot be shown.";
    $("play").addEventListener("click", () => this.toggle());
    $("back").addEventListener("click", () => this.step(-1));
    $("forward").addEventListener("click", () => this.step(1));
    $("scrub").addEventListener("input", () => this.seek($("scrub").value * this.dt(), true));
    new ResizeObserver(changed).observe($("scene"));
    document.addEventListener("keydown", (event) => this.key(event));
    requestAnimationFrame((now) => this.tick(now));
  }

  dt = () => this.racers[0]?.gait.dt ?? 0.01;
  end = () => Math.max(0, ...this.racers.map((racer) => racer.gait.duration));

  // Puts gaits on the stage. The eye and the time stay if the robots are the same ones in another world.
  show(racers, { keep = false } = {}) {
    const anew = !keep || this.racers.length !== racers.length;
    this.racers = racers;
    $("empty").hidden = racers.length > 0 && !!this.scene.gl;
    $("readout").hidden = racers.length === 0;
    if (racers.length && anew) {
      this.time = 0;
      this.scene.frame(racers.map((racer) => racer.gait));
      this.scene.follow(this.gaits(), this.frames(), 1);
      this.playing = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    }
    this.time = Math.min(this.time, this.end());
    $("scrub").max = String(Math.round(this.end() / this.dt()));
    this.strip.show(racers);
    this.dirty = true;
    this.label();
  }

  gaits = () => this.racers.map((racer) => racer.gait);
  // Whole frames are the computed ones, to the last bit.
  frames() {
    return this.racers.map(({ gait }) => {
      const frame = this.time / gait.dt;
      const whole = Math.round(frame);
      return clamp(Math.abs(frame - whole) < 1e-6 ? whole : frame, 0, gait.frames - 1);
    });
  }

  toggle() {
    if (!this.playing && this.time >= this.end()) this.time = 0;
    this.playing = !this.playing && this.racers.length > 0;
    this.label();
  }

  label() {
    $("play").textContent = this.playing ? "❚❚" : "▶";
    $("play").setAttribute("aria-label", this.playing ? "Pause" : "Play");
    for (const id of ["play", "back", "forward", "scrub"]) $(id).disabled = this.racers.length === 0;
  }

  seek(time) {
    this.playing = false;
    this.time = clamp(time, 0, this.end());
    this.dirty = true;
    this.scene.follow(this.gaits(), this.frames(), 1);
    this.label();
  }

  step(count) {
    this.seek((Math.round(this.time / this.dt()) + count) * this.dt());
  }

  key(event) {
    if (event.target.closest("input, select, textarea, button, summary") || event.ctrlKey || event.metaKey || event.altKey) return;
    const actions = { " ": () => this.toggle(), ",": () => this.step(-1), ".": () => this.step(1) };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  tick(now) {
    const passed = Math.min((now - this.last) / 1000, 0.1);
    this.last = now;
    if (this.playing && this.racers.length) {
      this.time += passed * Number($("speed").value);
      // A second to see how it ended, and again.
      if (this.time > this.end() + 0.8) {
        this.time = 0;
        this.scene.follow(this.gaits(), this.frames(), 1);
      }
      this.scene.follow(this.gaits(), this.frames(), 1 - Math.exp(-passed * 7));
      this.dirty = true;
    }
    if (this.dirty && document.visibilityState === "visible") {
      this.dirty = false;
      this.draw();
    }
    requestAnimationFrame((then) => this.tick(then));
  }

  draw() {
    const frames = this.frames();
    this.scene.draw(this.racers, frames, this.theme());
    if (!this.racers.length) return;
    const shown = Math.min(this.time, this.end());
    this.strip.cursor(shown);
    $("clock").textContent = `${shown.toFixed(2)} s`;
    $("scrub").value = String(Math.round(shown / this.dt()));
    this.read(frames);
  }

  // Where the first robot is and what it has been paid; the test compares the position with the simulator's.
  read(frames) {
    const { gait } = this.racers[0];
    const frame = Math.round(frames[0]);
    const place = root(gait, frame);
    const rows = [["distance", `${number(place[0])} m`], ["height", `${number(place[2])} m`], ["return", number(gait.total[frame])]];
    const list = $("readout");
    list.replaceChildren();
    for (const [name, value] of rows) within(list, make("dt", {}, name), make("dd", {}, value));
    list.dataset.frame = String(frame);
    list.dataset.root = place.join(" ");
  }
}
