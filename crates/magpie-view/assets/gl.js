// The little of WebGL 2 that the scene needs.

import { PROGRAMS } from "./shaders.js";

function compile(gl, [vertex, fragment]) {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    const logs = gl.getAttachedShaders(program).map((shader) => gl.getShaderInfoLog(shader));
    throw new Error([gl.getProgramInfoLog(program), ...logs].join("\n"));
  }
  const at = {};
  const count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS) || 0;
  for (let i = 0; i < count; i++) {
    const { name } = gl.getActiveUniform(program, i);
    at[name] = gl.getUniformLocation(program, name);
  }
  return { program, at };
}

export const programs = (gl) => Object.fromEntries(Object.entries(PROGRAMS).map(([name, pair]) => [name, compile(gl, pair)]));

// A ball that is cut at its equator: vertices have a normal and an end, and triangles join the halves to a tube.
export function capsuleMesh(gl) {
  const [around, rings] = [24, 7];
  const points = [];
  for (let end = 0; end < 2; end++)
    for (let ring = 0; ring <= rings; ring++) {
      const tilt = ((end ? ring : ring - rings) / rings) * (Math.PI / 2);
      for (let i = 0; i < around; i++) {
        const angle = (i / around) * 2 * Math.PI;
        points.push(Math.cos(tilt) * Math.cos(angle), Math.cos(tilt) * Math.sin(angle), Math.sin(tilt), end);
      }
    }
  const triangles = [];
  for (let row = 0; row < 2 * rings + 1; row++)
    for (let i = 0; i < around; i++) {
      const [a, b] = [row * around + i, row * around + ((i + 1) % around)];
      triangles.push(a, b, a + around, b, b + around, a + around);
    }
  const buffer = (target, data) => {
    const made = gl.createBuffer();
    gl.bindBuffer(target, made);
    gl.bufferData(target, data, gl.STATIC_DRAW);
    return made;
  };
  const array = gl.createVertexArray();
  gl.bindVertexArray(array);
  buffer(gl.ARRAY_BUFFER, new Float32Array(points));
  gl.enableVertexAttribArray(0);
  gl.vertexAttribPointer(0, 4, gl.FLOAT, false, 0, 0);
  const instances = gl.createBuffer();
  gl.bindBuffer(gl.ARRAY_BUFFER, instances);
  for (const [place, size, offset] of [[1, 4, 0], [2, 4, 16], [3, 3, 32]]) {
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, size, gl.FLOAT, false, 44, offset);
    gl.vertexAttribDivisor(place, 1);
  }
  buffer(gl.ELEMENT_ARRAY_BUFFER, new Uint16Array(triangles));
  gl.bindVertexArray(null);
  return { array, instances, count: triangles.length };
}

export function groundMesh(gl) {
  const array = gl.createVertexArray();
  gl.bindVertexArray(array);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), gl.STATIC_DRAW);
  gl.enableVertexAttribArray(0);
  gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
  gl.bindVertexArray(null);
  return array;
}

// What the lamp sees: a depth that is compared where it is read.
export function shadowMap(gl, size) {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, size, size);
  for (const [name, value] of [
    [gl.TEXTURE_MIN_FILTER, gl.LINEAR], [gl.TEXTURE_MAG_FILTER, gl.LINEAR],
    [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE],
    [gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE], [gl.TEXTURE_COMPARE_FUNC, gl.LEQUAL],
  ]) gl.texParameteri(gl.TEXTURE_2D, name, value);
  const frame = gl.createFramebuffer();
  gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, texture, 0);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  return { frame, texture, size };
}
