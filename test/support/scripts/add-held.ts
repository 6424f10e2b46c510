/**
 * Adds memories to a user as a process does that holds what the user has, and says how many took one statement alone. The copy
 * is taken anew now and then only, so that others' writes come in between.
 *
 * argv: database (a connection string), schema, userId, writer, adds. Prints "alone N".
 */
import pg from "pg";
import { HashingEmbeddings } from "../../../src/testing/index.js";
import { holdOwners, memoriesApi } from "../held-neighbours.js";
import { watchedPool } from "../watched-pool.js";

const [connectionString = "", schema = "", userId = "", writer = "", adds = ""] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString, max: 1 });
const scope = { userId };
const held = holdOwners({ pool, schema }, "held");
const { pool: watched, statements } = watchedPool(pool);
const memories = memoriesApi(
  { pool: watched, schema },
  { embeddings: new HashingEmbeddings({ dimensions: 48 }), space: "held", neighbours: held.find },
);
await held.take(scope);
for (let add = 0; add < Number(adds); add++) {
  if (add % 5 === 4) await held.take(scope);
  // What all writers say, in one order; what each says alone; a slot that all of them fill.
  const drafts = [
    [{ text: `Boat${add} has sail${add} and mast${add}.` }],
    ["Harbour", "Gull"].map((name) => ({ text: `${name}${writer}x${add} saw ship${writer}x${add}.` })),
    [
      {
        category: "knowledge",
        key: `berth ${add % 4}`,
        value: `${writer}x${add}`,
        text: `Berth of ${writer}x${add}.`,
      },
    ],
  ];
  await memories.add(drafts[add % 3] ?? [], { scope });
}
const alone = statements.filter(
  ({ text }, at) => text.includes("locked as") && !statements[at + 1]?.text.startsWith("begin"),
);
console.log(`alone ${alone.length}`);
await pool.end();
