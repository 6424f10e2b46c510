import type { MemoryDraft } from "../memories/item/memory.js";
import { classified, writeMemories } from "../memories/write/write-memories.js";
import { insertEvents } from "../observability/events/event-log.js";
import { brokenConstraint } from "../postgres/database-error.js";
import { commonOrigin } from "../transcript/find-messages.js";
import { defineWork } from "../work/define-work.js";
import { limitThread } from "../work/limit-material.js";
import type { Taken } from "../work/work-definition.js";
import { completeWork } from "../work/work-table.js";
import { type EpisodesRuntime, episodeText } from "./episode-text.rule.js";
import { type EpisodeWork, loadEpisode, makeEpisode } from "./make-episode.js";

const compressor = "worker:episodes";

export interface Compressed {
  /** The model's text; after validation the stored text. */
  episode: string | null;
  trimmed: boolean;
  memoryId: string | null;
}

/**
 * Writes an episode and the cursor in one transaction. Null if the episode exists already.
 * @throws LeaseLost
 */
async function saveEpisode(
  deps: EpisodesRuntime,
  { claim, work, episode, trimmed }: Taken<EpisodeWork, Compressed>,
): Promise<string | null> {
  const { scope, threadId, turns, messages } = work;
  const origin = commonOrigin(messages);
  const draft: MemoryDraft = {
    text: episode ?? "",
    kind: "episode",
    turns,
    origin: "worker",
    ...origin,
    source: { threadId, seqs: messages.map(({ seq }) => seq) },
    validFrom: messages[0]?.saidAt,
  };
  const event = { scope, threadId, ...origin, step: "episodes", op: "classify" } as const;
  try {
    const [written] = await writeMemories(deps, {
      scope,
      drafts: [draft],
      origin: { actor: compressor, step: "episodes" },
      finish: async (tx, [outcome]) => {
        await completeWork(tx, claim, work);
        await insertEvents(tx, [{ ...event, ...classified(outcome, trimmed) }]);
      },
    });
    return written?.id ?? null;
  } catch (error) {
    if (brokenConstraint(error) !== "memory_episode") throw error;
    // Another worker has written an episode that begins with this turn.
    await completeWork(deps.db, claim, work);
    return null;
  }
}

/**
 * Compresses a thread's older turns into an episode when due: load → ask → check → save.
 */
export function defineEpisodes(deps: EpisodesRuntime) {
  const { memories, upkeep } = deps.config;
  return defineWork<EpisodeWork, Compressed>(
    {
      kind: "episodes",
      of: "thread",
      policy: { enabled: memories.episodes, tries: upkeep, heedsRequests: true },
      fresh: { episode: null, trimmed: false, memoryId: null },
      steps: {
        // The next turns that are due.
        load: (claim) => loadEpisode(deps, claim),
        limit: (_, work) => limitThread(deps, "episodes", work),
        // Their episode, piece by piece.
        ask: async ({ work }, tools) => ({ episode: await makeEpisode(deps, work, tools) }),
        // At most two sentences, cut after a word.
        check({ episode: answer }) {
          const episode = episodeText(answer ?? "");
          return { episode, trimmed: episode.length < (answer ?? "").trim().length };
        },
        save: async (made) => ({ memoryId: await saveEpisode(deps, made) }),
      },
    },
    deps,
  );
}
