// record.js -- pictures and videos of the canvas, as files that the browser saves.

const LAST = 300;  // ms for the last picture

function save(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

/** The name of a file for a title, without its ending. */
export const stem = (title) => title.replace(/\.[^.]*$/, '').replace(/[^\w.-]+/g, '-') || 'linkwork';

/** Saves what the view shows as PNG, in the resolution of the canvas. */
export function savePicture(view, name) {
  view.dirty = true;
  view.draw();  // the canvas can be read until the task ends
  return new Promise((done) => {
    view.renderer.domElement.toBlob((blob) => {
      save(blob, `${name}.png`);
      done(blob);
    }, 'image/png');
  });
}

/** Records what the view shows until `stop` is called, and saves it as WebM. */
export class Recording {
  static get kind() {
    return ['video/webm;codecs=vp9', 'video/webm;codecs=vp8', 'video/webm'].find((kind) => globalThis.MediaRecorder?.isTypeSupported(kind));
  }

  constructor(view, name) {
    this.view = view;
    const stream = view.renderer.domElement.captureStream(30), parts = [];
    this.recorder = new MediaRecorder(stream, {mimeType: Recording.kind, videoBitsPerSecond: 8e6});
    this.recorder.addEventListener('dataavailable', (e) => { if (e.data.size) parts.push(e.data); });
    this.blob = new Promise((done) => this.recorder.addEventListener('stop', () => {
      for (const track of stream.getTracks()) track.stop();
      const blob = new Blob(parts, {type: 'video/webm'});
      save(blob, `${name}.webm`);
      done(blob);
    }));
    this.recorder.start();
    view.dirty = true;  // the first picture
  }

  /** Ends when the last picture is recorded. */
  stop() {
    this.view.dirty = true;
    setTimeout(() => { if (this.recorder.state !== 'inactive') this.recorder.stop(); }, LAST);
    return this.blob;
  }
}
