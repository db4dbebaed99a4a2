// Where runs and gaits come from: the server, or the page itself if it was exported.

import { $ } from "./dom.js";

const kept = $("data") && JSON.parse($("data").textContent);

// Whether gaits can be computed anew.
export const interactive = !kept;

async function ask(path, signal) {
  let answer;
  try {
    answer = await fetch(path, { signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("the server does not answer; is magpie view still running?");
  }
  if (!answer.ok) throw new Error((await answer.text()) || `${answer.status}`);
  return answer;
}

export const runs = async () => (kept ? kept.runs.map((run) => run.outline.name) : (await ask("/api/runs")).json());

export const outline = async (run) => (kept ? kept.runs[run].outline : (await ask(`/api/run/${run}/outline`)).json());

export const metrics = async (run) => (kept ? kept.runs[run].metrics : (await ask(`/api/run/${run}/metrics`)).json());

export const pictures = async (run) => (kept ? [] : (await ask(`/api/run/${run}/pictures`)).json());

export const picture = (run, iteration) => `/api/run/${run}/picture/${iteration}`;

// The cells whose gaits are there; null for all.
export const playable = (run) => (kept ? new Set(Object.keys(kept.runs[run].gaits).map(Number)) : null);

export async function gait(run, cell, changes = {}, signal = undefined) {
  if (kept) {
    const text = kept.runs[run].gaits[cell ?? Object.keys(kept.runs[run].gaits)[0]];
    if (!text) throw new Error("this page holds the gaits of the cells with a dot only");
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
  }
  const query = new URLSearchParams(changes);
  if (cell !== null && cell !== undefined) query.set("cell", cell);
  return (await ask(`/api/run/${run}/gait?${query}`, signal)).arrayBuffer();
}

// Tells which part of which run has changed, and whether the server is there.
export function listen(changed, state) {
  if (kept) return;
  const events = new EventSource("/api/events");
  events.addEventListener("open", () => state(true));
  events.addEventListener("error", () => state(false));
  events.addEventListener("changed", (event) => changed(JSON.parse(event.data)));
}
