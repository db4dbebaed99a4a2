// An archive as fields that can be drawn: bars for one measure, a field for two, a field for each pair above.

// The coordinates of a cell of a grid; the last dimension counts fastest.
export function coordinates(cell, dims) {
  const found = new Array(dims.length);
  for (let i = dims.length - 1; i >= 0; i--) {
    found[i] = cell % dims[i];
    cell = Math.floor(cell / dims[i]);
  }
  return found;
}

export const cellName = (outline, cell) => (outline.grid ? coordinates(cell, outline.grid).join(",") : String(cell));

// Where the middle of a cell lies, in shares of the ranges.
function place(outline, index) {
  const cell = outline.elites.cell[index];
  if (outline.grid) return coordinates(cell, outline.grid).map((at, i) => (at + 0.5) / outline.grid[i]);
  const dims = outline.names.length;
  return outline.ranges.map(([low, high], i) => (outline.centroids[cell * dims + i] - low) / (high - low));
}

// Fields, each with marks: the elite that is shown, its place, and its extent in shares of the field.
export function fields(outline) {
  const { names, grid, elites } = outline;
  const dims = names.length;
  const all = elites.cell.map((_, index) => index);
  if (dims === 1) return [bars(outline, all)];
  const pairs = [];
  for (let y = 1; y < dims; y++) for (let x = 0; x < y; x++) pairs.push([x, y]);
  return pairs.map(([x, y]) => {
    // Of the elites behind each other, the best one is seen.
    const best = new Map();
    for (const index of all) {
      const at = place(outline, index);
      const key = grid ? `${Math.floor(at[x] * grid[x])},${Math.floor(at[y] * grid[y])}` : index;
      const before = best.get(key);
      if (!before || elites.objective[index] > elites.objective[before.index]) best.set(key, { index, x: at[x], y: at[y] });
    }
    const size = grid ? [1 / grid[x], 1 / grid[y]] : [0, 0];
    const kind = grid ? "grid" : dims === 2 ? "regions" : "points";
    return { kind, axes: [x, y], marks: [...best.values()], size };
  });
}

function bars(outline, all) {
  const { grid, ranges, elites, centroids, cells } = outline;
  const [low, high] = ranges[0];
  const top = Math.max(1e-9, ...elites.objective);
  const order = grid ? [] : centroids.map((c, cell) => [(c - low) / (high - low), cell]).sort((a, b) => a[0] - b[0]);
  const span = new Map();
  order.forEach(([at, cell], i) => {
    const from = i ? (order[i - 1][0] + at) / 2 : 0;
    const to = i + 1 < cells ? (order[i + 1][0] + at) / 2 : 1;
    span.set(cell, [from, to]);
  });
  const marks = all.map((index) => {
    const cell = elites.cell[index];
    const [from, to] = grid ? [cell / grid[0], (cell + 1) / grid[0]] : span.get(cell);
    return { index, x: (from + to) / 2, y: Math.max(0, elites.objective[index]) / top, wide: to - from };
  });
  return { kind: "bars", axes: [0, -1], marks, size: [0, 0], top };
}

// The nearest mark of every pixel of a field of regions, by a grid of buckets.
export function regions(points, wide, high) {
  const side = Math.max(1, Math.round(Math.sqrt(points.length / 2)));
  const buckets = Array.from({ length: side * side }, () => []);
  const bucket = (v) => Math.min(side - 1, Math.max(0, Math.floor(v * side)));
  points.forEach(([x, y], i) => buckets[bucket(y) * side + bucket(x)].push(i));
  const nearest = new Int32Array(wide * high).fill(-1);
  for (let row = 0; row < high; row++)
    for (let column = 0; column < wide; column++) {
      const [x, y] = [(column + 0.5) / wide, 1 - (row + 0.5) / high];
      let [best, found] = [Infinity, -1];
      for (let ring = 0; ring <= side; ring++) {
        if (found >= 0 && (ring - 1) / side > Math.sqrt(best)) break;
        for (let j = bucket(y) - ring; j <= bucket(y) + ring; j++)
          for (let i = bucket(x) - ring; i <= bucket(x) + ring; i++) {
            const edge = Math.abs(j - bucket(y)) === ring || Math.abs(i - bucket(x)) === ring;
            if (!edge || i < 0 || j < 0 || i >= side || j >= side) continue;
            for (const p of buckets[j * side + i]) {
              const distance = (points[p][0] - x) ** 2 + (points[p][1] - y) ** 2;
              if (distance < best) [best, found] = [distance, p];
            }
          }
      }
      nearest[row * wide + column] = found;
    }
  return nearest;
}
