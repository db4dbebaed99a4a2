// Curves from metrics.csv, the health of the reward model, and the settings.

import { $, make, number, within } from "./dom.js";

const SEARCH = ["qd_score", "coverage", "best", "mean", "episode_return", "validation_error"];
const SVG = "http://www.w3.org/2000/svg";

function plot(name, xs, ys) {
  const points = xs.map((x, i) => [x, ys[i]]).filter(([x, y]) => x !== null && y !== null);
  const figure = make("figure", { class: "plot" });
  const last = points.length ? points[points.length - 1][1] : null;
  within(figure, within(make("h4"), make("span", {}, name.replaceAll("_", " ")), make("b", {}, number(last))));
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 100 100");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  const values = points.map((p) => p[1]);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const [first, end] = [points[0]?.[0] ?? 0, points[points.length - 1]?.[0] ?? 1];
  svg.setAttribute("aria-label", `${name} from ${number(values[0])} to ${number(last)}; lowest ${number(low)}, highest ${number(high)}`);
  const base = document.createElementNS(SVG, "line");
  for (const [key, value] of [["x1", 0], ["x2", 100], ["y1", 99], ["y2", 99]]) base.setAttribute(key, value);
  const path = document.createElementNS(SVG, "path");
  const at = ([x, y]) => `${((x - first) / (end - first || 1)) * 100} ${high > low ? 96 - ((y - low) / (high - low)) * 90 : 50}`;
  path.setAttribute("d", points.length ? `M${points.map(at).join("L")}${points.length === 1 ? "h100" : ""}` : "");
  svg.append(base, path);
  within(figure, svg, within(make("p", { class: "ends" }), make("span", {}, `iteration ${number(first)}`), make("span", {}, number(end))));
  return figure;
}

export function showCurves({ columns, values }) {
  const xs = values[0] ?? [];
  const filled = columns.filter((name, i) => i > 0 && values[i].some((v) => v !== null));
  const draw = (name) => plot(name, xs, values[columns.indexOf(name)]);
  const choice = $("column");
  const chosen = choice.value;
  choice.replaceChildren(make("option", { value: "" }, "–"));
  for (const name of filled) within(choice, make("option", { value: name }, name.replaceAll("_", " ")));
  choice.value = filled.includes(chosen) ? chosen : "";
  const main = () => {
    const shown = SEARCH.filter((name) => filled.includes(name));
    if (choice.value && !shown.includes(choice.value)) shown.push(choice.value);
    $("search-curves").replaceChildren(...shown.map(draw));
    if (!filled.length) $("search-curves").replaceChildren(make("p", { class: "quiet" }, "No iteration has been made yet, or the run has no metrics.csv."));
  };
  choice.onchange = main;
  main();
  const health = filled.filter((name) => name.startsWith("reward_"));
  $("health").hidden = health.length === 0;
  $("health-curves").replaceChildren(...health.map(draw));
}

export function showSettings({ settings }) {
  const rows = settings.map(([key, value]) => within(make("div"), make("dt", {}, key), make("dd", {}, value)));
  $("settings-body").replaceChildren(...rows);
  $("settings").closest(".card").hidden = rows.length === 0;
}
