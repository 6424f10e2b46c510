import { createHash, randomUUID } from "node:crypto";
import {
  type BaseMessage,
  type BaseMessageLike,
  coerceMessageLikeToMessage,
  isBaseMessage,
} from "@langchain/core/messages";
import sql from "sql-template-tag";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { nameText, parseInput, storableDate } from "../input/parse-input.js";
import { filesIn, sourceOf, withReferences } from "../messages/attachments.js";
import { isInserted, isOthersSummary, opensTurn } from "../messages/inserted-message.js";
import { messageOf, type PlainMessage, plainMessage } from "../messages/message-codec.js";
import {
  type MessageRole,
  messageText,
  roleOf,
  spokenText,
  withFields,
} from "../messages/message-text.js";
import { saidMessage } from "../messages/recalled-mark.js";
import { createPauses } from "../pauses.js";
import type { Runtime } from "../runtime.js";
import {
  isDelegatedThread,
  requiredScope,
  requiredThread,
  type ThreadAddress,
  threadForbidden,
} from "../scope/scope.js";
import { scopeColumns, threadIs } from "../scope/scope-predicates.js";
import type { Redactor } from "../screening/redactor.js";
import { isSubstantive } from "../text/is-substantive.js";
import { searchedLength, searchTextOf } from "../text/search-text.js";
import { isStorable } from "../text/storable-text.js";
import { timeZoneField } from "../text/time-zone.js";
import { redactedCheck, wordsCheck, wordsOf } from "./message-words.js";
import {
  type ExtractAfter,
  type NewMessage,
  type NoteAfter,
  othersSummaryId,
  type RecordedThread,
  recordMessages,
} from "./record-messages.js";
import { shownContextSchema } from "./shown-turns.js";

/** Tool output and instructions would drown what was said. */
const searchedRoles: ReadonlySet<MessageRole> = new Set(["user", "assistant"]);

/** An index entry holds at most 2,704 bytes; providers' ids have dozens. */
const maxIdBytes = 1_000;

/**
 * A message of an export, already redacted. Its files are lines of text, so that the words of one
 * with parts are unknown. Yields to the event loop.
 * @throws MemoryError `INVALID_INPUT` for an id
 */
export async function toNewMessage(message: BaseMessage, threadId: string): Promise<NewMessage> {
  const words = typeof message.content === "string" ? wordsOf(message) : null;
  const check = words === null ? null : redactedCheck(words);
  return newMessageOf(plainMessage(message), threadId, check);
}

/** The role is "other" for text that others wrote as the user. */
async function newMessageOf(
  plain: PlainMessage,
  threadId: string,
  check: number | null,
  pause = createPauses(),
): Promise<NewMessage> {
  const serialised = JSON.stringify(plain);
  // Each of the two halves can take long: a megabyte of a tool's arguments is written in both.
  await pause();
  const kept = messageOf(plain);
  const isNobodys = isInserted(kept) || (isDelegatedThread(threadId) && opensTurn(kept));
  const role = isNobodys ? "other" : roleOf(kept);
  const searched = searchedRoles.has(role) ? messageText(kept) : "";
  const made = {
    messageId: messageId(kept),
    role,
    actor: kept.name === undefined ? null : withoutNul(kept.name),
    text: withoutNul(spokenText(kept)),
    serialised,
    unsearched: searched.length - searchedLength(searched),
    check,
  };
  await pause();
  return { ...made, terms: await searchTextOf(searched, pause) };
}

function messageId({ id }: BaseMessage): string {
  if (id === undefined || id === "") return randomUUID();
  if (isStorable(id) && Buffer.byteLength(id) <= maxIdBytes) return id;
  throw new MemoryError(
    "INVALID_INPUT",
    `A message id must be text of at most ${maxIdBytes} bytes without NUL characters or halves of surrogate ` +
      `pairs: ${JSON.stringify(id.slice(0, 40))} is not.`,
  );
}

/**
 * Replaces an id that cannot be stored by its digest. Clients choose the ids in a graph's state:
 * refusing one would fail this turn and all later ones.
 */
export function withStorableId(message: BaseMessage): BaseMessage {
  const { id = "" } = message;
  if (isStorable(id) && Buffer.byteLength(id) <= maxIdBytes) return message;
  const digest = createHash("sha256").update(JSON.stringify(id)).digest("hex");
  return withFields(message, { id: `sha256:${digest}` });
}

/** PostgreSQL refuses NUL characters; the serialised message keeps them. */
const withoutNul = (text: string) => text.replaceAll("\u0000", "");

export const messageListSchema = z.custom<readonly BaseMessageLike[]>(
  Array.isArray,
  "must be a list of messages",
);

const turnSchema = z.strictObject({
  scope: requiredScope,
  threadId: requiredThread,
  /**
   * In any form that LangGraph takes. Each id is recorded once. Without ids, the same object is the
   * same message: give ids to messages that may be sent again.
   */
  messages: messageListSchema,
  agentId: nameText.optional(),
  runId: nameText.optional(),
  /** @default now */
  saidAt: storableDate.optional(),
  /** Where it was said, as "Europe/Lisbon". @default retrieval.timeZone */
  timeZone: timeZoneField.optional(),
  /** What the turn was shown: counts as seen once the turn is recorded. */
  shown: shownContextSchema.optional(),
  /**
   * How a graph's state differs from the transcript: `edited` before the run, by the user;
   * `rewritten` by the run itself, which is no edit. Only memory's nodes give it.
   * @default each recorded message that is given with other words was edited
   */
  stateChanges: z
    .strictObject({
      edited: z.array(z.string()),
      rewritten: z.array(z.custom<BaseMessage>(isBaseMessage)),
    })
    .optional(),
});

export interface RecordInput extends z.input<typeof turnSchema> {}

export interface RecordConfig {
  readonly summaries: {
    readonly windowMessages: number | null;
    readonly afterSeq: number;
    readonly everyMessages: number;
  };
  readonly retrieval: { readonly timeZone: string };
}

export interface RecordedTurn extends RecordedThread {
  readonly messages: readonly BaseMessage[];
  /** New versions of recorded messages whose words differ: the caller records them. */
  readonly edits: readonly NewMessage[];
}

type Captions = ReadonlyMap<string, string>;

/**
 * Redacts `messages`, with references for files. Yields to the event loop between steps: one of
 * 200,000 values takes a tenth of a second in each.
 */
export async function newMessages(
  redactor: Redactor,
  messages: readonly BaseMessage[],
  threadId = "",
  captions: Captions = new Map(),
) {
  const pause = createPauses();
  const given: { plain: PlainMessage; hasFiles: boolean }[] = [];
  for (const message of messages) {
    const referring = withReferences(message, (file) => captions.get(sourceOf(file)));
    await pause();
    given.push({ plain: plainMessage(referring), hasFiles: referring !== message });
    await pause();
  }
  const redacted = await Promise.all(given.map(({ plain }) => redactor.message(plain)));
  const made: NewMessage[] = [];
  for (const [place, message] of messages.entries()) {
    const { plain, hasFiles } = given[place] as (typeof given)[number];
    const words = wordsOf(message);
    await pause();
    const check = words === null ? null : await wordsCheck(redactor, words);
    const kept = await newMessageOf(redacted[place] as PlainMessage, threadId, check, pause);
    await pause();
    const altered = hasFiles || (redactor.redacts && kept.serialised !== JSON.stringify(plain));
    made.push({ ...kept, altered });
    await pause();
  }
  return made;
}

/** One round trip if there are files to describe: recorded messages are not described again. */
async function captionsFor(
  { db, describer }: Pick<Runtime, "db" | "describer">,
  { scope, threadId }: ThreadAddress,
  messages: readonly BaseMessage[],
): Promise<Captions> {
  const files = new Map(
    (describer ? messages : []).map((message) => [message.id ?? "", filesIn(message)]),
  );
  const ids = [...files.keys()].filter((id) => isStorable(id) && files.get(id)?.length);
  if (!describer || ids.length === 0) return new Map();
  const recorded = await db.query<{ id: string }>(sql`
    select m.message_id as id from ${db.schema}.thread t join ${db.schema}.message m on m.thread_ref = t.id
    where ${threadIs(scopeColumns(scope).tenantId, threadId)} and m.message_id = any(${ids}::text[])`);
  for (const { id } of recorded) files.delete(id);
  return describer([...files.values()].flat(), threadId);
}

/**
 * Idempotent; the last message of an id counts. @param due work that this makes due.
 * @default none
 */
export async function record(
  deps: Pick<Runtime<RecordConfig>, "db" | "config" | "redactor" | "describer">,
  input: RecordInput,
  due: { readonly extract?: ExtractAfter | undefined; readonly note?: NoteAfter | undefined } = {},
): Promise<RecordedTurn> {
  const { db, config, redactor } = deps;
  const { messages: given, stateChanges, ...turn } = parseInput(turnSchema, input, "turn");
  const { scope, threadId } = turn;
  // LangChain's summary has the id of the first message that it replaces.
  const messages = givenMessages(given).map((message) =>
    isOthersSummary(message) ? withFields(message, { id: othersSummaryId }) : message,
  );
  const isDelegated = isDelegatedThread(threadId);
  const unique = [...new Map(messages.map((message) => [message.id, message])).values()];
  const captions = await captionsFor(deps, turn, unique);
  const tells = (message: BaseMessage) =>
    // One word may answer a question.
    isSubstantive(messageText(message), true) ||
    filesIn(message).some((file) => captions.has(sourceOf(file)));
  const mayHaveFacts = messages.some((message) => opensTurn(message) && tells(message));
  const made = await newMessages(redactor, unique, threadId, captions);
  const thread = await recordMessages(db, {
    ...turn,
    timeZone: turn.timeZone ?? config.retrieval.timeZone,
    messages: made,
    edited: stateChanges?.edited,
    rewritten: await rewrittenChecks(redactor, stateChanges?.rewritten ?? []),
    windowMessages: config.summaries.windowMessages,
    triggerMessages: config.summaries.afterSeq + 1,
    everyMessages: config.summaries.everyMessages,
    extract: !isDelegated && mayHaveFacts ? due.extract : undefined,
    note: isDelegated || scope.appId === undefined ? undefined : due.note,
  });
  if (!thread) throw threadForbidden(threadId);
  const edits = made.filter(({ messageId }) => thread.edited.includes(messageId));
  return { ...thread, messages, edits };
}

async function rewrittenChecks(redactor: Redactor, rewritten: readonly BaseMessage[]) {
  const checks = rewritten.map(async (message) => {
    const words = wordsOf(message);
    return words === null || message.id === undefined || !isStorable(message.id)
      ? []
      : [{ id: message.id, check: await wordsCheck(redactor, words) }];
  });
  return (await Promise.all(checks)).flat();
}

/** Ids for frozen messages and callers' plain objects. */
const idsOfOthers = new WeakMap<object, string>();

/**
 * `given` without recalled messages and removals. The same object keeps its id.
 * @throws MemoryError `INVALID_INPUT`
 */
export function givenMessages(given: readonly BaseMessageLike[]): BaseMessage[] {
  return given.flatMap((each: BaseMessageLike, index) => {
    const message = toMessage(each, index);
    return message.getType() === "remove" ? [] : (saidMessage(message) ?? []);
  });
}

function toMessage(given: BaseMessageLike, index: number): BaseMessage {
  if (isBaseMessage(given)) return withId(given, given);
  try {
    if (
      typeof given === "object" &&
      !Array.isArray(given) &&
      !("content" in given || "kwargs" in given)
    )
      throw new TypeError("it has no content");
    const message = coerceMessageLikeToMessage(given);
    return typeof given === "object" ? withId(message, given) : withId(message, message);
  } catch (cause) {
    throw new MemoryError(
      "INVALID_INPUT",
      `messages[${index}] is no message: give a message of LangChain's or { role, content }, with one of the roles ` +
        '"user", "assistant", "system", "developer" and "tool" (and a tool_call_id for a tool\'s).',
      { cause },
    );
  }
}

function withId(message: BaseMessage, given: object): BaseMessage {
  if (message.id !== undefined && message.id !== null && message.id !== "") return message;
  const id = idsOfOthers.get(given) ?? randomUUID();
  if (message === given && !Object.isFrozen(message)) {
    message.id = id;
    if (message.lc_kwargs && !Object.isFrozen(message.lc_kwargs)) message.lc_kwargs.id = id;
    return message;
  }
  idsOfOthers.set(given, id);
  return withFields(message, { id });
}
