import { createGate } from "../../src/testing/index.js";
import { address, openShop } from "./open-shop.js";
import { nextRound, playRound, rounds } from "./play-round.js";
import { playSecondPart } from "./second-part.js";

// The demo's second process: node … continue.ts <folder of the first one>.

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("Usage: continue.ts <folder>; `npm run demo` calls this.");

const shop = await openShop(folder, createGate({ open: true }));
try {
  const { values } = await shop.graph.getState(shop.config);
  const { summary, lastSeq } = await shop.memory.recall(address);
  console.log(`Process ${process.pid} found ${values.messages.length} messages in the graph's state,`);
  console.log(
    `${lastSeq + 1} in the transcript, and memory id=${summary?.id} (seq ${summary?.startSeq}-${summary?.endSeq}):\n`,
  );
  console.log(summary?.text.replaceAll(/^/gm, "    "));
  console.log();
  await playRound(shop, rounds.length + 1, nextRound.says);
} finally {
  await shop.memory.close();
}
await playSecondPart(folder);
