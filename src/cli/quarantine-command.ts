import { MemoryError } from "../errors.js";
import type { QuarantineApi, QuarantineApproval } from "../memories/edit/quarantine.js";
import type { MemoryItem } from "../memories/item/memory.js";
import { type MemoryFlags, type ScopeFlags, scopeOf, useMemory } from "./memory-flags.js";
import { aligned, oneLine } from "./output.js";

/** Flags of `mnemograph quarantine`. */
export interface QuarantineFlags extends MemoryFlags, ScopeFlags {
  readonly approve?: string;
  readonly reject?: string;
  readonly actor?: string;
  readonly consent?: true;
  readonly ifRevision?: number;
}

/**
 * `mnemograph quarantine`: what reads as instructions and waits for an operator, or a decision about it.
 *
 * @throws MemoryError `INVALID_INPUT` when both decisions are asked for, `--consent` without an approval or
 *   `--if-revision` without a decision, and what
 *   `memory.quarantine` throws.
 */
export async function quarantineCommand(flags: QuarantineFlags): Promise<void> {
  const { approve: approved, reject: rejected, actor = "cli", consent, ifRevision, json } = flags;
  if (approved !== undefined && rejected !== undefined) {
    throw new MemoryError("INVALID_INPUT", "Use either --approve or --reject.");
  }
  if (consent && approved === undefined) {
    throw new MemoryError("INVALID_INPUT", "--consent goes with --approve.");
  }
  if (ifRevision !== undefined && (approved ?? rejected) === undefined) {
    throw new MemoryError("INVALID_INPUT", "--if-revision goes with --approve or --reject.");
  }
  const scope = scopeOf(flags);
  await useMemory(flags, async ({ quarantine }) => {
    if (approved !== undefined) {
      const memory = await approve(quarantine, approved, {
        ...{ scope, actor, ifRevision },
        ...(consent && { consent: "given" }),
      });
      console.log(json ? JSON.stringify(memory) : oneLine(`approved: ${memory.text}`));
    } else if (rejected !== undefined) {
      await quarantine.reject(rejected, { scope, actor, ifRevision });
      console.log(
        json ? JSON.stringify({ id: rejected, state: "rejected" }) : oneLine(`rejected: ${rejected}`),
      );
    } else {
      print(await quarantine.list({ scope, limit: 1_000 }), json);
    }
  });
}

/** The error for want of consent in this command's own words. */
async function approve(quarantine: QuarantineApi, id: string, approval: QuarantineApproval) {
  try {
    return await quarantine.approve(id, approval);
  } catch (cause) {
    if (!MemoryError.is(cause, "CONSENT_REQUIRED")) throw cause;
    throw new MemoryError(
      "CONSENT_REQUIRED",
      `${id} fills a field that changes only with the user's consent: add --consent when the user agreed.`,
      { cause },
    );
  }
}

function print(held: readonly MemoryItem[], json: boolean | undefined): void {
  if (json) console.log(JSON.stringify(held));
  else console.log(held.length > 0 ? aligned(held.map(row)).join("\n") : "Nothing is in quarantine.");
}

/** With all parts that an approval would show to agents. */
function row({ id, category, key, value, tags, origin, createdAt, seenCount, text }: MemoryItem) {
  const field = key === null ? category : `${category}/${key}`;
  const more = [value !== null && `value: ${value}`, tags.length > 0 && `tags: ${tags.join(", ")}`];
  const said = [text, ...more].filter(Boolean).join(" | ");
  return [id, createdAt.toISOString(), field, `from ${origin}`, `${seenCount}×`, said];
}
