import { backgroundGraph } from "../jobs/background-graph.js";
import { type TaskClaim, taskSteps } from "../jobs/thread-task.js";
import { type EpisodesRuntime, episodeText } from "./episode-text.js";
import { type EpisodeWork, loadCompression } from "./load-compression.js";
import { makeEpisode } from "./make-episode.js";
import { saveEpisode } from "./save-episode.js";

/** What the steps of compression make. */
interface Compressed {
  /** The episode: as the model wrote it, then as it is stored. */
  episode: string | null;
  /** Whether the model wrote more than an episode may hold. */
  trimmed: boolean;
  memoryId: string | null;
}

/** The graph that compresses a thread's older turns into an episode when it is time: load → compress → validate → save. */
export function createCompressionGraph(deps: EpisodesRuntime) {
  return backgroundGraph<TaskClaim, EpisodeWork, Compressed>(deps, {
    ...taskSteps(deps, "compress", "Compressing"),
    name: "compression",
    fresh: { episode: null, trimmed: false, memoryId: null },
    load: (claim) => loadCompression(deps, claim),
    make: async ({ work }, renew) => ({ episode: await makeEpisode(deps, work, renew) }),
    validate({ episode: said }) {
      const episode = episodeText(said ?? "");
      return { episode, trimmed: episode.length < (said ?? "").trim().length };
    },
    save: async ({ claim, work, episode, trimmed }) => ({
      memoryId: await saveEpisode(deps, { claim, work, text: episode ?? "", trimmed }),
    }),
  });
}
