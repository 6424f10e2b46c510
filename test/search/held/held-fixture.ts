import { randomUUID } from "node:crypto";
import { Embeddings } from "@langchain/core/embeddings";
import sql from "sql-template-tag";
import { beforeAll } from "vitest";
import type { Memory } from "../../../src/index.js";
import type { MemoryKind } from "../../../src/memories/item/memory.js";
import { insertMemories, type NewMemory } from "../../../src/memories/write/insert-memories.js";
import { type EmbeddingSpace, ensureEmbeddingSpace, halfvec } from "../../../src/models/embedding-space.js";
import type { Scope } from "../../../src/scope/scope.js";
import { lockOwner, ownerColumns } from "../../../src/scope/scope-predicates.js";
import { type HeldMemoryRow, heldMemoryJson } from "../../../src/search/held/held-memory-row.js";
import type { TestDatabase } from "../../support/test-database.js";

export const dimensions = 16;

/**
 * Vectors of length 1 whose products are the same in whatever order they are summed up: one number of 1, four of a half,
 * or sixteen of a quarter.
 */
export function exactVector(seed: number): number[] {
  const bits = Math.imul(seed + 1, 2_654_435_761) >>> 0;
  const sign = (place: number) => ((bits >>> place) & 1 ? 1 : -1);
  if (bits % 3 === 0) return Array.from({ length: dimensions }, (_, place) => sign(place) / 4);
  const [start, step, size] = bits % 3 === 1 ? [bits % 4, 4, 0.5] : [bits % dimensions, dimensions, 1];
  return Array.from({ length: dimensions }, (_, place) => (place % step === start ? sign(place) * size : 0));
}

/** Such a vector for each text. */
export class ExactEmbeddings extends Embeddings {
  override embedDocuments = async (texts: string[]) => texts.map(vectorOfText);
  override embedQuery = async (text: string) => vectorOfText(text);
}

function vectorOfText(text: string): number[] {
  return exactVector([...text].reduce((sum, letter) => 31 * sum + letter.charCodeAt(0), 7) >>> 0);
}

/** A memory to be written as it is, whatever else there is like it. */
export interface WrittenMemory {
  readonly text: string;
  readonly kind?: MemoryKind;
  readonly category?: string;
  readonly key?: string | null;
  readonly appId?: string;
  readonly actor?: string;
  readonly importance?: number;
  readonly pinned?: boolean;
  readonly state?: "active" | "superseded";
  readonly validFrom?: string;
  readonly expiresAt?: string | null;
  readonly source?: { readonly threadId: string; readonly seqs: readonly number[] } | null | undefined;
  /** Null: without a vector. @default that of its text */
  readonly vector?: readonly number[] | null;
}

/** Owners whose memories are written without the rules of writing, so that all that a table may hold can be held. */
export function useHeldOwners(db: TestDatabase, embeddingSpace = "exact") {
  let space: EmbeddingSpace | undefined;
  let memory: Memory | undefined;
  beforeAll(async () => {
    memory = db.memory({ embeddings: Object.assign(new ExactEmbeddings({}), { model: embeddingSpace }) });
    await memory.setup();
    space = await ensureEmbeddingSpace(db.database, { name: embeddingSpace, dimensions });
  });
  return {
    get space() {
      return space as EmbeddingSpace;
    },
    get memory() {
      return memory as Memory;
    },
    /** @returns the owner's ref */
    async write(scope: Scope, memories: readonly WrittenMemory[]): Promise<number> {
      const rows = memories.map((each) => rowOf(scope, each));
      return db.database.transaction(async (tx) => {
        const { ref } = await lockOwner(tx, scope);
        await insertMemories(tx, { ownerRef: ref, memories: rows, space: space as EmbeddingSpace });
        return ref;
      });
    },
    /** Links of an owner's memories, which are named by their places in the order of writing. */
    async link(owner: number, links: readonly (readonly [from: number, to: number, strength: number])[]) {
      await db.database.query(sql`
        insert into ${db.database.schema}.relation (from_ref, to_ref, strength)
        select f.ref, t.ref, l.strength
        from json_to_recordset(${JSON.stringify(links.map(([from, to, strength]) => ({ from, to, strength })))}::json)
          as l ("from" int, "to" int, strength real)
        join (
          select ref, row_number() over (order by ref) - 1 as place from ${db.database.schema}.memory where owner_ref = ${owner}
        ) f on f.place = l."from"
        join (
          select ref, row_number() over (order by ref) - 1 as place from ${db.database.schema}.memory where owner_ref = ${owner}
        ) t on t.place = l."to"
        where f.ref <> t.ref on conflict do nothing`);
    },
    /** All rows of an owner's memories, in whatever state. */
    async rows(owner: number): Promise<HeldMemoryRow[]> {
      const rows = await db.database.query<{ held: HeldMemoryRow }>(sql`
        select ${heldMemoryJson(db.database, space as EmbeddingSpace)} as held
        from ${db.database.schema}.memory m where m.owner_ref = ${owner} order by m.ref`);
      return rows.map(({ held }) => held);
    },
  };
}

function rowOf(scope: Scope, memory: WrittenMemory): NewMemory {
  const { text, actor = null, source = null } = memory;
  const columns = ownerColumns(scope);
  const vector = memory.vector === undefined ? vectorOfText(text) : memory.vector;
  return {
    id: randomUUID(),
    ...columns,
    appId: columns.userId === "" ? columns.appId : (memory.appId ?? ""),
    kind: memory.kind ?? "fact",
    category: memory.category ?? "knowledge",
    key: memory.key ?? null,
    value: null,
    text,
    contentHash: randomUUID(),
    importance: memory.importance ?? 3,
    confidence: 1,
    pinned: memory.pinned ?? false,
    state: memory.state ?? "active",
    origin: "unknown",
    trust: "operator",
    tags: [],
    metadata: {},
    expiresAt: (memory.expiresAt ?? null) as never,
    agentId: null,
    runId: null,
    actorId: actor,
    role: null,
    threadId: source?.threadId ?? null,
    sourceSeqs: source?.seqs ?? [],
    evidence: null,
    turnStart: null,
    turnEnd: null,
    assertedTurn: 0,
    validFrom: memory.validFrom ?? "2024-01-01T00:00:00Z",
    validTo: null,
    supersededBy: null,
    seenCount: 1,
    terms: text,
    actorTerms: actor ?? "",
    vector: vector && halfvec(vector),
    links: [],
  };
}
