import { z } from "zod";
import { MemoryError } from "../../errors.js";
import { parseScope } from "../../scope/scope.js";
import { type HistoryEntry, listHistory } from "../changes/changes-api.js";
import {
  leastTrusted,
  type MemoryItem,
  type MemoryVersion,
  memoryOrigins,
  memoryTrusts,
  type Provenance,
} from "../item/memory.js";
import { momentField, versionColumns, versionOf } from "../item/memory-fields.js";
import type { WriteRuntime } from "../write/write-types.js";
import { type ChangeInput, editContent, requireMemory } from "./edit-memory.js";

const contentShape = Object.entries(versionColumns).map(([name, { type, json }]) => {
  return [name, type === "timestamptz" ? momentField.nullish() : json.optional()];
});
const contentSchema = z.object(Object.fromEntries(contentShape)) as z.ZodType<
  Partial<MemoryVersion>
>;

/** Events with content; the others hide, link or count a memory. */
const contentEvents: ReadonlySet<string> = new Set(["ADD", "UPDATE", "RESTORE", "CONSENT"]);

/** @param entries the whole audit trail, in any order. @returns null without an entry `id` */
function versionAt(
  entries: readonly Pick<HistoryEntry, "id" | "event" | "old" | "new">[],
  id: number,
): Partial<MemoryVersion> | null {
  if (!entries.some((entry) => entry.id === id)) return null;
  const before = entries
    .filter((entry) => entry.id <= id)
    .toSorted((first, second) => first.id - second.id);
  // `old` matters before the first entry with content.
  const versions = before
    .filter(({ event }) => contentEvents.has(event))
    .flatMap((each) => [each.old, each.new]);
  return Object.assign({}, ...versions.map(contentOf));
}

/** Empty for content that was refused, proposed or superseded. */
function contentOf(side: unknown): Partial<MemoryVersion> {
  if (typeof side !== "object" || side === null) return {};
  if ("refused" in side || "supersededBy" in side || "proposed" in side) return {};
  const parsed = contentSchema.safeParse(side);
  return Object.fromEntries(
    Object.entries(parsed.data ?? {}).filter(([, value]) => value !== undefined),
  );
}

const provenanceSchema = z.object({ origin: z.enum(memoryOrigins), trust: z.enum(memoryTrusts) });

/** Whose the words were after the entry `id`; undefined if no entry up to it says so. */
function provenanceAt(newestFirst: readonly HistoryEntry[], id: number): Provenance | undefined {
  const entries = newestFirst.filter((entry) => entry.id <= id);
  return entries.map((entry) => provenanceSchema.safeParse(entry.new).data).find(Boolean);
}

/** All but quarantine, which needs an approval. */
const states: readonly MemoryItem["state"][] = ["active", "superseded", "merged", "soft_deleted"];

/**
 * Restores the content right after the entry `to`, with the lower of its trust then and now.
 * @throws MemoryError `NOT_FOUND` for an unknown entry
 */
export async function revertMemory(
  deps: WriteRuntime,
  input: ChangeInput & { to: number },
): Promise<MemoryItem> {
  await requireMemory(deps.db, input, states);
  const entries = await listHistory(deps.db, parseScope(input.scope), input.id);
  const version = versionAt(entries, input.to);
  if (!version)
    throw new MemoryError(
      "NOT_FOUND",
      `The history of memory ${input.id} has no entry ${input.to}.`,
    );
  const then = provenanceAt(entries, input.to);
  const reverted = (before: MemoryItem): MemoryItem => {
    return { ...before, ...version, ...(then && leastTrusted(before, then)) };
  };
  return editContent(deps, { ...input, states, next: reverted }, (before, next) => {
    const { origin, trust } = next;
    return {
      event: "UPDATE",
      as: before.state === "active" ? "updated" : "restored",
      old: { ...versionOf(before), state: before.state },
      new: { ...versionOf(next), origin, trust, revertOf: input.to },
    };
  });
}
