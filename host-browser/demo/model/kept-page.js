/** The page without a network: the service worker keeps its files, and says when it has all of them. */
import { Changing } from './changes.js';
import { served } from './service-worker.js';

export class KeptPage extends Changing {
  /** The build of which all files are kept, so that the page can be opened, and works, without a network. */
  build;
  /** Why those of the newest build are not: one message. */
  problem;

  /** Asks for it, and again when there is a newer build. */
  async keep() {
    try {
      await served();
    } catch ({ message }) {
      this.#told({ problem: message });
      return;
    }
    // A newer build brings a newer service worker.
    navigator.serviceWorker.addEventListener('controllerchange', () => this.#ask());
    this.#ask();
  }

  #ask() {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => this.#told(data);
    navigator.serviceWorker.controller.postMessage('keep', [port2]);
  }

  #told({ build, problem }) {
    this.build = build ?? this.build;
    this.problem = problem;
    this.changed();
  }
}
