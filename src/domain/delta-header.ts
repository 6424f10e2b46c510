import type { ChangeEvent } from "./change-line.js";

/** Signs of the events. */
const signs: Readonly<Record<ChangeEvent, string>> = {
  created: "+created",
  updated: "↑updated",
  merged: "↔merged",
  deleted: "−deleted",
  soft_deleted: "⌛soft_deleted",
  restored: "↺restored",
};

/** What changed since a thread was last told. */
export interface Delta {
  readonly since: number;
  readonly count: number;
  /** At most three, most important first. */
  readonly top: readonly { readonly event: ChangeEvent; readonly line: string }[];
}

/** The delta header, at most three bullets; null when nothing changed. */
export function deltaHeader({ since, count, top }: Delta): string | null {
  if (count === 0) return null;
  const more = count > top.length ? ` (${count} changes)` : "";
  const bullets = top.map(({ event, line }) => `- ${signs[event]}: ${line}`);
  return [`Memory updates since rev ${since}${more}:`, ...bullets].join("\n");
}
