"use strict";
// One axis at a time.
for (const axes of document.querySelectorAll(".axes")) {
  const parts = [...axes.querySelectorAll(".axis")];
  const tabs = document.createElement("div");
  tabs.className = "tabs";
  const show = (chosen) => {
    for (const part of parts) part.hidden = part !== chosen;
    [...tabs.children].forEach((tab, i) => tab.setAttribute("aria-pressed", String(parts[i] === chosen)));
  };
  for (const part of parts) {
    const tab = document.createElement("button");
    tab.type = "button";
    tab.textContent = part.querySelector("h4").textContent;
    tab.addEventListener("click", () => show(part));
    tabs.append(tab);
  }
  axes.classList.add("tabbed");
  axes.prepend(tabs);
  show(parts[0]);
}

// Tables sorted by a column.
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  const heads = [...table.querySelectorAll("thead th")];
  const key = (row, i) => {
    const cell = row.cells[i];
    return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
  };
  heads.forEach((head, i) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const compare = (a, b) => {
        const [x, y] = [key(a, i), key(b, i)];
        if (typeof x !== typeof y) return typeof x === "number" ? -1 : 1;
        const order = typeof x === "number" ? x - y : x.localeCompare(y, "en", { numeric: true });
        return up ? order : -order;
      };
      body.append(...[...body.rows].sort(compare));
    });
  });
}

// The numbers under the pointer. A picture says where its fields are; curves are read back from their own points.
const hint = document.getElementById("hint");
const digits = (v) => {
  const size = Math.abs(v);
  if (size >= 1e6) return (v / 1e6).toFixed(3) + " M";
  if (size >= 1e4) return (v / 1e3).toFixed(1) + " k";
  return size >= 100 ? v.toFixed(0) : String(Number(v.toPrecision(3)));
};
const back = ([low, high, from, to], pixel) => low + ((pixel - from) / (to - from)) * (high - low);
const heightAt = (points, x) => {
  if (x < points[0][0] - 1 || x > points[points.length - 1][0] + 1) return null;
  const i = points.findIndex((p) => p[0] >= x);
  if (i <= 0) return points[i < 0 ? points.length - 1 : 0][1];
  const [a, b] = [points[i - 1], points[i]];
  return b[0] === a[0] ? b[1] : a[1] + ((x - a[0]) / (b[0] - a[0])) * (b[1] - a[1]);
};
const say = (svg, event) => {
  const box = svg.getBoundingClientRect();
  const scale = svg.viewBox.baseVal.width / box.width;
  const [px, py] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
  for (const text of svg.dataset.fields.split(";")) {
    const n = text.split(" ").map(Number);
    const [x, y, [across, up]] = [n.slice(0, 4), n.slice(4, 8), n.slice(8)];
    if (px < x[2] || px > x[3] || py < y[3] || py > y[2]) continue;
    const value = event.target.dataset && event.target.dataset.value;
    // Regions of centroids have no rows and columns.
    if (across === 0 && value !== undefined) return "return about " + digits(Number(value));
    if (across > 0) {
      const cell = (axis, count, pixel) =>
        Math.min(count - 1, Math.floor(((pixel - axis[2]) / (axis[3] - axis[2])) * count));
      const where = up > 0 ? cell(x, across, px) + "," + cell(y, up, py) : String(cell(x, across, px));
      return "cell " + where + (value === undefined ? ": empty" : ": return " + (up > 0 ? "about " : "") + digits(Number(value)));
    }
    const lines = [...svg.querySelectorAll("path[data-name]")].map((path) => {
      const points = path.getAttribute("d").slice(1).split("L").map((p) => p.split(" ").map(Number));
      const height = heightAt(points, px);
      return height === null ? null : path.dataset.name + ": " + digits(back(y, height));
    });
    return ["at " + digits(back(x, px)), ...lines.filter((line) => line !== null)].join("\n");
  }
  return null;
};
for (const svg of document.querySelectorAll("svg[data-fields]")) {
  svg.addEventListener("pointermove", (event) => {
    const text = say(svg, event);
    hint.hidden = text === null;
    if (text === null) return;
    hint.textContent = text;
    const [width, height] = [hint.offsetWidth, hint.offsetHeight];
    const left = event.clientX + 16 + width > innerWidth ? event.clientX - 12 - width : event.clientX + 16;
    hint.style.left = Math.max(4, left) + "px";
    hint.style.top = Math.max(4, Math.min(event.clientY + 16, innerHeight - height - 4)) + "px";
  });
  svg.addEventListener("pointerleave", () => { hint.hidden = true; });
}
