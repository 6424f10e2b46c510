import { consentLine } from "../consents/consent-lines.js";
import { MemoryError } from "../errors.js";
import type { ConsentRequest } from "../memories/guard/consent-request.js";
import { type MemoryFlags, type ScopeFlags, scopeOf, useMemory } from "./memory-flags.js";
import { aligned, oneLine } from "./output.js";

/** Flags of `mnemograph consents`. */
export interface ConsentsFlags extends MemoryFlags, ScopeFlags {
  readonly all?: true;
  readonly approve?: string;
  readonly refuse?: string;
  readonly actor?: string;
  readonly ifRevision?: number;
}

/**
 * `mnemograph consents`: what waits for the user's consent, or a decision about it.
 *
 * @throws MemoryError `INVALID_INPUT` when both decisions are asked for, or `--if-revision` without one, and what `memory.consents.decide` throws.
 */
export async function consentsCommand(flags: ConsentsFlags): Promise<void> {
  const { approve, refuse, all, json, ifRevision } = flags;
  if (approve !== undefined && refuse !== undefined) {
    throw new MemoryError("INVALID_INPUT", "Use either --approve or --refuse.");
  }
  const scope = scopeOf(flags);
  const id = approve ?? refuse;
  if (ifRevision !== undefined && id === undefined) {
    throw new MemoryError("INVALID_INPUT", "--if-revision goes with --approve or --refuse.");
  }
  await useMemory(flags, async (memory) => {
    if (id === undefined) {
      const status = all ? (["pending", "approved", "refused", "superseded", "expired"] as const) : undefined;
      print(await memory.consents.list({ scope, status, limit: 1_000 }), json);
      return;
    }
    const decision = approve === undefined ? "refuse" : "approve";
    const actor = flags.actor ?? "cli";
    const decided = await memory.consents.decide({
      ...{ scope, id, decision, actor, ifRevision },
      via: "cli",
    });
    console.log(json ? JSON.stringify(decided) : oneLine(`${decided.status}: ${words(decided)}`));
  });
}

function print(requests: readonly ConsentRequest[], json: boolean | undefined): void {
  if (json) console.log(JSON.stringify(requests));
  else console.log(requests.length > 0 ? aligned(requests.map(row)).join("\n") : "Nothing waits.");
}

/** What holds the slot is news only while it may still change. */
function words(request: ConsentRequest): string {
  return consentLine(request.status === "pending" ? request : { ...request, current: null });
}

function row(request: ConsentRequest) {
  const { id, status, rule, category, decidedBy, decidedVia, decidedAt, expiresAt, seenCount } = request;
  const waits = rule === "consent" ? "for consent" : "for a second signal";
  const decided = [
    status,
    decidedAt?.toISOString(),
    decidedBy && `by ${decidedBy}`,
    decidedVia && `(${decidedVia})`,
  ];
  const how =
    status === "pending"
      ? `waits ${waits} until ${expiresAt.toISOString()}`
      : decided.filter(Boolean).join(" ");
  return [id, how, category, `${seenCount}×`, words(request)];
}
