import { createGate } from "mnemograph/testing";
import { address, openShop } from "./open-shop.js";
import { nextTurn, playRound, rounds } from "./play-round.js";
import { playSecondPart } from "./second-part.js";
import { tell } from "./story.js";
import { playThirdPart } from "./third-part.js";

// The demo's second process: node … continue.ts <folder of the first one>.

const [folder] = process.argv.slice(2);
if (folder === undefined)
  throw new Error("Usage: continue.ts <folder>; `npm run demo` calls this.");

const shop = await openShop(folder, createGate({ open: true }));
try {
  const { values } = await shop.graph.getState(shop.config);
  const { summary, lastSeq } = await shop.memory.recall(address);
  tell(
    `Process ${process.pid} finds ${values.messages.length} messages in the graph's state, ${lastSeq + 1} in the ` +
      `transcript, and summary ${summary?.id} of messages ${summary?.startSeq}-${summary?.endSeq}, which ends:`,
  );
  tell(summary?.text.split("\n").at(-1) ?? "", "dim");
  await playRound(shop, rounds.length + 1, nextTurn.says);
} finally {
  await shop.memory.close();
}
await playSecondPart(folder);
await playThirdPart(folder);
