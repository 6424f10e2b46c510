import { randomUUID } from "node:crypto";
import sql from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import type { Scope } from "../../scope/scope.js";
import { isId } from "../../scope/scope-predicates.js";
import { type MemoryChange, recordChanges } from "../changes/record-changes.js";
import type { MemoryKind } from "../item/memory.js";
import type { OwnerDraft } from "./draft-waves.js";
import { insertMemories } from "./insert-memories.js";
import { contentOf, newMemory, placeOf, type WriteContext } from "./new-memory.js";
import type { PreparedMemory } from "./prepare-memory.js";
import type { WriteOrigin, WriteOutcome } from "./write-runtime.js";

/** A memory in quarantine, by what it says. */
interface QuarantinedWords {
  readonly appId: string;
  readonly kind: MemoryKind;
  readonly contentHash: string;
}

/** A memory in quarantine that was counted as seen again. */
interface SightedWords extends QuarantinedWords, Record<string, unknown> {
  readonly id: string;
  readonly category: string;
  readonly seenCount: number;
}

/** Counts memories in quarantine as seen again, and returns those of `sightings` that are there. One statement. */
async function sightQuarantined(
  tx: Connection,
  input: { ownerRef: number; sightings: readonly (QuarantinedWords & { readonly times: number })[] },
): Promise<SightedWords[]> {
  return tx.query<SightedWords>(sql`
    update ${tx.schema}.memory m
    set seen_count = m.seen_count + i.times, updated_at = ${tx.now()}
    from json_to_recordset(${JSON.stringify(input.sightings)}::json) as i (
      "appId" text, kind text, "contentHash" text, times integer
    )
    where m.owner_ref = ${input.ownerRef} and ${isId(sql`m.app_id`, sql`i."appId"`)}
      and m.kind = i.kind and m.content_hash = i."contentHash" and m.state = 'quarantined'
    returning m.id, m.category, m.seen_count as "seenCount", m.app_id as "appId", m.kind, m.content_hash as "contentHash"`);
}

interface Context extends WriteContext {
  readonly scope: Scope;
  readonly origin: WriteOrigin;
}

/**
 * Stores drafts that read as instructions to a model where nothing finds them, within the transaction that holds
 * the owner's lock. Outcomes by the drafts' indexes.
 *
 * They touch no other memory, take no slot, and are no news: a header that told of them would carry them into a
 * prompt. The same words again are counted and not stored twice.
 */
export async function quarantineDrafts(
  context: Context,
  drafts: readonly OwnerDraft[],
): Promise<Map<number, WriteOutcome>> {
  if (drafts.length === 0) return new Map();
  const { tx, owner, scope, origin } = context;
  const doubles = new Map<string, OwnerDraft[]>();
  for (const draft of drafts) {
    const identity = identityOf(draft.memory);
    const same = doubles.get(identity);
    if (same) same.push(draft);
    else doubles.set(identity, [draft]);
  }
  const placed = (identity: string) =>
    placeOf(origin, (doubles.get(identity) as OwnerDraft[])[0] as OwnerDraft);
  const known = await sightQuarantined(tx, {
    ownerRef: owner.ref,
    sightings: [...doubles.values()].map((same) => ({ ...sighted(same), times: same.length })),
  });
  const ids = new Map(known.map((found) => [identityOf(found), found.id]));
  const created = [...doubles].flatMap(([identity, same]) => {
    if (ids.has(identity)) return [];
    const id = randomUUID();
    ids.set(identity, id);
    return {
      ...newMemory(context, same[0] as OwnerDraft, id, same.length, []),
      state: "quarantined" as const,
    };
  });
  await insertMemories(tx, {
    ownerRef: owner.ref,
    memories: created,
    space: null,
  });
  const unheard = { old: null, news: null, similarity: null };
  const changes: MemoryChange[] = [
    ...created.map((memory) => {
      const content = { ...contentOf(memory), state: memory.state };
      return {
        ...unheard,
        ...placed(identityOf(memory)),
        memoryId: memory.id,
        event: "ADD" as const,
        new: content,
        category: memory.category,
      };
    }),
    ...known.map((found) => {
      const { id, category, seenCount } = found;
      const seen = { memoryId: id, event: "MERGE" as const, new: { seenCount }, category };
      return { ...unheard, ...placed(identityOf(found)), ...seen };
    }),
  ];
  const { actor, step } = origin;
  await recordChanges(tx, { ownerRef: owner.ref, scope, actor, step, changes });
  return new Map(
    drafts.map(({ index, memory }) => [
      index,
      { outcome: "quarantined", id: ids.get(identityOf(memory)) ?? null, problems: ["instruction"] },
    ]),
  );
}

function sighted([draft]: readonly OwnerDraft[]) {
  const { kind, contentHash, scope } = (draft as OwnerDraft).memory;
  return { kind, contentHash, appId: scope.appId ?? "" };
}

function identityOf(
  memory: Pick<PreparedMemory, "kind" | "contentHash"> & ({ scope: Scope } | { appId: string }),
) {
  const appId = "appId" in memory ? memory.appId : (memory.scope.appId ?? "");
  return JSON.stringify([appId, memory.kind, memory.contentHash]);
}
