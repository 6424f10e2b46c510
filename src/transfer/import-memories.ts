import sql from "sql-template-tag";
import { insertEvents } from "../events/event-log.js";
import { memoryHash, memoryTerms } from "../memories/item/memory.js";
import { memoryColumns } from "../memories/item/memory-row.js";
import { findSlotIntervals, type Slot, type SlotInterval } from "../memories/slot/slot-intervals.js";
import {
  freeInterval,
  freeSince,
  type HeldInterval,
  untilNext,
} from "../memories/slot/slot-timeline.rule.js";
import { countAdded, sourceOf, termRows, wordRows } from "../memories/write/insert-memories.js";
import { fields, names, type RowOf, recordset } from "../postgres/columns.js";
import type { Connection } from "../postgres/connection.js";
import type { OwnerRef } from "../scope/scope.js";
import { isId, isSourceThread, scopeColumns } from "../scope/scope-predicates.js";
import { searchName } from "../text/search-text.js";
import type { ExportLineOf } from "./export-line.js";
import { findOwn, taken } from "./import-records.js";
import type { NumberedLine } from "./read-export.js";
import { appColumn, type ImportTarget, inApp, recordTypes } from "./record-types.js";

/**
 * Writes the memories of `lines` that are not known yet to a locked owner, in slots that held nothing else at the time.
 *
 * @throws MemoryError `ID_TAKEN` that names the line of an id that is somebody else's.
 */
export async function importMemories(
  tx: Connection,
  target: ImportTarget,
  lines: readonly NumberedLine<ExportLineOf<"memory">>[],
): Promise<{ readonly added: number; readonly quarantined: readonly string[] }> {
  if (lines.length === 0) return { added: 0, quarantined: [] };
  const { ownerRef } = target;
  const known = await findOwn(tx, "memory", { ownerRef, lines });
  const fresh = lines
    .filter(({ line }) => !known.has(line.id))
    .map(({ line }): ImportedMemory => {
      const terms = {
        terms: memoryTerms(line, tx.language),
        actorTerms: searchName(line.actorId ?? "", tx.language),
      };
      return { ...inApp(target, line), ...terms, contentHash: memoryHash(line) };
    });
  let memories = await inFreeIntervals(tx, ownerRef, fresh);
  let added = 0;
  const quarantined: string[] = [];
  while (memories.length > 0) {
    const inserted = await insertPlaced(tx, target, memories);
    const ids = new Set(inserted.map(({ id }) => id));
    const left = memories.filter(({ id }) => !ids.has(id));
    if (left.length === memories.length) {
      // Twice the same id in the file; or one of a tenant that this one cannot see.
      const own = await findOwn(tx, "memory", { ownerRef, lines });
      const unseen = lines.find(
        ({ line: { id } }) => left.some((memory) => memory.id === id) && !own.has(id),
      );
      if (unseen) throw taken("memory", unseen);
      break;
    }
    added += ids.size;
    quarantined.push(...inserted.flatMap(({ id, state }) => (state === "quarantined" ? id : [])));
    memories = left;
  }
  await insertEvents(
    tx,
    lines
      .filter(({ line }) => quarantined.includes(line.id))
      .map(({ line: { id, category } }) => ({
        ...{ scope: target.scope, memoryId: id, category },
        ...({ step: "import", op: "quarantine", status: "ok" } as const),
      })),
  );
  return { added, quarantined };
}

/** What is stored of a memory. */
const importedColumns = {
  ...recordTypes.memory.columns,
  ...appColumn,
  contentHash: memoryColumns.contentHash,
};

/** A memory to import, with what its index is made from. */
interface ImportedMemory extends RowOf<typeof importedColumns> {
  /** Text and actor's name, prepared for `to_tsvector`. */
  readonly terms: string;
  readonly actorTerms: string;
}

/**
 * `memories` with times at which their slots held nothing else: what is known already keeps its own, and of two of the
 * file's that overlap the later one holds.
 */
async function inFreeIntervals(
  tx: Connection,
  ownerRef: OwnerRef,
  memories: readonly ImportedMemory[],
): Promise<ImportedMemory[]> {
  const values = memories.filter(hasHeld);
  if (values.length === 0) return [...memories];
  const held = bySlot(await findSlotIntervals(tx, { ownerRef, slots: values.map(slotOf) }));
  const placed = new Map<ImportedMemory, HeldInterval>();
  for (const [slot, told] of bySlot(values)) {
    for (const [memory, interval] of inTurn(told, held.get(slot) ?? [])) placed.set(memory, interval);
  }
  return memories.map((memory) => {
    const { from, to } = placed.get(memory) ?? { from: memory.validFrom, to: memory.validTo };
    return { ...memory, validFrom: from, validTo: to };
  });
}

type SlotMemory = ImportedMemory & { readonly key: string };

/** Whether a memory holds, or held, a slot. */
function hasHeld(memory: ImportedMemory): memory is SlotMemory {
  return memory.key !== null && (memory.state === "active" || memory.state === "superseded");
}

function slotOf({ appId, category, key }: Slot): Slot {
  return { appId, category, key };
}

function bySlot<Item extends Slot>(items: readonly Item[]): Map<string, Item[]> {
  const slots = new Map<string, Item[]>();
  for (const item of items) {
    const { appId, category, key } = item;
    const name = JSON.stringify([appId, category, key]);
    const known = slots.get(name);
    if (known) known.push(item);
    else slots.set(name, [item]);
  }
  return slots;
}

/** When each of `told`, which a file tells of one slot, held it: at no time at which another of them or of `held` did. */
function inTurn(told: readonly SlotMemory[], held: readonly SlotInterval[]): Map<SlotMemory, HeldInterval> {
  const others: HeldInterval[] = [...held];
  let isHeld = held.some(({ active }) => active);
  const intervals = told.map(({ state, validFrom: from, validTo }) => ({
    from,
    to: validTo ?? (state === "active" ? null : from),
  }));
  const placed = new Map<SlotMemory, HeldInterval>();
  // What holds still comes after all that has ended.
  for (const isActive of [false, true]) {
    for (const [place, memory] of told.entries()) {
      if ((memory.state === "active") !== isActive) continue;
      // What comes for a slot that is held is closed, and held it at most until then.
      const interval =
        isActive && !isHeld
          ? { from: freeSince(memory.validFrom, others), to: null }
          : freeInterval(untilNext(intervals[place] as HeldInterval, intervals), others);
      isHeld ||= isActive;
      others.push(interval);
      placed.set(memory, interval);
    }
  }
  return placed;
}

/**
 * Adds memories to a locked owner with their terms, and counts them. Returns those added. One statement.
 *
 * What already holds a slot, says the same, or tells of the same turns stays active. What comes for its place is added
 * as superseded by it, and held until then at most. Nothing ends before it begins. Of two `memories` that collide one is
 * added: try the others again.
 */
async function insertPlaced(
  tx: Connection,
  { ownerRef, ...target }: ImportTarget,
  memories: readonly ImportedMemory[],
): Promise<{ readonly id: string; readonly state: string }[]> {
  const scope = scopeColumns(target.scope);
  const { schema } = tx;
  const source = sourceOf(scope.userId, sql`i."sourceSeqs"`, sql`i.evidence`);
  const placed = {
    threadId: sql`i.source_ref`,
    sourceSeqs: sql`i.source_seqs`,
    evidence: sql`i.quote`,
    state: sql`i.new_state`,
    validTo: sql`case when i.new_state = 'active' then null when i.holder is null then i."validTo"
      else greatest(i."validFrom", coalesce(i."validTo", ${tx.now()})) end`,
    supersededBy: sql`coalesce(i."supersededBy", i.holder)`,
  };
  return tx.query<{ id: string; state: string }>(sql`
    with input as (
      select i.*, ${source.threadId} as source_ref, ${source.sourceSeqs} as source_seqs, ${source.evidence} as quote
      from (select row_number() over () as position, m.* from json_to_recordset(${JSON.stringify(memories)}::json) as m (
        ${recordset(importedColumns)}, terms text, "actorTerms" text
      )) i
      left join lateral (
        select id from ${schema}.thread t
        where ${isSourceThread({ ...scope, appId: sql`i."appId"` }, sql`i."threadId"`)} limit 1
      ) t on true
    ),
    placed as (
      select i.*, holder.id as holder,
        case when holder.id is null then i.state when i.state = 'quarantined' then 'merged' else 'superseded' end
          as new_state
      from input i
      left join lateral (
        -- One look into one index each; joined by "or" they would read all of the owner's memories.
        (select m.id from ${schema}.memory m
        where i.state = 'active' and m.state = 'active' and m.owner_ref = ${ownerRef}
          and ${isId(sql`m.app_id`, sql`i."appId"`)} and m.kind = i.kind and m.content_hash = i."contentHash" limit 1)
        union all
        (select m.id from ${schema}.memory m
        where i.state = 'active' and m.state = 'active' and m.key is not null and m.owner_ref = ${ownerRef}
          and ${isId(sql`m.app_id`, sql`i."appId"`)} and m.category = i.category and m.key = i.key limit 1)
        union all
        (select m.id from ${schema}.memory m
        where i.state = 'active' and i.kind = 'episode' and m.state = 'active' and m.kind = 'episode'
          and m.thread_ref = i.source_ref and m.turn_start = i."turnStart" limit 1)
        union all
        (select m.id from ${schema}.memory m
        where i.state = 'quarantined' and m.state = 'quarantined' and m.owner_ref = ${ownerRef}
          and ${isId(sql`m.app_id`, sql`i."appId"`)} and m.kind = i.kind and m.content_hash = i."contentHash" limit 1)
        limit 1
      ) holder on true
    ),
    added as (
      insert into ${schema}.memory (owner_ref, tenant_id, user_id, ${names(importedColumns)})
      -- i."id", i."appId", …, i.new_state, …, i."updatedAt"
      select ${ownerRef}, ${scope.tenantId}, ${scope.userId}, ${fields(importedColumns, placed)}
      from placed i order by i.position
      on conflict do nothing
      returning ref, id, state
    ),
    ${wordRows(tx)},
    ${termRows(tx, ownerRef)},
    counted as (
      ${countAdded(tx, ownerRef)}
    )
    select id, state from added`);
}
