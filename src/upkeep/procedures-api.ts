import type { BaseMessage } from "@langchain/core/messages";
import { z } from "zod";
import type { MemoryItem } from "../domain/memory.js";
import { parseInput } from "../domain/parse-input.js";
import { procedureText } from "../domain/procedure-text.js";
import { parseScope, type Scope } from "../domain/scope.js";
import { isStorable } from "../domain/storable-text.js";
import { textPieces } from "../domain/text-pieces.js";
import { parseThreadId, threadForbidden } from "../domain/thread-id.js";
import { MemoryError } from "../errors.js";
import { type ProcedureSteps, writeProcedure } from "../llm/write-procedure.js";
import { toNewMessage } from "../remember/to-new-message.js";
import { writeMemories } from "../remember/write-memories.js";
import { findMemory } from "../store/find-memories.js";
import { findThread } from "../store/find-thread.js";
import { findThreadMessages } from "../store/find-thread-messages.js";
import type { TurnMessage } from "../store/find-turn-messages.js";
import { insertEvent } from "../store/insert-event.js";
import { classified } from "./classified.js";
import { limitMaterial } from "./limit-material.js";
import type { UpkeepDeps } from "./upkeep-deps.js";

/** Which conversation becomes numbered steps. */
export interface ProcedureInput {
  readonly scope: Scope;
  readonly threadId: string;
  /** What the steps are for. A procedure written again under the same title takes the old one's place. @default the model's */
  readonly title?: string | undefined;
  /** The agent that will need it. */
  readonly agentId?: string | undefined;
  readonly runId?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** 1 to 5. @default 3 */
  readonly importance?: number | undefined;
  /** @default false */
  readonly pinned?: boolean | undefined;
  /** What the steps are made of, instead of what was recorded of the thread. */
  readonly messages?: readonly BaseMessage[] | undefined;
  /** First message looked at. @default 0 */
  readonly fromSeq?: number | undefined;
  /** Last message looked at. @default the thread's last */
  readonly toSeq?: number | undefined;
  /** For the audit trail. @default "api" */
  readonly actor?: string | undefined;
}

/** Numbered steps learned from conversations; found only by their category, "procedural". */
export interface ProceduresApi {
  /**
   * Writes down the steps by which a conversation reached its result; null when there is nothing to repeat. Steps
   * that read as instructions to a model against its user come back in quarantine.
   *
   * @throws MemoryError `MODEL_REQUIRED`, `NOT_FOUND`, `THREAD_FORBIDDEN`, `INVALID_INPUT`, and what the model
   *   fails with: `MODEL_OUTPUT_INVALID`, `MODEL_TIMEOUT`, `MODEL_FAILED`.
   */
  write(input: ProcedureInput): Promise<MemoryItem | null>;
}

type StepMaterial = Pick<TurnMessage, "role" | "actor" | "text"> & { readonly seq?: number };

const inputSchema = z.object({
  title: z.string().refine(isStorable).trim().min(1).max(200).optional(),
  fromSeq: z.int().min(0).default(0),
  toSeq: z.int().min(0).max(2_147_483_647).default(2_147_483_647),
});

/** The `ProceduresApi` on `deps`. */
export function createProceduresApi(deps: UpkeepDeps): ProceduresApi {
  return { write: (input) => write(deps, input) };
}

async function write(deps: UpkeepDeps, input: ProcedureInput): Promise<MemoryItem | null> {
  const { fromSeq, toSeq, ...named } = parseInput(inputSchema, input, "procedure");
  const title = await deps.redactor.json(named.title ?? null);
  const scope = parseScope(input.scope);
  const threadId = parseThreadId(input.threadId);
  const messages = input.messages
    ? await unrecorded(deps, input.messages)
    : await recorded(deps, { scope, threadId, fromSeq, toSeq });
  const event = { scope, threadId, step: "procedure", op: "classify" } as const;
  const { messages: material } = await limitMaterial(deps.db, event, messages, deps.config.upkeep);
  const text = procedureText(await makeSteps(deps, material, title));
  if (text === null) {
    await insertEvent(deps.db, { ...event, status: "skipped", detail: "nothing_to_repeat" });
    return null;
  }
  const { agentId, runId, tags, importance, pinned } = input;
  const [written] = await writeMemories(deps, {
    scope,
    drafts: [
      {
        ...{ text, kind: "procedure", origin: "worker", agentId, runId, tags, importance, pinned },
        ...(title !== null && { key: agentId === undefined ? title : `${agentId} ${title}` }),
        source: { threadId, seqs: material.flatMap(({ seq }) => seq ?? []) },
      },
    ],
    origin: { actor: input.actor ?? "api", step: "procedure" },
    alongside: (tx, [outcome]) =>
      insertEvent(tx, { ...event, ...classified(outcome, false), category: "procedural" }),
  });
  return written?.id ? findMemory(deps.db, scope, written.id) : null;
}

/** Messages that have no place in the transcript yet. */
async function unrecorded(
  { config, redactor }: UpkeepDeps,
  messages: readonly BaseMessage[],
): Promise<StepMaterial[]> {
  const { language } = config.retrieval;
  const material = await Promise.all(
    messages.map(async (message) => toNewMessage(await redactor.message(message), language)),
  );
  return material.filter(({ text }) => text.trim() !== "");
}

async function recorded(
  { db }: UpkeepDeps,
  { scope, threadId, ...seqs }: { scope: Scope; threadId: string; fromSeq: number; toSeq: number },
): Promise<TurnMessage[]> {
  const thread = await findThread(db, { scope, threadId });
  if (thread === null) throw threadForbidden(threadId);
  const messages = thread ? await findThreadMessages(db, { ...thread, ...seqs }) : [];
  if (messages.length > 0) return messages;
  throw new MemoryError("NOT_FOUND", `Thread "${threadId}" has no messages there.`);
}

/** More than the model's budget is folded in piece by piece, each into the steps of those before. */
async function makeSteps(
  deps: UpkeepDeps,
  messages: readonly StepMaterial[],
  title: string | null,
): Promise<ProcedureSteps> {
  const { inputBudgetTokens, timeoutMs } = deps.config.upkeep;
  let previous: ProcedureSteps | null = null;
  for (const piece of textPieces(messages, inputBudgetTokens)) {
    previous = await writeProcedure(deps.model(), { title, previous, messages: piece }, timeoutMs);
  }
  return previous ?? { title: title ?? "", steps: [] };
}
