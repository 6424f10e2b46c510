import type { Memory, Scope } from "../../src/index.js";

/** Runs the consolidation graph on `scope`. Returns the outcome of each pair. */
export async function consolidateNow(memory: Memory, { scope }: { readonly scope: Scope }) {
  const { status, reason, calls, tokens, settled } = await memory
    .graphs()
    .consolidation.invoke({ scope });
  const pairs = settled.map(({ vote, effect }) => ({
    verdict: vote.verdict,
    reason: vote.reason,
    action: effect.action,
    refused: effect.action === "none" ? effect.why : null,
  }));
  return { status, reason, calls, tokens, pairs };
}
