// Another world for the gaits on the stage: friction, gravity, hurdles, weak actuators, a push. Every change runs them anew.

import { $, make, number, within } from "./dom.js";

const PATIENCE = 120;

export class BreakIt {
  constructor(changed, now) {
    Object.assign(this, { changed, now, knobs: [], push: null, waiting: 0 });
    this.form = $("break-form");
    this.form.addEventListener("submit", (event) => event.preventDefault());
  }

  show({ robot, friction }) {
    const { form } = this;
    form.replaceChildren();
    Object.assign(this, { knobs: [], push: null });
    this.knob("friction", "Friction", 0, 2, 0.05, friction, "×", "friction");
    this.knob("gravity", "Gravity", 0, 2, 0.05, 1, "×", "gravity");
    this.knob("hurdles", "Hurdles", 0, 0.5, 0.01, 0, "m", "hurdles");
    if (robot?.actuators.length) within(form, make("h3", {}, "Strength of actuators"));
    for (const name of robot?.actuators ?? []) this.knob(`strength-${name}`, name.replaceAll("_", " "), 0, 1.5, 0.05, 1, "×", "strength", name);
    within(form, make("h3", {}, "Push and start"));
    this.speed = this.knob("push", "Push", -4, 4, 0.1, 1.5, "m/s", null);
    const row = make("div", { class: "row" });
    const button = (text, id, act) => {
      const made = make("button", { type: "button", id }, text);
      made.addEventListener("click", act);
      within(row, made);
      return made;
    };
    button("Push now", "push-now", () => {
      this.push = `${this.now()}:${this.speed.value}:0:0`;
      this.changed();
    });
    this.actions = make("select", { id: "actions", "aria-label": "Actions" });
    for (const [value, text] of [["", "actions as found"], ["mean", "mean actions"], ["drawn", "drawn actions"]]) within(this.actions, make("option", { value }, text));
    this.actions.addEventListener("change", () => this.changed());
    within(row, this.actions);
    this.episode = 0;
    button("Another start", "another", () => {
      this.episode += 1;
      this.changed();
    });
    button("Reset", "mend", () => this.mend());
    this.problem = make("p", { class: "problem", role: "status" });
    within(form, row, this.problem);
  }

  knob(id, label, min, max, step, usual, unit, key, name = null) {
    const input = make("input", { type: "range", id: `knob-${id}`, min, max, step, "aria-label": label });
    input.value = usual;
    // The slider rounds and limits what it is set to; a world that nobody has touched is not to be asked for.
    usual = input.value;
    const output = make("output");
    const knob = within(make("label", { class: "knob" }), make("span", { title: label }, label), output, input);
    const say = () => {
      output.textContent = unit === "×" ? `× ${number(+input.value)}` : `${number(+input.value)} ${unit}`;
      knob.dataset.changed = key && +input.value !== +usual ? "yes" : "no";
    };
    input.addEventListener("input", () => {
      say();
      if (!key) return;
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => this.changed(), PATIENCE);
    });
    say();
    this.knobs.push({ input, usual, key, name, say });
    within(this.form, knob);
    return input;
  }

  mend() {
    for (const { input, usual, say } of this.knobs) {
      input.value = usual;
      say();
    }
    Object.assign(this, { push: null, episode: 0 });
    this.actions.value = "";
    this.changed();
  }

  // What is asked of the server.
  changes() {
    const asked = {};
    const strength = [];
    for (const { input, usual, key, name } of this.knobs) {
      if (!key || +input.value === +usual) continue;
      if (key === "strength") strength.push(`${name}:${input.value}`);
      else asked[key] = input.value;
    }
    if (strength.length) asked.strength = strength.join(",");
    if (this.actions?.value) asked.actions = this.actions.value;
    if (this.episode) asked.episode = this.episode;
    if (this.push) asked.push = this.push;
    return asked;
  }

  say(problem) {
    if (this.problem) this.problem.textContent = problem;
  }
}
