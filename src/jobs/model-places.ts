import { AsyncResource } from "node:async_hooks";
import PQueue from "p-queue";
import type { ProviderPause } from "../models/provider-pause.js";

/** After a pause: one job that fails by itself does not hide that the provider is back. */
const fewest = 2;

/**
 * Work of one model. Usually its jobs run at once; after a pause two, then one more with each
 * answer, so that the backlog does not come as a burst.
 */
export interface ModelPlaces extends ProviderPause {
  run(job: () => Promise<void>): Promise<void>;
}

/** @param most from here on the places are not limited */
export function createModelPlaces(pause: ProviderPause, most: number): ModelPlaces {
  const places = new PQueue();
  return {
    ...pause,
    // Bound to its caller's tenancy: a job that waits is started by the end of another.
    run: (job) => places.add(AsyncResource.bind(job)),
    answered() {
      pause.answered();
      const more = places.concurrency + 1;
      places.concurrency = more < most ? more : Number.POSITIVE_INFINITY;
    },
    failed(error) {
      pause.failed(error);
      if (pause.until()) places.concurrency = fewest;
    },
  };
}
