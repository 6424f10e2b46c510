import { createHash } from "node:crypto";
import { createMemory, type Memory } from "mnemograph";

// Many tenants on many servers: each shard is a complete schema, and the application says which
// shard a tenant is in.
//
// npx tsx examples/shards.ts
// DATABASE_URL=postgresql://… npx tsx examples/shards.ts

const { DATABASE_URL } = process.env;
/**
 * The place of each shard. Moving one to another server changes its line; the number of lines
 * stays.
 */
const shards: readonly Memory[] = ["mnemograph_shard_0", "mnemograph_shard_1"].map((schema) =>
  createMemory({ database: DATABASE_URL ?? { dataDir: `.mnemograph-shards/${schema}` }, schema }),
);
for (const shard of shards) await shard.setup();

/** The same shard for a tenant in every process: a hash of its id, modulo the number of shards. */
function shardOf(tenantId: string): number {
  return createHash("sha256").update(tenantId).digest().readUInt32BE() % shards.length;
}

/**
 * The memory of a tenant. Build one graph a shard, and pick it likewise:
 * `graphs[shardOf(tenantId)]`.
 */
function memoryOf(tenantId: string): Memory {
  return shards[shardOf(tenantId)] as Memory;
}

for (const [tenantId, text] of [
  ["acme", "The user sails."],
  ["initech", "The user climbs."],
] as const) {
  const scope = { tenantId, userId: "ana" };
  await memoryOf(tenantId).memories.add({ scope, memories: { category: "interests", text } });
  const [hit] = await memoryOf(tenantId).query({
    scope,
    query: "What does the user do for sport?",
    topK: 1,
  });
  console.log(`${tenantId} is in shard ${shardOf(tenantId)}: ${hit?.memory.text}`);
}

// A call without a scope sees one shard: ask each, and put the answers together.
const users = (await Promise.all(shards.map((shard) => shard.users.list()))).flat();
console.log(`users in all shards: ${users.map(({ scope }) => scope.tenantId).join(", ")}`);
await Promise.all(shards.map((shard) => shard.close()));
