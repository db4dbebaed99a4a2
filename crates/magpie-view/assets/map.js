// The heat map: drawing it, and what is under the pointer.

import { MARK, viridis } from "./colour.js";
import { $, clamp, css, make, number, sharpen, within } from "./dom.js";
import { cellName, fields, regions } from "./fields.js";

const MARGIN = { left: 52, right: 10, top: 8, bottom: 44 };

export class HeatMap {
  // `chosen` is told the cell that was picked, and whether it joins a race.
  constructor(chosen) {
    Object.assign(this, { chosen, canvas: $("cells"), outline: null, fields: [], at: null, racing: [], playable: null, shapes: [] });
    const { canvas } = this;
    canvas.addEventListener("pointermove", (event) => this.hover(this.under(event)));
    canvas.addEventListener("pointerleave", () => this.hover(null));
    canvas.addEventListener("click", (event) => this.pick(this.under(event), event.shiftKey));
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("blur", () => this.hover(null));
    new ResizeObserver(() => this.paint()).observe($("map"));
  }

  show(outline, playable) {
    const [field, index] = [this.at?.field, this.at && this.outline?.elites.cell[this.at.mark.index]];
    Object.assign(this, { outline, playable, fields: fields(outline), shapes: [] });
    // What was pointed at stays pointed at, if it is still there.
    const mark = this.fields[field]?.marks.find((m) => outline.elites.cell[m.index] === index);
    this.at = mark ? { field, mark } : null;
    const { elites } = outline;
    this.low = Math.min(...elites.objective);
    this.high = Math.max(...elites.objective);
    if (!elites.cell.length) [this.low, this.high] = [0, 1];
    const label = `${outline.task}, ${outline.names.join(" and ")}: ${elites.cell.length} of ${outline.cells} cells hold an elite, returns from ${number(this.low)} to ${number(this.high)}.`;
    this.canvas.setAttribute("aria-label", label);
    this.legend();
    this.paint();
  }

  race(cells) {
    this.racing = cells;
    this.paint();
  }

  share(index) {
    return this.high > this.low ? (this.outline.elites.objective[index] - this.low) / (this.high - this.low) : 1;
  }

  // Where the fields are: one that fills the width, or several beside each other.
  layout() {
    const wide = $("map").clientWidth;
    const count = this.fields.length;
    const columns = count === 1 ? 1 : wide > 640 ? 3 : 2;
    const width = wide / columns;
    const bars = this.fields[0]?.kind === "bars";
    const side = width - MARGIN.left - MARGIN.right;
    const inner = bars ? Math.min(side * 0.55, 320) : Math.min(side, count === 1 ? Math.max(300, window.innerHeight - 330) : side);
    const height = inner + MARGIN.top + MARGIN.bottom;
    const boxes = this.fields.map((_, i) => ({
      x: (i % columns) * width + MARGIN.left,
      y: Math.floor(i / columns) * height + MARGIN.top,
      w: side,
      h: inner,
    }));
    return { boxes, height: Math.ceil(count / columns) * height };
  }

  paint() {
    if (!this.outline || !this.fields.length) return;
    const { boxes, height } = this.layout();
    const paper = sharpen(this.canvas, height);
    if (!paper) return;
    this.boxes = boxes;
    this.fields.forEach((field, i) => this.field(paper.draw, field, boxes[i], i));
  }

  field(draw, field, box, number) {
    draw.fillStyle = css("--wash");
    draw.fillRect(box.x, box.y, box.w, box.h);
    draw.save();
    draw.beginPath();
    draw.rect(box.x, box.y, box.w, box.h);
    draw.clip();
    if (field.kind === "regions") this.regions(draw, field, box, number);
    else for (const mark of field.marks) this.mark(draw, field, box, mark);
    for (const mark of this.playable ? field.marks : []) if (this.playable.has(this.outline.elites.cell[mark.index])) this.dot(draw, field, box, mark);
    const ring = (mark, colour, width) => {
      const [x, y, w, h] = this.extent(field, box, mark);
      draw.lineWidth = width;
      draw.strokeStyle = colour;
      draw.strokeRect(x - 1, y - 1, w + 2, h + 2);
    };
    for (const { cell, colour } of this.racing) {
      const mark = field.marks.find((m) => this.outline.elites.cell[m.index] === cell);
      if (!mark) continue;
      ring(mark, "#fff", 5);
      ring(mark, colour, 3);
    }
    if (this.at?.field === number) {
      ring(this.at.mark, "#fff", 4);
      ring(this.at.mark, "#111", 1.6);
    }
    for (const demo of this.outline.demonstrations) this.demonstration(draw, field, box, demo);
    draw.restore();
    this.axes(draw, field, box);
  }

  mark(draw, field, box, mark) {
    const [x, y, w, h] = this.extent(field, box, mark);
    draw.fillStyle = viridis(this.share(mark.index));
    // Edges on whole pixels, so that there is no seam between neighbours.
    const [left, top] = [Math.round(x), Math.round(y)];
    if (field.kind === "grid") draw.fillRect(left, top, Math.round(x + w) - left, Math.round(y + h) - top);
    else draw.fillRect(x, y, Math.max(w, 1), h);
  }

  // A cell whose gait an exported page holds.
  dot(draw, field, box, mark) {
    const [x, y, w, h] = this.extent(field, box, mark);
    draw.beginPath();
    draw.arc(x + w / 2, field.kind === "bars" ? y + 6 : y + h / 2, 3, 0, 7);
    draw.fillStyle = "#fff";
    draw.fill();
    draw.lineWidth = 1.2;
    draw.strokeStyle = "#222";
    draw.stroke();
  }

  regions(draw, field, box, number) {
    const { outline } = this;
    const [wide, high] = [Math.round(box.w), Math.round(box.h)];
    let kept = this.shapes[number];
    if (!kept || kept.wide !== wide || kept.high !== high) {
      const points = Array.from({ length: outline.cells }, (_, cell) =>
        outline.ranges.map(([low, r], i) => (outline.centroids[cell * 2 + i] - low) / (r - low)));
      kept = this.shapes[number] = { wide, high, nearest: regions(points, wide, high) };
    }
    const elite = new Map(field.marks.map((mark) => [outline.elites.cell[mark.index], mark.index]));
    const colours = new Map();
    for (let row = 0; row < high; row++)
      for (let column = 0; column < wide; ) {
        const cell = kept.nearest[row * wide + column];
        let end = column + 1;
        while (end < wide && kept.nearest[row * wide + end] === cell) end++;
        if (elite.has(cell)) {
          if (!colours.has(cell)) colours.set(cell, viridis(this.share(elite.get(cell))));
          draw.fillStyle = colours.get(cell);
          draw.fillRect(box.x + column, box.y + row, end - column, 1);
        }
        column = end;
      }
  }

  // Left, top, width and height of a mark.
  extent(field, box, mark) {
    if (field.kind === "bars") {
      const high = Math.max(2, mark.y * box.h);
      return [box.x + (mark.x - mark.wide / 2) * box.w, box.y + box.h - high, Math.max(mark.wide * box.w - (mark.wide * box.w > 4 ? 1 : 0), 1), high];
    }
    const [w, h] = field.kind === "grid" ? [field.size[0] * box.w, field.size[1] * box.h] : [7, 7];
    return [box.x + mark.x * box.w - w / 2, box.y + (1 - mark.y) * box.h - h / 2, w, h];
  }

  demonstration(draw, field, box, demo) {
    const share = (i) => (demo[i] - this.outline.ranges[i][0]) / (this.outline.ranges[i][1] - this.outline.ranges[i][0]);
    const [x, y] = field.axes;
    const at = [box.x + clamp(share(x), 0, 1) * box.w, y < 0 ? box.y + 10 : box.y + (1 - clamp(share(y), 0, 1)) * box.h];
    draw.beginPath();
    draw.arc(at[0], at[1], 5, 0, 7);
    draw.fillStyle = "#fff";
    draw.fill();
    draw.lineWidth = 2.5;
    draw.strokeStyle = MARK;
    draw.stroke();
  }

  axes(draw, field, box) {
    const { names, ranges } = this.outline;
    const [x, y] = field.axes;
    draw.fillStyle = css("--faint");
    draw.textBaseline = "top";
    for (const share of [0, 0.5, 1]) {
      draw.textAlign = share === 0 ? "left" : share === 1 ? "right" : "center";
      const value = ranges[x][0] + share * (ranges[x][1] - ranges[x][0]);
      draw.fillText(number(value), box.x + share * box.w, box.y + box.h + 6);
    }
    draw.textAlign = "right";
    draw.textBaseline = "middle";
    const [low, high] = y < 0 ? [0, field.top] : ranges[y];
    for (const share of [0, 0.5, 1])
      draw.fillText(number(low + share * (high - low)), box.x - 6, clamp(box.y + (1 - share) * box.h, box.y + 6, box.y + box.h - 6));
    draw.fillStyle = css("--ink");
    draw.textAlign = "center";
    draw.textBaseline = "top";
    draw.fillText(names[x].replaceAll("_", " "), box.x + box.w / 2, box.y + box.h + 23, box.w);
    draw.save();
    draw.translate(box.x - 50, box.y + box.h / 2);
    draw.rotate(-Math.PI / 2);
    draw.fillText(y < 0 ? "return" : names[y].replaceAll("_", " "), 0, 0, box.h);
    draw.restore();
  }

  legend() {
    const legend = $("legend");
    const scale = make("canvas", { width: "130", height: "10", "aria-hidden": "true" });
    const draw = scale.getContext("2d");
    for (let i = 0; i < 130; i++) {
      draw.fillStyle = viridis(i / 129);
      draw.fillRect(i, 0, 1, 10);
    }
    legend.replaceChildren();
    within(legend, make("span", {}, number(this.low)), scale, make("span", {}, `${number(this.high)} return`));
    if (this.outline.demonstrations.length) within(legend, within(make("span"), make("i", { class: "mark", "aria-hidden": "true" }), "demonstrations"));
  }

  under(event) {
    const box = this.canvas.getBoundingClientRect();
    return this.find(event.clientX - box.left, event.clientY - box.top);
  }

  find(x, y) {
    const number = (this.boxes ?? []).findIndex((b) => x >= b.x && x < b.x + b.w && y >= b.y && y < b.y + b.h);
    if (number < 0) return null;
    const [field, box] = [this.fields[number], this.boxes[number]];
    if (field.kind === "regions") {
      const kept = this.shapes[number];
      const cell = kept?.nearest[Math.floor(y - box.y) * kept.wide + Math.floor(x - box.x)];
      const mark = field.marks.find((m) => this.outline.elites.cell[m.index] === cell);
      return mark ? { field: number, mark } : null;
    }
    const slack = field.kind === "points" ? 3 : 0;
    const inside = field.marks.filter((mark) => {
      const [left, top, w, h] = this.extent(field, box, mark);
      // A bar is under the pointer in its whole column.
      const above = field.kind === "bars" || y >= top - slack;
      return x >= left - slack && x < left + w + slack && above && (field.kind === "bars" || y < top + h + slack);
    });
    return inside.length ? { field: number, mark: inside[inside.length - 1] } : null;
  }

  // What people want to know about an elite.
  facts(index) {
    const { elites, names } = this.outline;
    const rows = [["return", number(elites.objective[index])], ["length", `${number(elites.length[index])} steps`]];
    names.forEach((name, i) => rows.push([name.replaceAll("_", " "), number(elites.measures[index * names.length + i])]));
    return [...rows, ["found in iteration", number(elites.iteration[index])]];
  }

  hover(at) {
    const tip = $("tip");
    const changed = at?.mark !== this.at?.mark || at?.field !== this.at?.field;
    this.at = at;
    tip.hidden = !at;
    if (changed) this.paint();
    if (!at) return;
    const cell = this.outline.elites.cell[at.mark.index];
    tip.replaceChildren(make("b", {}, `Cell ${cellName(this.outline, cell)}`));
    for (const [name, value] of this.facts(at.mark.index)) within(tip, within(make("span"), make("i", {}, name), make("strong", {}, value)));
    const [x, y, w] = this.extent(this.fields[at.field], this.boxes[at.field], at.mark);
    const right = x + w + 12 + tip.offsetWidth < this.canvas.clientWidth;
    tip.style.left = `${right ? x + w + 12 : Math.max(0, x - tip.offsetWidth - 12)}px`;
    tip.style.top = `${clamp(y - 20, 0, Math.max(0, this.canvas.clientHeight - tip.offsetHeight))}px`;
  }

  pick(at, joins) {
    if (at) this.chosen(this.outline.elites.cell[at.mark.index], joins);
  }

  best() {
    const { objective } = this.outline.elites;
    return objective.length ? objective.indexOf(Math.max(...objective)) : -1;
  }

  key(event) {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    const start = () => {
      const index = this.best();
      const mark = this.fields[0]?.marks.find((m) => m.index === index);
      return mark ? { field: 0, mark } : null;
    };
    if (way) this.hover(this.at ? this.neighbour(way) : start());
    else if (event.key === "b" || event.key === "B") this.hover(start());
    else if (event.key === "Enter") this.pick(this.at, event.shiftKey);
    else return;
    event.preventDefault();
    if (!this.at) return;
    const said = this.facts(this.at.mark.index).map((pair) => pair.join(" "));
    $("announce").textContent = `Cell ${cellName(this.outline, this.outline.elites.cell[this.at.mark.index])}: ${said.join(", ")}`;
  }

  // The nearest mark in a direction; going astray counts twice.
  neighbour([right, up]) {
    const { field, mark } = this.at;
    let [best, found] = [Infinity, mark];
    for (const other of this.fields[field].marks) {
      const [x, y] = [other.x - mark.x, this.fields[field].kind === "bars" ? 0 : other.y - mark.y];
      const [along, across] = [x * right + y * up, Math.abs(x * up) + Math.abs(y * right)];
      if (along > 1e-9 && along + 2 * across < best) [best, found] = [along + 2 * across, other];
    }
    return { field, mark: found };
  }
}
