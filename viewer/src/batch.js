// batch.js -- many solids in one drawing call.
//
// All solids of a batch are one list of triangles; each vertex has the number of a slot.  A texture contains one
// matrix per slot, which the vertex shader applies.  For a picture only the matrices are sent.  InstancedMesh needs
// less memory, but without a graphics card its instances are drawn one by one: a thousand bodies took five times
// as long.
import {
  BufferAttribute, BufferGeometry, Color, DataTexture, FloatType, Matrix3, Matrix4, Mesh, MeshStandardMaterial, RGBAFormat, Ray,
  ShaderMaterial, Sphere, Vector3,
} from 'three';

const ACROSS = 256;  // matrices per row of the texture, four texels each: a width that every browser supports

/** The matrices of batches; several batches may share them. */
export class Transforms {
  constructor(count) {
    const rows = Math.max(1, Math.ceil(count / ACROSS));
    this.data = new Float32Array(16 * ACROSS * rows);
    this.texture = new DataTexture(this.data, 4 * ACROSS, rows, RGBAFormat, FloatType);
    this.texture.needsUpdate = true;
  }
  set(slot, matrix) { matrix.toArray(this.data, 16 * slot); }
  get(slot, to) { return to.fromArray(this.data, 16 * slot); }
  /** Call it after the last set() for a picture. */
  send() { this.texture.needsUpdate = true; }
}

// Parts of the shader of three.js, as its own chunks for instances (defaultnormal_vertex: normals transform by the
// inverse transpose; the columns of these matrices are orthogonal).
const DECLARE = `
in uint slot;
uniform highp sampler2D transforms;
uniform float inflate;
mat4 transform() {
  int at = 4 * int(slot), x = at % ${4 * ACROSS}, y = at / ${4 * ACROSS};
  return mat4(texelFetch(transforms, ivec2(x, y), 0), texelFetch(transforms, ivec2(x + 1, y), 0),
    texelFetch(transforms, ivec2(x + 2, y), 0), texelFetch(transforms, ivec2(x + 3, y), 0));
}
void main() {`;
const TURNED = `
  mat4 here = transform();
  mat3 turn = mat3(here);
  vec3 turned = turn * (normal / max(vec3(dot(turn[0], turn[0]), dot(turn[1], turn[1]), dot(turn[2], turn[2])), 1e-30));`;
const TURN = `#include <beginnormal_vertex>${TURNED}
  objectNormal = turned;`;
const MOVE = `#include <begin_vertex>
  transformed += inflate * normal;
  transformed = (here * vec4(transformed, 1.0)).xyz;`;

function standard(transforms, inflate, options) {
  const material = new MeshStandardMaterial({vertexColors: true, fog: false, ...options});
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, {transforms: {value: transforms.texture}, inflate});
    shader.vertexShader = shader.vertexShader.replace('void main() {', DECLARE)
      .replace('#include <beginnormal_vertex>', TURN).replace('#include <begin_vertex>', MOVE);
  };
  return material;
}

/** Colours of the lights, the same for all batches. */
export const LIGHT = {all: new Color('#ffffff').multiplyScalar(0.35), sky: new Color('#ffffff').multiplyScalar(1.6),
  ground: new Color('#8a8f98').multiplyScalar(1.6), sun: new Color('#ffffff').multiplyScalar(1.6)};

// Light per vertex, interpolated: without a graphics card the shader per pixel of the standard material takes most of
// the time if thousands of solids overlap.
function plain(transforms, inflate, {opacity = 1, transparent = false, metalness = 0}, sunward) {
  return new ShaderMaterial({
    uniforms: {transforms: {value: transforms.texture}, inflate, opacity: {value: opacity}, matt: {value: (1 - metalness) / Math.PI}, sunward: {value: sunward},
      all: {value: LIGHT.all}, sky: {value: LIGHT.sky}, ground: {value: LIGHT.ground}, sun: {value: LIGHT.sun}},
    vertexColors: true, transparent,
    vertexShader: `out vec4 shade;
uniform float opacity, matt;
uniform vec3 all, sky, ground, sun, sunward;${DECLARE}${TURNED}
  gl_Position = projectionMatrix * (viewMatrix * (here * vec4(position + inflate * normal, 1.0)));
  turned = normalize(turned);
  vec3 light = all + mix(ground, sky, 0.5 + 0.5 * turned.y) + sun * max(dot(turned, sunward), 0.0);
  vec3 c = min(matt * color * light, 1.0);
  shade = vec4(mix(1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, 12.92 * c, lessThanEqual(c, vec3(0.0031308))), opacity);  // sRGB
}`,
    fragmentShader: 'in vec4 shade;\nvoid main() { gl_FragColor = shade; }',
  });
}

const NORMAL = new Matrix3(), POINT = new Vector3(), HERE = new Matrix4(), INVERSE = new Matrix4(), OUTWARDS = new Vector3(), RAY = new Ray();
const CORNERS = [new Vector3(), new Vector3(), new Vector3()];

/** Solids that move with their slots: [{geometry, slot, local, color}]; `local` (or null) transforms the geometry to the slot.
 *  With `sunward`, the direction to the sun, light is computed per vertex.  `inflate.value` moves surfaces along their normals. */
export class Batch {
  constructor(parent, transforms, members, {sunward = null, ...options}) {
    this.transforms = transforms;
    this.members = members;
    const vertices = members.reduce((sum, m) => sum + m.geometry.attributes.position.count, 0);
    const length = (g) => g.index?.count ?? g.attributes.position.count;
    this.first = new Uint32Array(members.length + 1);  // of the indices of a member
    members.forEach((m, i) => { this.first[i + 1] = this.first[i] + length(m.geometry); });
    this.position = new Float32Array(3 * vertices);
    this.index = new (vertices > 65535 ? Uint32Array : Uint16Array)(this.first[members.length]);
    this.normal = new Float32Array(3 * vertices);
    this.inflate = {value: 0};
    const color = new Float32Array(3 * vertices), slot = new Uint32Array(vertices);
    let base = 0;
    members.forEach((m, i) => {
      const {position: p, normal: n} = m.geometry.attributes, index = m.geometry.index;
      if (m.local) NORMAL.getNormalMatrix(m.local);
      for (let v = 0; v < p.count; v++) {
        const to = 3 * (base + v);
        POINT.fromBufferAttribute(p, v);
        (m.local ? POINT.applyMatrix4(m.local) : POINT).toArray(this.position, to);
        POINT.fromBufferAttribute(n, v);
        (m.local ? POINT.applyNormalMatrix(NORMAL) : POINT).toArray(this.normal, to);
        m.color.toArray(color, to);
        slot[base + v] = m.slot;
      }
      for (let k = 0, from = this.first[i]; from + k < this.first[i + 1]; k++) this.index[from + k] = base + (index ? index.getX(k) : k);
      base += p.count;
    });
    const geometry = new BufferGeometry();
    for (const [name, array, size] of [['position', this.position, 3], ['normal', this.normal, 3], ['color', color, 3], ['slot', slot, 1]])
      geometry.setAttribute(name, new BufferAttribute(array, size));
    geometry.setIndex(new BufferAttribute(this.index, 1));
    this.mesh = new Mesh(geometry, sunward ? plain(transforms, this.inflate, options, sunward) : standard(transforms, this.inflate, options));
    this.mesh.frustumCulled = false;  // three.js does not know the matrices
    parent.add(this.mesh);
    this.spheres = null;  // bounding spheres of the members in their slots; computed when needed
    this.inflated = 0;  // value of `inflate` for the spheres
  }

  corner(k, to) {
    const i = 3 * this.index[k];
    return to.fromArray(this.position, i).addScaledVector(OUTWARDS.fromArray(this.normal, i), this.inflate.value);
  }

  findSpheres() {
    this.inflated = this.inflate.value;
    this.spheres = this.members.map((_, i) => {
      const points = [];
      for (let k = this.first[i]; k < this.first[i + 1]; k++) points.push(this.corner(k, new Vector3()));
      return new Sphere().setFromPoints(points);
    });
  }

  /** First intersection of a ray with a member: [distance, slot]; [Infinity, -1]: none. */
  intersect(ray) {
    if (!this.spheres || this.inflated !== this.inflate.value) this.findSpheres();
    let distance = Infinity, slot = -1;
    this.members.forEach((m, i) => {
      const here = this.transforms.get(m.slot, HERE);
      RAY.copy(ray).applyMatrix4(INVERSE.copy(here).invert());
      if (!RAY.intersectsSphere(this.spheres[i])) return;
      for (let k = this.first[i]; k < this.first[i + 1]; k += 3) {
        const [a, b, c] = CORNERS;
        if (!RAY.intersectTriangle(this.corner(k, a), this.corner(k + 1, b), this.corner(k + 2, c), true, POINT)) continue;
        const far = POINT.applyMatrix4(here).distanceTo(ray.origin);
        if (far < distance) { distance = far; slot = m.slot; }
      }
    });
    return [distance, slot];
  }
}
