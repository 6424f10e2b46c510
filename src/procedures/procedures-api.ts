import type { BaseMessageLike } from "@langchain/core/messages";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { parseInput, smallCount, storableText } from "../input/parse-input.js";
import type { MemoryItem } from "../memories/item/memory.js";
import { findMemory } from "../memories/item/memory-row.js";
import { classified, hashOfMessage, writeMemories } from "../memories/write/write-memories.js";
import { insertEvent } from "../observability/events/event-log.js";
import type { Connection } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import {
  requiredScope,
  requiredThread,
  type ThreadAddress,
  threadForbidden,
} from "../scope/scope.js";
import { lockOwner } from "../scope/scope-predicates.js";
import { foldPieces } from "../text/text-pieces.js";
import { findThread } from "../transcript/claim-thread.js";
import { findThreadMessages, type TurnMessage } from "../transcript/find-messages.js";
import { givenMessages, messageListSchema, newMessages } from "../transcript/record.js";
import { findOmissions } from "../work/forgotten-words.js";
import { limitMaterial } from "../work/limit-material.js";
import {
  type ProcedureSteps,
  type ProceduresRuntime,
  procedureKey,
  procedureText,
  writeProcedure,
} from "./write-procedure.js";

/** `threadRef` is null before anything is recorded. */
type SeenThread = Awaited<ReturnType<typeof seeThread>>;

/** Creates a missing owner, so that `requireSeen` detects forgetting. */
async function seeThread(db: Database, address: ThreadAddress) {
  const thread = await findThread(db, address);
  if (thread === null) throw threadForbidden(address.threadId);
  const owner = await db.transaction((tx) => lockOwner(tx, address.scope));
  return { threadRef: thread?.threadRef ?? null, ownerRef: owner.ref };
}

/** Forgetting deletes the owner or the thread. Called in the transaction of the write. */
async function requireSeen(
  tx: Connection,
  address: ThreadAddress,
  seen: SeenThread,
): Promise<void> {
  const owner = await lockOwner(tx, address.scope);
  const thread = seen.threadRef === null ? null : await findThread(tx, address);
  if (owner.ref === seen.ownerRef && (thread?.threadRef ?? null) === seen.threadRef) return;
  const problem = `Thread "${address.threadId}" or its user was forgotten meanwhile: nothing was written.`;
  throw new MemoryError("FORGOTTEN", problem);
}

const inputSchema = z.strictObject({
  scope: requiredScope,
  threadId: requiredThread,
  /** What the steps are for. An equal title replaces the procedure. @default the model's */
  title: storableText.trim().min(1).max(200).optional(),
  /** The agent that will need it. */
  agentId: storableText.optional(),
  runId: storableText.optional(),
  tags: z.array(storableText).readonly().optional(),
  /** 1 to 5. @default 3 */
  importance: z.number().min(1).max(5).optional(),
  /** @default false */
  pinned: z.boolean().optional(),
  /** Replaces the thread's recorded messages. */
  messages: messageListSchema.optional(),
  /** First message. @default 0 */
  fromSeq: smallCount.default(0),
  /** Last message. @default the thread's last */
  toSeq: smallCount.default(2_147_483_647),
  /** For the audit trail. @default "api" */
  actor: storableText.default("api"),
  /** The user's message that a model answers, as for `memories.add`. @default none: no limits */
  messageId: storableText.max(1_000).optional(),
});

interface ProcedureInput extends z.input<typeof inputSchema> {}

/** Numbered steps learned from conversations, in the category "procedural". */
export interface ProceduresApi {
  /**
   * Writes the steps of a conversation; null when there is nothing to repeat. Steps that read as
   * instructions to a model are quarantined.
   * @example
   * ```ts
   * const steps = await memory.procedures.write({
   *   scope: { userId: "ana" },
   *   threadId: "t1",
   *   title: "Book a table",
   * });
   * ```
   * @throws MemoryError `MODEL_REQUIRED`, `NOT_FOUND`, `THREAD_FORBIDDEN`, `INVALID_INPUT`,
   * `FORGOTTEN`, `MODEL_OUTPUT_INVALID`, `MODEL_FAILED`; `CONFLICT` for more than a message may
   */
  write(input: ProcedureInput): Promise<MemoryItem | null>;
}

type StepMaterial = Pick<TurnMessage, "role" | "actor" | "text"> & { readonly seq?: number };

export function createProceduresApi(deps: ProceduresRuntime): ProceduresApi {
  return { write: (input) => writeProcedureOf(deps, input) };
}

async function writeProcedureOf(
  deps: ProceduresRuntime,
  input: ProcedureInput,
): Promise<MemoryItem | null> {
  const {
    scope,
    threadId,
    title: wanted = null,
    fromSeq,
    toSeq,
    messages: given,
    actor,
    messageId,
    ...fields
  } = parseInput(inputSchema, input, "procedure");
  const title = await deps.redactor.json(wanted);
  const address = { scope, threadId };
  const seen = await seeThread(deps.db, address);
  const messages = given
    ? await givenMaterial(deps, given)
    : await recordedMaterial(deps, seen, { threadId, fromSeq, toSeq });
  const event = { ...address, step: "procedure", op: "classify" } as const;
  const { messages: material } = await limitMaterial(deps, event, messages, deps.config.upkeep);
  let isTrimmed = false;
  const steps = await makeSteps(deps, address, material, title, () => {
    isTrimmed = true;
  });
  const text = procedureText(steps);
  if (text === null) {
    await deps.db.transaction(async (tx) => {
      await requireSeen(tx, address, seen);
      await insertEvent(tx, { ...event, status: "skipped", detail: "nothing_to_repeat" });
    });
    return null;
  }
  const key = title === null ? undefined : procedureKey(title, fields.agentId);
  const source = { threadId, seqs: material.flatMap(({ seq }) => seq ?? []) };
  const [written] = await writeMemories(deps, {
    scope,
    drafts: [{ ...fields, text, key, source, kind: "procedure", origin: "worker" }],
    origin: { actor, step: "procedure", messageHash: hashOfMessage({ threadId, messageId }) },
    async finish(tx, [outcome]) {
      await requireSeen(tx, address, seen);
      await insertEvent(tx, {
        ...event,
        ...classified(outcome, isTrimmed),
        category: "procedural",
      });
    },
  });
  return written?.id ? findMemory(deps.db, scope, written.id) : null;
}

async function givenMaterial(
  { redactor }: ProceduresRuntime,
  given: readonly BaseMessageLike[],
): Promise<StepMaterial[]> {
  const material = await newMessages(redactor, givenMessages(given));
  return material.filter(({ text }) => text.trim() !== "");
}

async function recordedMaterial(
  { db }: ProceduresRuntime,
  { threadRef }: SeenThread,
  { threadId, ...seqs }: { threadId: string; fromSeq: number; toSeq: number },
): Promise<TurnMessage[]> {
  const messages = threadRef === null ? [] : await findThreadMessages(db, { threadRef, ...seqs });
  if (messages.length > 0) return messages;
  throw new MemoryError("NOT_FOUND", `Thread "${threadId}" has no messages in this range.`);
}

/** Folds a conversation over the model's budget piece by piece into the steps. */
async function makeSteps(
  deps: ProceduresRuntime,
  address: ThreadAddress,
  messages: readonly StepMaterial[],
  title: string | null,
  onDropped: () => void,
): Promise<ProcedureSteps> {
  const { inputBudgetTokens, timeoutMs } = deps.config.upkeep;
  const charge = deps.usage.charging({ ...address, kind: "procedure" });
  const asking = { model: deps.model(), timeoutMs, charge };
  const sources = messages.map(({ seq = -1, text }) => ({ seq, text }));
  const omissions = await findOmissions(deps.db, address, sources);
  const steps = await foldPieces<StepMaterial, ProcedureSteps | null>(
    { items: messages, budgetTokens: inputBudgetTokens, start: null },
    (previous, piece) =>
      writeProcedure(asking, { title, previous, messages: piece, onDropped, omissions }),
  );
  return steps ?? { title: title ?? "", steps: [] };
}
