import { MemoryError } from "../errors.js";
import type { MemoryItem } from "../memories/item/memory.js";
import type { MemoryListing } from "../memories/item/memory-row.js";
import type { MemoriesApi, MemoryChangeAccess } from "../memories/memories-api.js";
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

/** `mnemograph quarantine`: what reads as instructions and waits for an operator, or a decision about it. */
export const quarantineCommand: CliCommand = {
  name: "quarantine",
  description: "show what reads as instructions to a model, or decide whether it may be a memory",
  examples: [
    ["quarantine", "what reads as instructions and waits for an operator, of everybody"],
    ["quarantine --user ana --reject 6f1c2d3e-…", "or --approve, as an ordinary memory"],
  ],
  flags: (command) =>
    withDecisions(command, decidingOne, [
      ...pageFlags("memory"),
      ["--approve <id>", "make it an ordinary memory"],
      ["--consent", "with --approve: the user agreed, where a field needs consent"],
      ["--reject <id>", "delete it; the audit trail keeps what it was"],
    ]),
  run: quarantine,
};

interface QuarantineFlags extends DecisionFlags, PageFlags {
  readonly approve?: string;
  readonly reject?: string;
  readonly consent?: true;
}

/**
 * @throws MemoryError `INVALID_INPUT` for both decisions, `--consent` without an approval or `--if-revision` without a
 *   decision, and what `memory.memories` throws.
 */
async function quarantine(flags: QuarantineFlags): Promise<void> {
  const { approve: approved, reject: rejected, actor = "cli", consent, ifRevision } = flags;
  if (approved !== undefined && rejected !== undefined) {
    throw new MemoryError("INVALID_INPUT", "Use either --approve or --reject.");
  }
  if (consent && approved === undefined) {
    throw new MemoryError("INVALID_INPUT", "--consent goes with --approve.");
  }
  if (ifRevision !== undefined && (approved ?? rejected) === undefined) {
    throw new MemoryError("INVALID_INPUT", "--if-revision goes with --approve or --reject.");
  }
  if (approved === undefined && rejected === undefined) return list(flags);
  await useScope(flags, async ({ memories }, scope) => {
    if (approved !== undefined) {
      const memory = await approve(memories, approved, {
        ...{ scope, actor, ifRevision },
        ...(consent && { consent: "given" }),
      });
      print(flags, memory, () => oneLine(`approved: ${memory.text}`));
    } else if (rejected !== undefined) {
      await memories.remove(rejected, { scope, actor, ifRevision });
      print(flags, { id: rejected, state: "rejected" }, () => oneLine(`rejected: ${rejected}`));
    }
  });
}

async function list(flags: QuarantineFlags): Promise<void> {
  const { limit = 1_000, after } = flags;
  const held = await useListed(flags, ({ memories }, whose) =>
    memories.list({ ...whose, states: ["quarantined"], limit, after } as MemoryListing),
  );
  const everybody = flags.user === undefined && flags.app === undefined;
  const rows = held.map((one) => (everybody ? [whoseIs(one.scope), ...row(one)] : row(one)));
  print(flags, held, () => aligned(rows).join("\n") || "Nothing is in quarantine.");
}

/** The error for want of consent in this command's own words. */
async function approve(memories: MemoriesApi, id: string, approval: MemoryChangeAccess) {
  try {
    return await memories.approve(id, approval);
  } catch (cause) {
    if (!MemoryError.is(cause, "CONSENT_REQUIRED")) throw cause;
    throw new MemoryError(
      "CONSENT_REQUIRED",
      `${id} fills a field that changes only with the user's consent: add --consent when the user agreed.`,
      { cause },
    );
  }
}

/** With all parts that an approval would show to agents. */
function row({ id, category, key, value, tags, origin, createdAt, seenCount, text }: MemoryItem) {
  const field = key === null ? category : `${category}/${key}`;
  const more = [value !== null && `value: ${value}`, tags.length > 0 && `tags: ${tags.join(", ")}`];
  const said = [text, ...more].filter(Boolean).join(" | ");
  return [id, createdAt.toISOString(), field, `from ${origin}`, `${seenCount}×`, said];
}
