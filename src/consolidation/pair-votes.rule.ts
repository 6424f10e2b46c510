/** How two memories stand to each other, as a model is asked about them. */
export const pairVerdicts = ["same", "updates", "contradicts", "related", "unrelated"] as const;

/** How two memories stand to each other. */
export type PairVerdict = (typeof pairVerdicts)[number];

/** What a model said of a pair once. */
export interface PairVote {
  readonly verdict: PairVerdict;
  readonly reason: string;
}

/** What a verdict would do to the pair: make it one, close one of them, or leave both. */
const effects = {
  same: "merge",
  updates: "close",
  contradicts: "close",
  related: "leave",
  unrelated: "leave",
} as const;

/**
 * By how many votes one effect must lead before a memory is hidden, and by how many "leave" before a pair is left. A judge that
 * is wrong once in ten times then hides one stranger in seven hundred and misses one double in sixty. One vote would hide
 * one in ten, and two that agree one in a hundred; they miss one double in ten.
 */
const neededLead = { hide: 3, leave: 2 };

/** Votes after which a pair that is still open is left as it is. */
const mostVotes = 9;

/** Whether a pair with these votes is to be asked about (again). */
export function needsVote(votes: readonly PairVote[]): boolean {
  return (
    votes.length < mostVotes && leadOf(votes, "leave") < neededLead.leave && agreedEffect(votes) === null
  );
}

/**
 * What `votes` come to: the first verdict with the effect that leads by enough. Where none does, or where any was against
 * linking the two, nothing is done.
 */
export function verdictOf(votes: readonly PairVote[]): PairVote {
  const effect = agreedEffect(votes);
  const stays = votes.find(({ verdict }) => verdict === "unrelated") ?? undecided;
  if (effect !== null) return votes.find(({ verdict }) => effects[verdict] === effect) ?? stays;
  const [first] = votes;
  return first && votes.every(({ verdict }) => verdict === "related") ? first : stays;
}

const undecided: PairVote = { verdict: "unrelated", reason: "" };

function agreedEffect(votes: readonly PairVote[]): "merge" | "close" | null {
  return (["merge", "close"] as const).find((effect) => leadOf(votes, effect) >= neededLead.hide) ?? null;
}

/** How many more votes are for `effect` than for others. */
function leadOf(votes: readonly PairVote[], effect: (typeof effects)[PairVerdict]): number {
  const agreeing = votes.filter(({ verdict }) => effects[verdict] === effect).length;
  return 2 * agreeing - votes.length;
}

/**
 * The places of the pairs that the next call is about, at most `most`: those with the fewest votes, in their order. Empty
 * when nothing is left to be asked.
 *
 * @param begun only pairs that have a vote already.
 */
export function nextToAsk(
  pairs: readonly { readonly votes: readonly PairVote[] }[],
  most: number,
  { begun }: { readonly begun: boolean },
): number[] {
  const open = pairs.flatMap(({ votes }, place) =>
    needsVote(votes) && !(begun && votes.length === 0) ? [{ place, round: votes.length }] : [],
  );
  const round = Math.min(...open.map((each) => each.round));
  return open
    .filter((each) => each.round === round)
    .slice(0, most)
    .map(({ place }) => place);
}
