import type { MemoryItem } from "../../src/memories/item/memory.js";

/** A fact of the user "ana", true and last changed `at`, with `fields`. */
export function memoryItem(at: Date, fields: Partial<MemoryItem> = {}): MemoryItem {
  return {
    ...{ id: "00000000-0000-4000-8000-000000000000", scope: { userId: "ana" }, kind: "fact" },
    ...{ category: "knowledge", key: null, value: null, text: "Ana paints.", importance: 3, confidence: 1 },
    ...{
      pinned: false,
      state: "active",
      tags: [],
      metadata: {},
      expiresAt: null,
      agentId: null,
      runId: null,
    },
    ...{ actorId: null, role: null, origin: "user", trust: "user", source: null, turns: null, seenCount: 1 },
    ...{ validFrom: at, validTo: null, supersededBy: null, lastAccessedAt: at, purgeAt: null },
    ...{ createdAt: at, updatedAt: at, revision: 1 },
    ...fields,
  };
}
