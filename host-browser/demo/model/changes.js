/** Something that tells whoever shows it when it has changed. */
export class Changing extends EventTarget {
  changed() {
    this.dispatchEvent(new Event('change'));
  }
}
