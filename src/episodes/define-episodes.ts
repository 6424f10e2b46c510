import { commonOrigin } from "../conversation/find-messages.js";
import { insertEvents } from "../events/event-log.js";
import { defineWork } from "../jobs/define-work.js";
import { limitThread } from "../jobs/limit-material.js";
import { threadWork } from "../jobs/settle-failure.js";
import { type Claim, completeWork } from "../jobs/work-table.js";
import { classified, writeMemories } from "../memories/write/write-memories.js";
import { brokenConstraint } from "../postgres/database-error.js";
import { type EpisodesRuntime, episodeText } from "./episode-text.rule.js";
import { type EpisodeWork, loadCompression, makeEpisode } from "./make-episode.js";

const compressor = "worker:compress";

/** Writes an episode and advances the cursor in one transaction. Null where there was one. @throws LeaseLost */
async function saveEpisode(
  deps: EpisodesRuntime,
  input: { claim: Claim; work: EpisodeWork; text: string; trimmed: boolean },
): Promise<string | null> {
  const { claim, work, text, trimmed } = input;
  const { scope, threadId, turns, messages } = work;
  const writing = writeMemories(deps, {
    scope,
    drafts: [
      {
        text,
        kind: "episode",
        turns,
        origin: "worker",
        ...commonOrigin(messages),
        source: { threadId, seqs: messages.map(({ seq }) => seq) },
        validFrom: messages[0]?.saidAt,
      },
    ],
    origin: { actor: compressor, step: "compress" },
    alongside: async (tx, [outcome]) => {
      await completeWork(tx, claim, threadWork.after(work));
      await insertEvents(tx, [
        {
          scope,
          threadId,
          ...commonOrigin(messages),
          step: "compress",
          op: "classify",
          ...classified(outcome, trimmed),
        },
      ]);
    },
  });
  try {
    const [written] = await writing;
    return written?.id ?? null;
  } catch (error) {
    if (brokenConstraint(error) !== "memory_episode") throw error;
    // Another worker has written an episode from this turn on.
    await completeWork(deps.db, claim, threadWork.after(work));
    return null;
  }
}

export interface Compressed {
  /** As the model wrote it, then as it is stored. */
  episode: string | null;
  trimmed: boolean;
  memoryId: string | null;
}

/** Compresses a thread's older turns into an episode when it is time: load → compress → validate → save. */
export function defineEpisodes(deps: EpisodesRuntime) {
  const { memories, upkeep } = deps.config;
  return defineWork<"episodes", EpisodeWork, Compressed>(
    {
      ...threadWork,
      kind: "episodes",
      enabled: memories.episodes,
      charge: "episode",
      name: "compression",
      step: "compress",
      doing: "Compressing",
      tries: upkeep,
      heedsRequests: true,
      fresh: { episode: null, trimmed: false, memoryId: null },
      load: (claim) => loadCompression(deps, claim),
      prepare: (_, work) => limitThread(deps, "compress", work),
      make: async ({ work }, tools) => ({ episode: await makeEpisode(deps, work, tools) }),
      validate({ episode: said }) {
        const episode = episodeText(said ?? "");
        return { episode, trimmed: episode.length < (said ?? "").trim().length };
      },
      save: async ({ claim, work, episode, trimmed }) => ({
        memoryId: await saveEpisode(deps, { claim, work, text: episode ?? "", trimmed }),
      }),
    },
    deps,
  );
}
