import { SingleBar } from "cli-progress";

/** A bar on standard error that shows how far long work has come. */
export interface ProgressBar {
  update(progress: { readonly done: number; readonly total: number }): void;
  stop(): void;
}

/** A bar for people: none where standard error is no terminal, or JSON is asked for. */
export function progressBar({ json }: { readonly json?: true }): ProgressBar {
  if (json || !process.stderr.isTTY) return { update: () => {}, stop: () => {} };
  const bar = new SingleBar({ format: "{bar} {value}/{total} {eta_formatted}" });
  let started = false;
  return {
    update({ done, total }) {
      if (!started) bar.start(total, done);
      started = true;
      bar.setTotal(total);
      bar.update(done);
    },
    stop: () => bar.stop(),
  };
}
