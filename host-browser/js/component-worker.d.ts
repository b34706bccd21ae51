/** The inside of a Worker of `WorkerPlugin`, where a bundler needs a script of yours for it: it calls this and does nothing else. */
export function serve(): void;
