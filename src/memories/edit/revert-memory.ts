import { z } from "zod";
import { MemoryError } from "../../errors.js";
import { parseScope } from "../../scope/scope.js";
import { listHistory } from "../changes/changes-api.js";
import { isApproved, type MemoryItem, type MemoryVersion, versionOf } from "../item/memory.js";
import { expiryField } from "../item/memory-metadata.rule.js";
import type { WriteRuntime } from "../write/write-runtime.js";
import { type ChangeInput, editMemory, requireMemory } from "./edit-memory.js";
import { rewriteContent, unexpiredFrom } from "./rewrite-content.js";

const contentSchema = z.object({
  text: z.string().optional(),
  category: z.string().optional(),
  value: z.string().nullish(),
  importance: z.number().optional(),
  confidence: z.number().optional(),
  pinned: z.boolean().optional(),
  tags: z.array(z.string()).optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  expiresAt: expiryField.nullish(),
});

/** An entry of the audit trail, as a version is read from it. */
export interface VersionEntry {
  readonly id: number;
  readonly event: string;
  readonly old: unknown;
  readonly new: unknown;
}

/** Events that give a memory content; the others hide it, link it or count it. */
const contentful: ReadonlySet<string> = new Set(["ADD", "UPDATE", "RESTORE", "CONSENT"]);

/**
 * What a memory said right after the entry `id` of its audit trail, as far as the trail knows; null when there is
 * no such entry.
 *
 * @param entries its whole trail, in any order.
 */
export function versionAt(entries: readonly VersionEntry[], id: number): Partial<MemoryVersion> | null {
  if (!entries.some((entry) => entry.id === id)) return null;
  const before = entries.filter((entry) => entry.id <= id).toSorted((first, second) => first.id - second.id);
  // Before the first entry that gives content, what a later one replaced is the best there is.
  const versions = before
    .filter(({ event }) => contentful.has(event))
    .flatMap((entry) => [entry.old, entry.new]);
  return Object.assign({}, ...versions.map(contentOf));
}

/** The content that one side of an entry tells of; nothing where it tells of what was refused or took over. */
function contentOf(side: unknown): Partial<MemoryVersion> {
  if (typeof side !== "object" || side === null) return {};
  if ("refused" in side || "supersededBy" in side || "proposed" in side) return {};
  const parsed = contentSchema.safeParse(side);
  if (!parsed.success) return {};
  return Object.fromEntries(Object.entries(parsed.data).filter(([, value]) => value !== undefined));
}

/** States that a version can be brought back from; what is in quarantine needs an approval instead. */
const states: readonly MemoryItem["state"][] = ["active", "superseded", "merged", "soft_deleted"];

/**
 * Gives a memory the content it had right after the entry `to` of its audit trail, and makes it active. This is a
 * change like any other, with an entry of its own that names `to`.
 *
 * @throws MemoryError `NOT_FOUND` for an unknown memory or entry; `WRONG_STATE` when it is in quarantine;
 *   `INVALID_INPUT` when the text breaks today's writing constraints or reads as instructions to a model; and all that
 *   `editMemory` throws.
 */
export async function revertMemory(
  deps: WriteRuntime,
  input: ChangeInput & { readonly to: number },
): Promise<MemoryItem> {
  const known = await requireMemory(deps.db, input, states);
  const version = versionAt(await listHistory(deps.db, parseScope(input.scope), input.id), input.to);
  if (!version) {
    throw new MemoryError("NOT_FOUND", `The history of memory ${input.id} has no entry ${input.to}.`);
  }
  const { text } = { ...known, ...version };
  const embedded = (await deps.embedder?.documents([text])) ?? null;
  return editMemory(deps, { ...input, states }, async (editing) => {
    const { before } = editing;
    const next = unexpiredFrom(editing, { ...before, ...version });
    // Only what is reverted to is known to have been vouched for, and that by the trust it still has.
    const vouched = isApproved(before) || (before.state === "active" && sameWords(before, next));
    const also = await rewriteContent(deps, editing, next, { embedded, vouched });
    return {
      event: "UPDATE",
      news: before.state === "active" ? "updated" : "restored",
      old: { ...versionOf(before), state: before.state },
      new: { ...versionOf(next), revertOf: input.to },
      also,
    };
  });
}

function sameWords(first: MemoryVersion, second: MemoryVersion): boolean {
  return (
    JSON.stringify([first.text, first.value, first.tags]) ===
    JSON.stringify([second.text, second.value, second.tags])
  );
}
