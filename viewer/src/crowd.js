// crowd.js -- many solids in one drawing call.
//
// The solids of a crowd stand in one list of triangles, each vertex with the number of its place; a texture
// has a matrix for every place, by which the vertex is moved as it is drawn.  For a picture only the matrices
// are sent.  Instances (InstancedMesh) would do the same with less memory, but without a graphics card each
// of them is drawn by itself: a thousand bodies took five times as long.
import {
  BufferAttribute, BufferGeometry, Color, DataTexture, FloatType, Matrix3, Matrix4, Mesh, MeshStandardMaterial, RGBAFormat, Ray,
  ShaderMaterial, Sphere, Vector3,
} from 'three';

const ACROSS = 256;  // places in a row of the texture; four texels each, so that it is narrow enough for all

/** Matrices by which crowds are placed; several crowds may share them. */
export class Places {
  constructor(count) {
    const rows = Math.max(1, Math.ceil(count / ACROSS));
    this.data = new Float32Array(16 * ACROSS * rows);
    this.texture = new DataTexture(this.data, 4 * ACROSS, rows, RGBAFormat, FloatType);
    this.texture.needsUpdate = true;
  }
  set(place, matrix) { matrix.toArray(this.data, 16 * place); }
  get(place, to) { return to.fromArray(this.data, 16 * place); }
  /** After the last set() for a picture. */
  send() { this.texture.needsUpdate = true; }
}

// In the shader of three.js, as its own chunks do with the matrix of an instance (defaultnormal_vertex:
// a normal goes by the inverse transpose; the columns of a matrix of ours are orthogonal).
const DECLARE = `
in uint place;
uniform highp sampler2D places;
uniform float swell;
mat4 placed() {
  int at = 4 * int(place), x = at % ${4 * ACROSS}, y = at / ${4 * ACROSS};
  return mat4(texelFetch(places, ivec2(x, y), 0), texelFetch(places, ivec2(x + 1, y), 0),
    texelFetch(places, ivec2(x + 2, y), 0), texelFetch(places, ivec2(x + 3, y), 0));
}
void main() {`;
const TURNED = `
  mat4 here = placed();
  mat3 turn = mat3(here);
  vec3 turned = turn * (normal / max(vec3(dot(turn[0], turn[0]), dot(turn[1], turn[1]), dot(turn[2], turn[2])), 1e-30));`;
const TURN = `#include <beginnormal_vertex>${TURNED}
  objectNormal = turned;`;
const MOVE = `#include <begin_vertex>
  transformed += swell * normal;
  transformed = (here * vec4(transformed, 1.0)).xyz;`;

function standard(places, swell, options) {
  const material = new MeshStandardMaterial({vertexColors: true, fog: false, ...options});
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, {places: {value: places.texture}, swell});
    shader.vertexShader = shader.vertexShader.replace('void main() {', DECLARE)
      .replace('#include <beginnormal_vertex>', TURN).replace('#include <begin_vertex>', MOVE);
  };
  return material;
}

/** Lights that are the same for all crowds: colours, and the direction to the sun. */
export const LIGHT = {all: new Color('#ffffff').multiplyScalar(0.35), sky: new Color('#ffffff').multiplyScalar(1.6),
  ground: new Color('#8a8f98').multiplyScalar(1.6), sun: new Color('#ffffff').multiplyScalar(1.6)};

// The light of every corner, between which it goes evenly: the standard material without its gloss, whose
// shader for every pixel takes most of a picture without a graphics card where thousands of solids overlap.
function plain(places, swell, {opacity = 1, transparent = false, metalness = 0}, sunward) {
  return new ShaderMaterial({
    uniforms: {places: {value: places.texture}, swell, opacity: {value: opacity}, matt: {value: (1 - metalness) / Math.PI}, sunward: {value: sunward},
      all: {value: LIGHT.all}, sky: {value: LIGHT.sky}, ground: {value: LIGHT.ground}, sun: {value: LIGHT.sun}},
    vertexColors: true, transparent,
    vertexShader: `out vec4 shade;
uniform float opacity, matt;
uniform vec3 all, sky, ground, sun, sunward;${DECLARE}${TURNED}
  gl_Position = projectionMatrix * (viewMatrix * (here * vec4(position + swell * normal, 1.0)));
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

/** Solids that move with places: [{geometry, place, local, color}], `local` (or null) from the geometry to the place.
 *  With `sunward`, the direction to the sun, they are lit more simply.  `swell.value` moves their surfaces outwards, along their normals. */
export class Crowd {
  constructor(parent, places, members, {sunward = null, ...options}) {
    this.places = places;
    this.members = members;
    const vertices = members.reduce((sum, m) => sum + m.geometry.attributes.position.count, 0);
    const length = (g) => g.index?.count ?? g.attributes.position.count;
    this.first = new Uint32Array(members.length + 1);  // of the indices of a member
    members.forEach((m, i) => { this.first[i + 1] = this.first[i] + length(m.geometry); });
    this.position = new Float32Array(3 * vertices);
    this.index = new (vertices > 65535 ? Uint32Array : Uint16Array)(this.first[members.length]);
    this.normal = new Float32Array(3 * vertices);
    this.swell = {value: 0};
    const color = new Float32Array(3 * vertices), place = new Uint32Array(vertices);
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
        place[base + v] = m.place;
      }
      for (let k = 0, from = this.first[i]; from + k < this.first[i + 1]; k++) this.index[from + k] = base + (index ? index.getX(k) : k);
      base += p.count;
    });
    const geometry = new BufferGeometry();
    for (const [name, array, size] of [['position', this.position, 3], ['normal', this.normal, 3], ['color', color, 3], ['place', place, 1]])
      geometry.setAttribute(name, new BufferAttribute(array, size));
    geometry.setIndex(new BufferAttribute(this.index, 1));
    this.mesh = new Mesh(geometry, sunward ? plain(places, this.swell, options, sunward) : standard(places, this.swell, options));
    this.mesh.frustumCulled = false;  // where the places are is not known to it
    parent.add(this.mesh);
    this.spheres = null;  // around members, from their places; when first needed
    this.swollen = 0;  // as they were then
  }

  corner(k, to) {
    const i = 3 * this.index[k];
    return to.fromArray(this.position, i).addScaledVector(OUTWARDS.fromArray(this.normal, i), this.swell.value);
  }

  around() {
    this.swollen = this.swell.value;
    this.spheres = this.members.map((_, i) => {
      const points = [];
      for (let k = this.first[i]; k < this.first[i + 1]; k++) points.push(this.corner(k, new Vector3()));
      return new Sphere().setFromPoints(points);
    });
  }

  /** Where a ray of the world first meets a member: [distance, place]; [Infinity, -1]: it does not. */
  meet(ray) {
    if (!this.spheres || this.swollen !== this.swell.value) this.around();
    let distance = Infinity, place = -1;
    this.members.forEach((m, i) => {
      const here = this.places.get(m.place, HERE);
      RAY.copy(ray).applyMatrix4(INVERSE.copy(here).invert());
      if (!RAY.intersectsSphere(this.spheres[i])) return;
      for (let k = this.first[i]; k < this.first[i + 1]; k += 3) {
        const [a, b, c] = CORNERS;
        if (!RAY.intersectTriangle(this.corner(k, a), this.corner(k + 1, b), this.corner(k + 2, c), true, POINT)) continue;
        const far = POINT.applyMatrix4(here).distanceTo(ray.origin);
        if (far < distance) { distance = far; place = m.place; }
      }
    });
    return [distance, place];
  }
}
