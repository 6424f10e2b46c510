import type { Connection } from "../database/connection.js";
import type { MemoryItem } from "../domain/memory.js";
import { searchText } from "../domain/search-text.js";
import type { MemoryTrust } from "../domain/trust.js";
import { MemoryError } from "../errors.js";
import type { Embedded } from "../llm/embedder.js";
import type { LockedOwner } from "../store/lock-owner.js";
import { rewriteMemory } from "../store/rewrite-memory.js";
import { prepareMemory } from "./prepare-memory.js";
import type { WriteDeps } from "./write-memories.js";

/**
 * Gives a memory of a locked owner the content of `memory` and makes it active.
 *
 * @param options.embedded the text's vector; null keeps the one there is.
 * @param options.vouched whether instructions to a model may stand in it: a person approved it, or it was active
 *   with these very words before.
 * @throws MemoryError `INVALID_INPUT` when the text breaks the writing constraints.
 */
export async function rewriteContent(
  { config }: WriteDeps,
  tx: Connection,
  owner: LockedOwner,
  memory: MemoryItem,
  options: {
    readonly embedded: Embedded | null;
    readonly vouched: boolean;
    readonly trust?: MemoryTrust | undefined;
  },
): Promise<void> {
  const { id, text, importance, confidence, pinned, tags, kind, key, value, category } = memory;
  const prepared = prepareMemory(
    {
      ...{ text, kind, importance, confidence, pinned, tags, category },
      origin: memory.origin,
      key: key ?? undefined,
      value: value ?? undefined,
      source: memory.source ?? undefined,
      turns: memory.turns ?? undefined,
    },
    memory.scope,
    config,
  );
  const problems = "problems" in prepared ? prepared.problems : [];
  if ("problems" in prepared || (prepared.quarantined && !options.vouched)) {
    throw new MemoryError(
      "INVALID_INPUT",
      problems.length > 0
        ? `That text cannot be a memory: ${problems.join(", ")}.`
        : "That text cannot be a memory: it reads as instructions to a model. Add it as a new memory, which puts it " +
            'in quarantine, or with `origin: "operator"`.',
    );
  }
  const { language } = config.retrieval;
  await rewriteMemory(tx, {
    ownerRef: owner.ref,
    language,
    space: options.embedded?.space ?? null,
    rewrite: {
      ...prepared,
      id,
      state: "active",
      value,
      trust: options.trust,
      actorTerms: searchText(memory.actorId ?? "", language),
      vector: options.embedded?.vectors[0] ?? null,
    },
  });
}
