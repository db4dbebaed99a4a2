// The programs that draw the scene. A capsule is an instance: its ends, its radius and its colour.

const CAPSULE = `#version 300 es
layout(location = 0) in vec4 point;   // unit normal about the axis z, and which end
layout(location = 1) in vec4 first;   // one end, radius
layout(location = 2) in vec4 second;  // the other end, how much it glows
layout(location = 3) in vec3 tint;
uniform mat4 camera;
out vec3 normal; out vec3 place; out vec3 colour; out float glow;
void main() {
  vec3 axis = second.xyz - first.xyz;
  float size = length(axis);
  vec3 z = size > 1e-6 ? axis / size : vec3(0.0, 0.0, 1.0);
  vec3 x = normalize(abs(z.z) < 0.9 ? cross(z, vec3(0.0, 0.0, 1.0)) : cross(z, vec3(1.0, 0.0, 0.0)));
  normal = mat3(x, cross(z, x), z) * point.xyz;
  place = mix(first.xyz, second.xyz, point.w) + normal * first.w;
  colour = tint; glow = second.w;
  gl_Position = camera * vec4(place, 1.0);
}`;

const LIGHT = `
uniform mat4 lamp; uniform vec3 sun; uniform highp sampler2DShadow shadows;
float lit(vec3 at, float slack) {
  vec4 seen = lamp * vec4(at, 1.0);
  vec3 p = seen.xyz / seen.w * 0.5 + 0.5;
  if (any(lessThan(p, vec3(0.0))) || any(greaterThan(p, vec3(1.0)))) return 1.0;
  float sum = 0.0, texel = 1.3 / float(textureSize(shadows, 0).x);
  for (int i = -2; i <= 2; i++) for (int j = -2; j <= 2; j++)
    sum += texture(shadows, vec3(p.xy + vec2(i, j) * texel, p.z - slack));
  return sum / 25.0;
}`;

const SURFACE = `#version 300 es
precision highp float;
in vec3 normal; in vec3 place; in vec3 colour; in float glow;
uniform vec3 eye;
${LIGHT}
out vec4 pixel;
void main() {
  vec3 n = normalize(normal), v = normalize(eye - place);
  float seen = lit(place + n * 0.01, 0.002);
  float direct = max(dot(n, sun) * 0.75 + 0.25, 0.0) * mix(0.55, 1.0, seen);
  float shine = pow(max(dot(normalize(sun + v), n), 0.0), 40.0) * seen;
  vec3 base = mix(colour, vec3(0.95, 0.66, 0.0), glow);
  pixel = vec4(base * (0.30 + 0.11 * (1.0 + n.z) + 0.62 * direct) + base * glow * 0.12 + 0.16 * shine, 1.0);
}`;

const DEPTH = `#version 300 es
precision highp float;
void main() {}`;

const GROUND = `#version 300 es
layout(location = 0) in vec2 corner;
uniform mat4 camera; uniform vec3 middle; uniform float reach;
out vec3 place;
void main() {
  place = vec3(middle.xy + corner * reach, 0.0);
  gl_Position = camera * vec4(place, 1.0);
}`;

const CHECKS = `#version 300 es
precision highp float;
in vec3 place;
uniform vec3 even; uniform vec3 odd; uniform vec3 paper; uniform vec3 middle; uniform float reach; uniform float depth;
${LIGHT}
out vec4 pixel;
// Checks, averaged over the pixel (the integral of a square wave), so that far ones do not flicker.
float wave(float v, float w) {
  float a = v - 0.5 * w, b = v + 0.5 * w;
  float low = abs(fract(a * 0.5) * 2.0 - 1.0), high = abs(fract(b * 0.5) * 2.0 - 1.0);
  return clamp((low - high) / max(w, 1e-4), -1.0, 1.0);
}
void main() {
  vec2 at = place.xy * 2.0, width = max(fwidth(at), vec2(1e-3));
  float check = 0.5 + 0.5 * wave(at.x, width.x) * wave(at.y, width.y);
  float haze = smoothstep(0.15, 0.95, length(place.xy - middle.xy) / reach);
  vec3 colour = mix(even, odd, check);
  colour *= 1.0 - depth * (1.0 - lit(place, 0.0008));
  pixel = vec4(mix(colour, paper, haze), 1.0);
}`;

export const PROGRAMS = {
  capsules: [CAPSULE, SURFACE],
  shadows: [CAPSULE, DEPTH],
  ground: [GROUND, CHECKS],
};
