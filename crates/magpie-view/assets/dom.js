// Elements of the page. Whatever comes from a run becomes text, never markup.

export const $ = (id) => document.getElementById(id);

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.map(String));
  return element;
}

export function within(element, ...children) {
  element.append(...children);
  return element;
}

export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

// A number in as many digits as people read.
export function number(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1e6) return value.toExponential(2).replace("e+", "e");
  if (size >= 100) return Math.round(value).toLocaleString("en");
  if (size >= 1 || value === 0) return String(+value.toFixed(2));
  return String(+value.toPrecision(3));
}

export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Makes a canvas as fine as the screen; null while it has no size.
export function sharpen(canvas, height) {
  const scale = Math.min(window.devicePixelRatio || 1, 2);
  if (height) canvas.style.height = `${height}px`;
  const [wide, high] = [canvas.clientWidth, canvas.clientHeight];
  if (!wide || !high) return null;
  const [width, tall] = [Math.round(wide * scale), Math.round(high * scale)];
  if (canvas.width !== width || canvas.height !== tall) {
    canvas.width = width;
    canvas.height = tall;
  }
  const draw = canvas.getContext("2d");
  draw.setTransform(scale, 0, 0, scale, 0, 0);
  draw.clearRect(0, 0, wide, high);
  draw.font = "12px Inter, ui-sans-serif, system-ui, sans-serif";
  return { draw, wide, high };
}
