import { z } from "zod";
import type { MemoryVersion } from "./memory-version.js";

const contentSchema = z.object({
  text: z.string().optional(),
  category: z.string().optional(),
  value: z.string().nullish(),
  importance: z.number().optional(),
  confidence: z.number().optional(),
  pinned: z.boolean().optional(),
  tags: z.array(z.string()).optional(),
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
