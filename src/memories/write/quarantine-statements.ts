import sql from "sql-template-tag";
import type { Logger } from "../../logger.js";
import type { Connection } from "../../postgres/connection.js";
import { isId } from "../../scope/scope-predicates.js";
import type { MemoryKind } from "../item/memory.js";
import { contentOf } from "../item/memory-fields.js";
import { newMemory } from "./apply-plan.js";
import type { PlannedWrite } from "./plan-statement.js";
import { type Statement, toldTo, type WriteContext } from "./statement.js";
import { saidAgain } from "./waves.js";
import type { WriteOrigin } from "./write-runtime.js";

export interface SightedWords {
  readonly appId: string;
  readonly kind: MemoryKind;
  readonly contentHash: string;
  readonly id: string;
  readonly category: string;
  readonly seenCount: number;
}

/** Joins statements of the same words, and counts those in quarantine as seen again. One statement. */
export async function sightQuarantined(
  tx: Connection,
  { owner }: Pick<WriteContext, "owner">,
  statements: readonly Statement[],
): Promise<{ readonly statement: Statement; readonly sighted: SightedWords | undefined }[]> {
  const words = new Map<string, Statement>();
  for (const statement of statements) {
    const identity = identityOf(wordsOf(statement));
    const known = words.get(identity);
    words.set(identity, known ? saidAgain(known, statement) : statement);
  }
  const distinct = [...words.values()];
  const sightings = distinct.map((statement) => ({ ...wordsOf(statement), times: statement.said.length }));
  const found = await tx.query<SightedWords & Record<string, unknown>>(sql`
    update ${tx.schema}.memory m
    set seen_count = m.seen_count + i.times, updated_at = ${tx.now()}
    from json_to_recordset(${JSON.stringify(sightings)}::json) as i (
      "appId" text, kind text, "contentHash" text, times integer
    )
    where m.owner_ref = ${owner.ref} and ${isId(sql`m.app_id`, sql`i."appId"`)}
      and m.kind = i.kind and m.content_hash = i."contentHash" and m.state = 'quarantined'
    returning m.id, m.category, m.seen_count as "seenCount", m.app_id as "appId", m.kind, m.content_hash as "contentHash"`);
  const sighted = new Map(found.map((memory) => [identityOf(memory), memory]));
  return [...words].map(([identity, statement]) => ({ statement, sighted: sighted.get(identity) }));
}

/**
 * Stores a statement that reads as instructions to a model where nothing finds it: it touches no other
 * memory, takes no slot, and is no news, which would carry it into a prompt.
 */
export function planQuarantined(
  context: WriteContext,
  statement: Statement,
  sighted: SightedWords | undefined,
): PlannedWrite {
  const silent = { old: null, news: null, similarity: null };
  if (sighted) {
    const { id, category, seenCount } = sighted;
    const seen = { ...silent, memoryId: id, event: "MERGE", new: { seenCount }, category } as const;
    return { outcome: quarantined(id), plan: { changes: [seen] } };
  }
  const memory = {
    ...newMemory(context, toldTo(context.owner, statement), []),
    state: "quarantined",
  } as const;
  const { id, category, state } = memory;
  const content = { ...contentOf(memory), state };
  const added = { ...silent, memoryId: id, event: "ADD", new: content, category } as const;
  return { outcome: quarantined(id), plan: { created: [memory], changes: [added] } };
}

/** The same words again are not reported. */
export function tellOfQuarantined(
  logger: Logger,
  { step, threadId, memoryIds }: Pick<WriteOrigin, "step" | "threadId"> & { memoryIds: readonly string[] },
): void {
  if (memoryIds.length === 0) return;
  const [one, several] = ["1 text reads", `${memoryIds.length} texts read`];
  logger.warn(
    `${memoryIds.length === 1 ? one : several} as instructions to a model, kept for you to look at: ` +
      'memory.memories.list({ states: ["quarantined"] })',
    { ...(threadId !== undefined && { threadId }), step, memoryIds },
  );
}

function quarantined(id: string) {
  return { outcome: "quarantined", id, problems: ["instruction"] } as const;
}

function wordsOf({ memory: { scope, kind, contentHash } }: Statement) {
  return { appId: scope.appId ?? "", kind, contentHash };
}

function identityOf({ appId, kind, contentHash }: ReturnType<typeof wordsOf>): string {
  return JSON.stringify([appId, kind, contentHash]);
}
