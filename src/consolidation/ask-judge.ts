import type { Charge } from "../models/token-usage.js";
import { type ConsolidationRuntime, pairsPerCall } from "./consolidation-options.js";
import { judgePairs, type ShownPair } from "./judge-pairs.js";
import type { ConsolidationWork, VotedPair } from "./load-consolidation.js";
import { needsVote, nextToAsk, type PairVote } from "./pair-votes.rule.js";

interface JudgedWork {
  readonly pairs: readonly VotedPair[];
  readonly tokens: number;
  readonly calls: number;
}

/**
 * Asks the model about the pairs of `work` until each has enough votes, several pairs a call, every second time in
 * reverse order. Once the day's tokens are spent, pairs with votes are finished and the others left to another day.
 *
 * @param on.before called before each call after the first; its error ends the work.
 * @param on.after called after each call with the pairs so far.
 * @throws MemoryError `MODEL_REQUIRED`, `MODEL_OUTPUT_INVALID`, `MODEL_FAILED`
 */
export async function askJudge(
  deps: ConsolidationRuntime,
  work: Pick<ConsolidationWork, "pairs" | "budgetTokens">,
  on: {
    readonly charge: Charge;
    readonly before: () => Promise<void>;
    readonly after: (soFar: Pick<JudgedWork, "pairs">) => Promise<void>;
  },
): Promise<JudgedWork> {
  const { timeoutMs } = deps.config.upkeep;
  let { pairs } = work;
  let [tokens, calls] = [0, 0];
  for (;;) {
    const begun = tokens >= work.budgetTokens;
    const places = nextToAsk(pairs, pairsPerCall, { begun });
    if (places.length === 0) break;
    if (calls > 0) await on.before();
    const asked = places.map((place) => shown(pairs[place] as VotedPair));
    const judged = await judgePairs(deps.model(), asked, { timeoutMs, charge: on.charge });
    const votes = await redacted(deps, judged.votes);
    calls++;
    tokens += judged.tokens;
    pairs = pairs.map((pair, place) => {
      const vote = votes[places.indexOf(place)];
      return vote ? { ...pair, votes: [...pair.votes, vote] } : pair;
    });
    await on.after({ pairs });
  }
  return { pairs: pairs.filter(({ votes }) => !needsVote(votes)), tokens, calls };
}

/** Reasons may quote what redaction removes. */
async function redacted(
  { redactor }: Pick<ConsolidationRuntime, "redactor">,
  votes: readonly PairVote[],
): Promise<PairVote[]> {
  const { reasons } = await redactor.json({ reasons: votes.map(({ reason }) => reason) });
  return votes.map((vote, place) => ({ ...vote, reason: reasons[place] ?? "" }));
}

function shown({ first, second, votes }: VotedPair): ShownPair {
  return votes.length % 2 === 0 ? [first, second] : [second, first];
}
