export const pairVerdicts = ["same", "updates", "contradicts", "related", "unrelated"] as const;

export type PairVerdict = (typeof pairVerdicts)[number];

export interface PairVote {
  readonly verdict: PairVerdict;
  readonly reason: string;
}

/** "close" ends the validity of one of them. */
const effects = {
  same: "merge",
  updates: "close",
  contradicts: "close",
  related: "leave",
  unrelated: "leave",
} as const;

/**
 * Lead of one effect before a memory is hidden, or a pair is left. A judge that errs once in ten times then hides one
 * of 60,000 pairs wrongly and misses one duplicate in forty; with a lead of three it would hide one of 740.
 */
const neededLead = { hide: 5, leave: 2 };

/** An open pair is left after so many votes. */
const mostVotes = 11;

export function needsVote(votes: readonly PairVote[]): boolean {
  return votes.length < mostVotes && leadOf(votes, "leave") < neededLead.leave && agreedEffect(votes) === null;
}

/** The first verdict with the leading effect. Without one, or with any vote against a link, nothing is done. */
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

function leadOf(votes: readonly PairVote[], effect: (typeof effects)[PairVerdict]): number {
  const agreeing = votes.filter(({ verdict }) => effects[verdict] === effect).length;
  return 2 * agreeing - votes.length;
}

/** The pairs with the fewest votes, by index; `begun`: only of those with a vote. Empty when all are decided. */
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
