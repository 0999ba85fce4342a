// sliders.js -- sliders that move the joints of a model, and what the other joints do so that loops stay closed.
import {Kinematics, quaternionOf} from './kinematics.js';
import {short} from './plots.js';

const MOST = 300;  // sliders
const FAR = 0.5;   // range of lengths without limits, by the size of the mechanism

const PLACE = 4, BALL = 5;  // src/model/joints/joint.h

/** Coordinates that have sliders: angles and lengths; of a ball its rotation vector, of a free joint its position too. */
export function coordinatesOf({scalars = [], factors, length}) {
  if (scalars.length || length) return scalars;
  return factors.filter(([kind]) => kind === PLACE || kind === BALL).flatMap(([kind, , first]) => [0, 1, 2].map((k) =>
    ({coordinate: first + k, angle: kind === BALL, range: [null, null], label: `${kind === BALL ? 'rotation ' : ''}${'xyz'[k]}`})));
}

export class Sliders {
  /** @param moved  is called after each change, with the poses in the data */
  constructor(parent, data, size, moved) {
    this.data = data;
    this.moved = moved;
    this.kinematics = new Kinematics(data.kinematics, size);
    this.list = [];
    if (this.kinematics.slow) return;
    const add = (name, to, more = {}) => to.appendChild(Object.assign(document.createElement(name), more));
    const reset = add('button', parent, {textContent: 'reset'});
    reset.addEventListener('click', () => { this.kinematics.restore(this.kinematics.start); this.show(); });
    this.gap = add('output', parent);
    this.kinematics.joints.forEach((j, joint) => coordinatesOf(j).forEach(({coordinate, angle, range, label: axis}) => {
      if (this.list.length >= MOST) return;
      const q = this.kinematics.value(joint, coordinate), half = angle ? Math.PI : FAR * size, line = add('div', parent), label = add('label', line);
      const of = j.name ?? data.bodies[j.child].name, part = axis ?? (j.scalars.length > 1 ? `q${coordinate}` : ''), name = part ? `${of} ${part}` : of;
      const words = add('span', label, {title: name});
      add('span', words, {textContent: of});  // cut where it is too long, the part of the joint is not
      if (part) add('span', words, {textContent: part});
      const slider = add('input', label, {type: 'range', min: range[0] ?? Math.min(q, (range[1] ?? q + half) - 2 * half, q - half),
        max: range[1] ?? Math.max(q, (range[0] ?? q - half) + 2 * half, q + half), step: 'any', value: q});
      const output = add('output', line), hold = add('input', line, {type: 'checkbox', title: `hold ${name}: the others move`});
      hold.setAttribute('aria-label', `hold ${name}`);
      slider.addEventListener('input', () => this.drag(joint, coordinate, +slider.value));
      this.list.push({name, joint, coordinate, angle, slider, output, hold});
    }));
    this.show();
  }

  /** Moves a coordinate, as far as the loops close.  Returns where it is. */
  drag(joint, coordinate, value) {
    const held = this.list.filter((s) => s.hold.checked && (s.joint !== joint || s.coordinate !== coordinate));
    const reached = this.kinematics.drag(joint, coordinate, value, held.map((s) => [s.joint, s.coordinate]));
    this.show();
    return reached;
  }

  // Puts the poses into the only row of the data, and the coordinates on the sliders.
  show() {
    const {data, kinematics} = this;
    kinematics.pose.forEach((P, b) => {
      const q = quaternionOf(P.R);
      for (let k = 0; k < 3; k++) data.position[3 * b + k] = P.r[k];
      for (let k = 0; k < 4; k++) data.rotation[4 * b + k] = Math.round(32767 * q[k]);
    });
    for (const s of this.list) {
      const q = kinematics.value(s.joint, s.coordinate), degrees = Math.round(q * 1800 / Math.PI) / 10 + 0;  // not -0
      s.slider.value = q;
      s.output.textContent = s.angle ? `${degrees.toFixed(1)}\u00b0` : `${short(+q.toPrecision(4))} m`;
    }
    this.gap.textContent = kinematics.m ? `loops closed to ${kinematics.gap.toExponential(0)}` : '';
    this.moved();
  }
}
