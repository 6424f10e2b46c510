import type { MemoryItem } from "../../src/memories/item/memory.js";
import { itemColumns } from "../../src/memories/item/memory-fields.js";

/** Fields that may be null, as null. */
const unset = Object.fromEntries(
  Object.entries(itemColumns)
    .filter(([, { json }]) => json.safeParse(null).success)
    .map(([name]) => [name, null]),
) as Partial<MemoryItem>;

/** A fact of the user "ana", created and last changed `at`. */
export function memoryItem(at: Date, fields: Partial<MemoryItem> = {}): MemoryItem {
  return {
    ...unset,
    id: "00000000-0000-4000-8000-000000000000",
    scope: { userId: "ana" },
    kind: "fact",
    category: "knowledge",
    text: "Ana paints.",
    importance: 3,
    confidence: 1,
    pinned: false,
    state: "active",
    tags: [],
    metadata: {},
    origin: "user",
    trust: "user",
    source: null,
    turns: null,
    seenCount: 1,
    validFrom: at,
    lastAccessedAt: at,
    createdAt: at,
    updatedAt: at,
    revision: 1,
    ...fields,
  } as MemoryItem;
}
