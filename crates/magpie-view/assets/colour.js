// Colours that the colour-blind tell apart: viridis for numbers, Okabe and Ito's for robots.

const VIRIDIS = [
  [68, 1, 84], [72, 26, 108], [71, 47, 125], [65, 68, 135], [57, 86, 140], [49, 104, 142], [42, 120, 142], [35, 136, 142],
  [31, 152, 139], [34, 168, 132], [53, 183, 121], [84, 197, 104], [122, 209, 81], [165, 219, 54], [210, 226, 27], [253, 231, 37],
];

export const ROBOTS = ["#0072b2", "#d55e00", "#009e73", "#b5679d"];
export const MARK = "#d55e00";

export function viridis(share) {
  const at = Math.min(Math.max(share, 0), 1) * 15;
  const i = Math.min(Math.floor(at), 14);
  const mixed = VIRIDIS[i].map((low, c) => Math.round(low + (at - i) * (VIRIDIS[i + 1][c] - low)));
  return `rgb(${mixed.join(" ")})`;
}

export const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255);
