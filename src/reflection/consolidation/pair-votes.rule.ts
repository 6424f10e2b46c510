export const pairVerdicts = ["same", "updates", "contradicts", "related", "unrelated"] as const;

export type PairVerdict = (typeof pairVerdicts)[number];

export interface PairVote {
  readonly verdict: PairVerdict;
  readonly reason: string;
}

/** "close" ends the validity of one memory. */
const effects = {
  same: "merge",
  updates: "close",
  contradicts: "close",
  related: "leave",
  unrelated: "leave",
} as const;

/**
 * Lead of votes that hides a memory, or leaves a pair. A judge with one error in ten then hides one
 * of 60,000 pairs wrongly, and misses one duplicate in forty; a lead of three would hide one of
 * 740.
 */
const neededLead = { hide: 5, leave: 2 };

/** An undecided pair is left after this many votes. */
const maxVotes = 11;

export function needsVote(votes: readonly PairVote[]): boolean {
  return (
    votes.length < maxVotes &&
    leadOf(votes, "leave") < neededLead.leave &&
    agreedEffect(votes) === null
  );
}

/** The first vote with the leading effect, or for a link if all agree; else "unrelated". */
export function verdictOf(votes: readonly PairVote[]): PairVote {
  const effect = agreedEffect(votes);
  const unrelated = votes.find(({ verdict }) => verdict === "unrelated") ?? {
    verdict: "unrelated",
    reason: "",
  };
  if (effect !== null) return votes.find(({ verdict }) => effects[verdict] === effect) ?? unrelated;
  const [first] = votes;
  return first && votes.every(({ verdict }) => verdict === "related") ? first : unrelated;
}

function agreedEffect(votes: readonly PairVote[]): "merge" | "close" | null {
  return (
    (["merge", "close"] as const).find((effect) => leadOf(votes, effect) >= neededLead.hide) ?? null
  );
}

function leadOf(votes: readonly PairVote[], effect: (typeof effects)[PairVerdict]): number {
  const agreeing = votes.filter(({ verdict }) => effects[verdict] === effect).length;
  return 2 * agreeing - votes.length;
}

/** Indexes of the open pairs with the fewest votes. @param begun only pairs with a vote */
export function nextToAsk(
  pairs: readonly { readonly votes: readonly PairVote[] }[],
  most: number,
  { begun }: { readonly begun: boolean },
): number[] {
  const open = pairs.flatMap(({ votes }, index) =>
    needsVote(votes) && !(begun && votes.length === 0) ? [{ index, count: votes.length }] : [],
  );
  const fewest = Math.min(...open.map(({ count }) => count));
  return open.flatMap(({ index, count }) => (count === fewest ? [index] : [])).slice(0, most);
}
