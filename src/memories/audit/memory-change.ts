import sql, { type Sql } from "sql-template-tag";
import type { EventPlace } from "../../observability/events/event-log.js";
import { clipped, headAtWord, onOneLine } from "../../text/storable-text.js";
import { doubtNote } from "../item/doubt.rule.js";
import { type MemoryItem, type Provenance, withCaution } from "../item/memory.js";

export const historyEvents = [
  "ADD",
  "UPDATE",
  "DELETE",
  "MERGE",
  "LINK",
  "TTL",
  "RESTORE",
  "CONSENT",
  "DOUBT",
  "SETTLE",
] as const;

export type HistoryEvent = (typeof historyEvents)[number];

/** A change for the audit trail and the events; with a delta, for agents too. */
export interface MemoryChange extends EventPlace {
  readonly memoryId: string;
  readonly event: HistoryEvent;
  readonly old?: unknown;
  readonly new: unknown;
  /** The line of the delta header. @default agents do not see the change */
  readonly delta?: {
    readonly event: ChangeEvent;
    readonly line: string;
    readonly importance: number;
  } | null;
  readonly category: string;
  readonly similarity?: number | null;
}

/** What is recorded of one side of a change, and what agents see of it. */
interface Recorded extends Pick<MemoryChange, "old" | "new" | "similarity"> {
  /** What agents see. @default nothing */
  readonly as?: ChangeEvent | null;
}

/** The change `event` of `memory`. The line for agents has the text and ratings of `memory`. */
export function changeOf(
  memory: Pick<MemoryItem, "id" | "category" | "text" | "importance"> &
    Partial<Pick<MemoryItem, "seenCount"> & Provenance> & {
      readonly key?: string | null | undefined;
    },
  event: HistoryEvent,
  { as, ...recorded }: Recorded,
): MemoryChange {
  const { id: memoryId, category, importance, seenCount = 1 } = memory;
  const change = { memoryId, event, category, ...recorded };
  if (!as) return change;
  return {
    ...change,
    delta: { event: as, line: changeLine(as, { ...memory, seenCount }), importance },
  };
}

/** The record of the end of a doubt. @param as what agents see: nothing of a doubt that lapsed */
export function settledDoubt(
  memory: Parameters<typeof changeOf>[0] & { readonly doubtedAt: Date | null },
  because: object,
  as: "confirmed" | null = "confirmed",
): MemoryChange {
  return changeOf(memory, "SETTLE", { old: { doubtedAt: memory.doubtedAt }, new: because, as });
}

const eventSigns = {
  created: "+created",
  updated: "↑updated",
  merged: "↔merged",
  deleted: "−deleted",
  soft_deleted: "⌛soft_deleted",
  restored: "↺restored",
  doubted: "?doubted",
  confirmed: "✓confirmed",
} as const;

export type ChangeEvent = keyof typeof eventSigns;

export const changeEvents = Object.keys(eventSigns) as ChangeEvent[];

/** Whether a change is about what a memory rests on, and not about its words. */
export const isDoubt = (event: ChangeEvent) => event === "doubted" || event === "confirmed";

const erasedText = "(no longer kept)";

/** SQL for the line of a memory that is gone: `changeLine` of "deleted". */
export const wordlessLine: Sql = sql`btrim(regexp_replace(c.line, '^(\\[[^\\]]*\\])?.*$', '\\1 ' || ${erasedText}::text))`;

const maxToldCharacters = 160;

/** `category` for people: "app_notes" → "App notes". */
function categoryLabel(category: string): string {
  const words = category.replaceAll(/[_-]+/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const maxTopicCharacters = 60;

type Subject = Pick<MemoryItem, "text"> & { readonly key?: string | null | undefined };

/** The key, or else the first sentence, quoted. */
function subjectOf({ key, text }: Subject): string {
  if (key) return ` about ${clipped(onOneLine(key.replaceAll(/[_-]+/g, " ")), maxTopicCharacters)}`;
  const line = onOneLine(text);
  const [sentence = ""] = line.split(/(?<=[\p{L}\p{N}]{3})[.!?](?:\s|$)|[。！？]/u, 1);
  return ` about "${headAtWord(sentence || line, maxTopicCharacters)}"`;
}

/**
 * "[Personal] Preferred name is Ana (imp=2)", without the sign. Hidden or deleted text is not
 * repeated, and untrusted text has its warning.
 */
export function changeLine(
  event: ChangeEvent,
  memory: Pick<MemoryItem, "category" | "importance" | "seenCount"> & Partial<Provenance> & Subject,
): string {
  if (event === "merged") return `Combined ${memory.seenCount} notes${subjectOf(memory)}`;
  const isGone = event === "deleted" || event === "soft_deleted";
  const text = isGone
    ? erasedText
    : withCaution(memory, clipped(onOneLine(memory.text), maxToldCharacters));
  const importance = event === "created" ? ` (imp=${Math.round(memory.importance)})` : "";
  return `[${categoryLabel(memory.category)}] ${text}${importance}`;
}

/** A change as a thread is told it. */
export interface ToldChange {
  readonly event: ChangeEvent;
  /** Of the change log. */
  readonly line: string;
  readonly importance: number;
  /** What it replaces of what the prompt shows. */
  readonly instead: string | null;
  /** Since when it may no longer hold. */
  readonly doubtedAt: string | null;
}

/** A thread may be told of another event than the log has: what it never saw was created for it. */
export function toldLine(
  { event, line, importance, instead, doubtedAt }: ToldChange,
  timeZone: string,
): string {
  const doubt = doubtNote(doubtedAt === null ? null : new Date(doubtedAt), timeZone);
  const words = `${line.replace(/ \(imp=\d\)$/, "")}${doubt}`;
  if (event === "created") return `${words} (imp=${Math.round(importance)})`;
  if (instead === null || (event !== "updated" && event !== "restored")) return words;
  return `${words} (instead of: ${clipped(onOneLine(instead), maxTopicCharacters)})`;
}

/** Changes since a thread last saw them. */
export interface Delta {
  readonly since: number;
  readonly count: number;
  /** At most three, most important first. */
  readonly top: readonly { readonly event: ChangeEvent; readonly line: string }[];
}

export function deltaHeader({ since, count, top }: Delta): string | null {
  if (top.length === 0) return null;
  const more = count > top.length ? ` (${count} changes)` : "";
  const bullets = top.map(({ event, line }) => `- ${eventSigns[event]}: ${line}`);
  return [`Memory updates since rev ${since}${more}:`, ...bullets].join("\n");
}
