import { consentLine } from "../consents/consent-lines.rule.js";
import { MemoryError } from "../errors.js";
import type { ConsentRequest } from "../memories/guard/consent-request.rule.js";
import {
  type CliCommand,
  type DecisionFlags,
  decidingOne,
  type PageFlags,
  pageFlags,
  withDecisions,
} from "./flags.js";
import { aligned, oneLine, print, whoseIs } from "./output.js";
import { useListed, useScope } from "./use-memory.js";

/** `mnemograph consents`: what waits for the user's consent, or a decision about it. */
export const consentsCommand: CliCommand = {
  name: "consents",
  description: "show what waits for a user's consent, or decide it",
  examples: [
    ["consents", "what waits for consent, of everybody"],
    ["consents --user ana --approve 6f1c2d3e-…", "with the user's word for it"],
  ],
  flags: (command) =>
    withDecisions(command, decidingOne, [
      ["--all", "also what was decided or expired"],
      ...pageFlags("request"),
      ["--approve <id>", "the user agreed: remember it"],
      ["--refuse <id>", "the user refused: do not ask again for a while"],
    ]),
  run: consents,
};

interface ConsentsFlags extends DecisionFlags, PageFlags {
  readonly all?: true;
  readonly approve?: string;
  readonly refuse?: string;
}

/**
 * @throws MemoryError `INVALID_INPUT` for both decisions, or `--if-revision` without one, and what
 *   `memory.consents.decide` throws.
 */
async function consents(flags: ConsentsFlags): Promise<void> {
  const { approve, refuse, all, ifRevision, actor = "cli" } = flags;
  if (approve !== undefined && refuse !== undefined) {
    throw new MemoryError("INVALID_INPUT", "Use either --approve or --refuse.");
  }
  const id = approve ?? refuse;
  if (ifRevision !== undefined && id === undefined) {
    throw new MemoryError("INVALID_INPUT", "--if-revision goes with --approve or --refuse.");
  }
  if (id === undefined) {
    const status = all ? (["pending", "approved", "refused", "superseded", "expired"] as const) : undefined;
    const { limit = 1_000, after } = flags;
    const waiting = await useListed(flags, ({ consents }, whose) =>
      consents.list({ ...whose, status, limit, after }),
    );
    const everybody = flags.user === undefined && flags.app === undefined;
    const rows = waiting.map((one) => (everybody ? [whoseIs(one.scope), ...row(one)] : row(one)));
    return print(flags, waiting, () => aligned(rows).join("\n") || "Nothing waits.");
  }
  await useScope(flags, async (memory, scope) => {
    const decision = approve === undefined ? "refuse" : "approve";
    const decided = await memory.consents.decide({ scope, id, decision, actor, ifRevision, via: "cli" });
    print(flags, decided, () => oneLine(`${decided.status}: ${words(decided)}`));
  });
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
