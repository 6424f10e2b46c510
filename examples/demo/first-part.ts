import { createGate } from "mnemograph/testing";
import { address, openShop } from "./open-shop.js";
import { playRound, rounds } from "./play-round.js";
import { heading, table, working } from "./story.js";

/**
 * The demo's first part on a new embedded database in `folder`: ten rounds, and the summaries they
 * leave.
 */
export async function playFirstPart(folder: string): Promise<void> {
  const summaries = createGate();
  const shop = await working("Creating an embedded PostgreSQL in a temporary folder", () =>
    openShop(folder, summaries),
  );
  const pause = async () => {
    summaries.open();
    await shop.memory.idle();
    summaries.close();
  };
  try {
    for (const [index, { says, afterPause }] of rounds.entries()) {
      if (afterPause) await pause();
      await playRound(shop, index + 1, says);
    }
    await pause();
    heading("   The summaries, as they are in the database now");
    const rows = await shop.memory.summaries.list(address);
    table(
      ["id", "start_seq", "end_seq", "base_id", "status"],
      rows.map(({ id, startSeq, endSeq, baseId, status }) => [
        ...[id, startSeq, endSeq, baseId].map(String),
        status,
      ]),
    );
  } finally {
    summaries.open();
    await shop.memory.close();
  }
}
