// The page: loads a run, and connects the map, the stage and what changes the world.

import * as api from "./api.js";
import { BreakIt } from "./breakit.js";
import { ROBOTS } from "./colour.js";
import { showCurves, showSettings } from "./curves.js";
import { $, make, number, within } from "./dom.js";
import { cellName } from "./fields.js";
import { unpack } from "./gait.js";
import { HeatMap } from "./map.js";
import { MOST, Player } from "./player.js";

const dark = matchMedia("(prefers-color-scheme: dark)");
const page = { run: 0, outline: null, cells: [], asking: null, problems: new Map() };

const theme = () => document.documentElement.dataset.theme;
function dress(name) {
  document.documentElement.dataset.theme = name;
  map.paint();
  player.dirty = true;
  player.strip.paint();
}

const player = new Player(theme);
const map = new HeatMap((cell, joins) => choose(cell, joins));
const world = new BreakIt(() => replay(true), () => Math.round(player.frames()[0] ?? 0) * (player.racers[0]?.gait.stride ?? 1));

// A problem is told until what caused it works again.
function tell(what, problem) {
  if (problem) page.problems.set(what, problem);
  else page.problems.delete(what);
  const all = [...page.problems.values()];
  $("notice").textContent = all.join(" · ");
  $("notice").hidden = all.length === 0;
}

async function trying(what, act) {
  try {
    await act();
    tell(what, null);
  } catch (error) {
    if (error.name !== "AbortError") tell(what, error.message);
  }
}

const load = (parts = ["archive", "metrics"]) => {
  const run = page.run;
  const jobs = [];
  if (parts.includes("archive")) jobs.push(trying("archive", () => loadArchive(run)));
  if (parts.includes("metrics")) jobs.push(trying("metrics", async () => {
    const metrics = await api.metrics(run);
    if (run !== page.run) return;
    showCurves(metrics);
    showSettings(metrics);
    tell("metrics file", metrics.problems[0]);
  }));
  return Promise.all(jobs);
};

async function loadArchive(run) {
  const outline = await api.outline(run);
  if (run !== page.run) return;
  const first = page.outline?.path !== outline.path;
  page.outline = outline;
  tell("run", outline.problems[0]);
  const made = outline.planned ? `${outline.iteration} of ${outline.planned} iterations` : `iteration ${outline.iteration}`;
  $("title").textContent = outline.kind === "policy" ? outline.task : `${outline.task} · ${outline.measure.replaceAll("_", " ")}`;
  $("subtitle").textContent = [outline.kind === "policy" ? "one policy" : made, outline.finished ? "finished" : "", outline.world ?? ""].filter(Boolean).join(" · ");
  document.title = `${outline.name} · magpie`;
  const { metrics } = outline;
  const numbers = [["elites", `${number(metrics.elites)} of ${number(outline.cells)}`], ["coverage", `${number(100 * metrics.coverage)} %`], ["QD-Score", number(metrics.qd_score)], ["best return", number(metrics.best)], ["mean return", number(metrics.mean)]];
  $("numbers").replaceChildren(...numbers.map(([name, value]) => within(make("div"), make("dt", {}, name), make("dd", {}, value))));
  $("archive").dataset.iteration = outline.iteration;
  const one = outline.kind === "policy";
  for (const id of ["numbers", "map", "map-help"]) $(id).hidden = one;
  $("legend").hidden = one;
  if (!one) map.show(outline, api.playable(run));
  if (first) world.show(outline);
  await showTimes(run);
  if (first && (one || outline.elites.cell.length)) {
    const playable = api.playable(run);
    const best = one ? null : outline.elites.cell[map.best()];
    choose(playable && !playable.has(best) ? [...playable][0] : best, false);
  }
}

// The slider through the pictures that the run has drawn; its last place is the archive as it is.
async function showTimes(run) {
  const times = await api.pictures(run).catch(() => []);
  const slider = $("time");
  const atEnd = slider.value === slider.max;
  $("time-choice").hidden = times.length < 2 || page.outline.kind === "policy";
  slider.max = String(times.length);
  if (atEnd) slider.value = slider.max;
  const show = () => {
    const time = times[slider.value];
    $("past").hidden = time === undefined;
    $("cells").hidden = time !== undefined;
    if (time !== undefined) {
      $("past").src = api.picture(run, time);
      $("past").alt = `The archive in iteration ${time}`;
    }
    $("time-now").textContent = time === undefined ? "now" : `iteration ${time}`;
  };
  slider.oninput = show;
  show();
}

function choose(cell, joins) {
  const others = joins ? page.cells.filter((other) => other !== cell) : [];
  page.cells = [...others.slice(-(MOST - 1)), cell];
  replay(false);
}

// Runs the gaits on the stage in the world that the sliders say.
async function replay(keep) {
  page.asking?.abort();
  const asking = (page.asking = new AbortController());
  const { run, cells } = page;
  const changes = api.interactive ? world.changes() : {};
  $("stage").setAttribute("aria-busy", "true");
  try {
    const gaits = await Promise.all(cells.map((cell) => api.gait(run, cell, changes, asking.signal).then(unpack)));
    if (asking !== page.asking) return;
    const racers = gaits.map((gait, i) => ({ gait, cell: gait.cell, name: gait.cell === null ? gait.name : `cell ${gait.name}`, colour: ROBOTS[i] }));
    player.show(racers, { keep });
    world.say("");
    tell("gait", null);
    badges(racers);
    map.race(racers);
    $("stage").dataset.gaits = gaits.map((gait) => gait.total[gait.frames - 1]).join(" ");
  } catch (error) {
    if (error.name === "AbortError") return;
    world.say(error.message);
    if (!api.interactive || !keep) tell("gait", error.message);
  }
  $("stage").setAttribute("aria-busy", "false");
}

function badges(racers) {
  $("racers").replaceChildren(...racers.map(({ name, colour, gait, cell }) => {
    const dot = make("i", { "aria-hidden": "true" });
    dot.style.background = colour;
    const item = within(make("li"), dot, make("span", {}, `${name} · ${number(gait.total[gait.frames - 1])}`));
    const away = make("button", { type: "button", "aria-label": `Take ${name} off the stage` }, "×");
    away.addEventListener("click", () => {
      page.cells = page.cells.filter((other) => other !== cell);
      replay(true);
    });
    if (racers.length > 1) within(item, away);
    else within(item, make("span", {}, " "));
    return item;
  }));
}

async function begin() {
  dress(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => dress(dark.matches ? "dark" : "light"));
  $("theme").addEventListener("click", () => dress(theme() === "dark" ? "light" : "dark"));
  if (!api.interactive) {
    $("break").hidden = true;
    $("map-help").textContent = "Click a cell with a dot to watch its gait; Shift-click to race it against others. Keys: arrows, Enter, Shift-Enter, B for the best.";
  }
  const names = await api.runs();
  $("run").replaceChildren(...names.map((name, i) => make("option", { value: i }, name)));
  $("run").addEventListener("change", () => {
    Object.assign(page, { run: Number($("run").value), cells: [], outline: null });
    page.problems.clear();
    load();
  });
  const state = (there) => {
    // What changed meanwhile was not told.
    if (there && $("status").dataset.live === "lost") load();
    $("status").dataset.live = there ? "yes" : "lost";
    $("status").textContent = there ? "live" : "the server is gone; waiting for it";
  };
  api.listen(({ run, part }) => run === page.run && load([part]), state);
  if (!api.interactive) $("status").textContent = "exported page";
  await load();
  document.documentElement.dataset.ready = "yes";
}

trying("page", begin);
