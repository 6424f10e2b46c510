import type { AsOf, Memory, MemoryDraft, MemoryItem, MemoryListing, Scope } from "mnemograph";
import {
  changeFields,
  consentStatuses,
  draftFields,
  isApproved,
  MemoryError,
  type MemoryPatch,
  memoryColumns,
  memorySorts,
  type SetName,
  setsWords,
} from "mnemograph/contract";
import { z } from "zod";
import { type Caller, nothingHere } from "./caller.js";
import {
  asOf,
  described,
  each,
  flag,
  jsonField,
  listOf,
  maxGiven,
  memoryKind,
  memoryState,
  momentText,
  number,
  optionalText,
  page,
  pageFrom,
  pageOf,
  pastAnswer,
  reasonField,
  rowNumber,
  text,
  texts,
  withDescription,
} from "./fields.js";
import {
  changesAnswer,
  consentRequest,
  evidence,
  historyEntry,
  memoryItem,
  source,
  writeOutcome,
} from "./memory-answers.js";
import { type CallContext, operation } from "./operation.js";

const idField = { id: text };
const consent = { consent: z.literal("given").optional() };

const sinceHelp = "`nextCursor` or `revision` of an earlier answer. 0: from the first change.";

const jsonFields = (checks: Readonly<Record<string, z.ZodType>>) =>
  Object.fromEntries(
    Object.entries(checks).map(([name, check]) => [
      name,
      jsonField(memoryColumns[name as SetName], check, momentText),
    ]),
  );

const draft = z
  .strictObject({
    ...jsonFields(draftFields),
    source: source.extend({ seqs: z.array(number).max(maxGiven) }).optional(),
    correction: flag.optional(),
  })
  .register(described, { id: "MemoryDraft" }) as unknown as z.ZodType<MemoryDraft>;

const patch = {
  ...jsonFields(changeFields),
  ...consent,
  ...each(optionalText, "quote", "threadId", "reason"),
};

/** Thousands take seconds, in which the user's other writers wait. */
const maxUserDrafts = 500;

const selected = {
  kinds: z.array(memoryKind).optional(),
  ...each(texts.optional(), "categories", "keys"),
  ...each(optionalText, "contains", "linkedTo"),
  states: z.array(memoryState).optional(),
};

export const memoryOperations = {
  listMemories: operation("get", "/memories", "listed", {
    does: "Memories, newest first unless `sort` says otherwise; for operators also of everybody",
    input: {
      ...selected,
      sort: z.enum(memorySorts).optional(),
      asOf: asOf.optional(),
      ...page,
    },
    answer: pageOf("memories", memoryItem).extend(pastAnswer),
    async call({ memory, target }, input) {
      const listing = { ...target, ...input } as MemoryListing;
      const pageWith = (listed: readonly MemoryItem[]) =>
        pageFrom("memories", input, listed, ({ id }) => id);
      if (input.asOf === undefined) return pageWith(await memory.memories.list(listing));
      const asked = listing as MemoryListing & { readonly scope: Scope; readonly asOf: AsOf };
      const { memories, ...past } = await memory.memories.list(asked);
      return { ...(await pageWith(memories)), ...past };
    },
  }),
  countMemories: operation("get", "/memories/count", "listed", {
    does: "How many memories the list has on all its pages; 10,001 for more than 10,000",
    input: selected,
    answer: z.strictObject({ count: number }),
    call: async ({ memory, target }, input) => ({
      count: await memory.memories.count({ ...target, ...input } as MemoryListing),
    }),
  }),
  addMemories: operation("post", "/memories", "scope", {
    does: "Write memories, by the rules of slots and merging",
    input: {
      memories: z.array(draft).min(1).max(5_000),
      ...consent,
      ...reasonField,
      threadId: optionalText,
    },
    answer: listOf("outcomes", writeOutcome),
    async call({ memory, caller, target, actor }, { memories, ...how }) {
      if (caller.role === "user" && memories.length > maxUserDrafts) {
        const problem = `a request of a user has at most ${maxUserDrafts}, and this one has ${memories.length}`;
        throw new MemoryError(
          "INVALID_INPUT",
          `Invalid memories: ${problem}. Send them in several.`,
        );
      }
      const drafts = memories.map((given) => draftFrom(caller, given));
      const outcomes = await memory.memories.add({ ...target, ...how, actor, memories: drafts });
      return { outcomes };
    },
  }),
  getMemory: operation("get", "/memories/:id", "scope", {
    does: "One memory, in whatever state",
    versioned: true,
    input: idField,
    answer: memoryItem,
    call: (context, input) => visibleMemory(context, input.id),
  }),
  updateMemory: operation("patch", "/memories/:id", "scope", {
    does: "Change a memory in place",
    versioned: true,
    input: { ...patch, ...idField },
    answer: memoryItem,
    async call(context, input) {
      const access = await checkedAccess(context, input.id, setsWords(input));
      const origin = context.caller.role === "user" ? "user" : undefined;
      const change = { ...input, ...access, origin } as const;
      return context.memory.memories.update(change as typeof change & MemoryPatch);
    },
  }),
  confirmMemory: operation("post", "/memories/:id/confirm", "scope", {
    does: "End the doubt about a memory: it holds",
    versioned: true,
    input: { ...idField, ...reasonField },
    answer: memoryItem,
    call: changed("confirm"),
  }),
  removeMemory: operation("delete", "/memories/:id", "scope", {
    does: "Hide a memory; until its purge it can be restored. An operator deletes a memory in quarantine for good",
    versioned: true,
    input: { ...idField, ...reasonField },
    answer: memoryItem,
    call: changed("remove"),
  }),
  restoreMemory: operation("post", "/memories/:id/restore", "scope", {
    does: "Bring a removed memory back",
    versioned: true,
    input: { ...idField, ...reasonField, ...consent },
    answer: memoryItem,
    call: changed("restore"),
  }),
  revertMemory: operation("post", "/memories/:id/revert", "scope", {
    does: "Give a memory the content it had after an entry of its history",
    versioned: true,
    input: { ...idField, ...reasonField, ...consent, to: number },
    answer: memoryItem,
    call: async (context, input) =>
      context.memory.memories.revert({
        ...input,
        ...(await checkedAccess(context, input.id, true)),
      }),
  }),
  approveMemory: operation("post", "/memories/:id/approve", "scope", {
    does: "Release a memory from quarantine, on an operator's word",
    operators: true,
    versioned: true,
    input: { ...idField, ...reasonField, ...consent },
    answer: memoryItem,
    call: ({ memory, target, actor, match }, input) =>
      memory.memories.approve({ ...input, ...target, ...match, actor }),
  }),
  memoryHistory: operation("get", "/memory/:id/history", "scope", {
    does: "Who changed what in a memory, newest first",
    input: idField,
    answer: listOf("events", historyEntry),
    async call({ memory, target }, { id }) {
      const events = await memory.memories.history({ ...target, id });
      if (events.length === 0) throw memoryNotFound(id);
      return { events };
    },
  }),
  listChanges: operation("get", "/changes", "scope", {
    does: "Changes after a revision, oldest first: go on by `since` the `nextCursor`, or the `revision` where there is none",
    input: {
      since: withDescription(rowNumber.optional(), sinceHelp),
      limit: page.limit,
    },
    answer: changesAnswer,
    async call({ memory, target }, { since = 0, limit }) {
      const found = await memory.changes.list({ ...target, since, limit });
      return { ...found, nextCursor: found.nextCursor?.toString() ?? null };
    },
  }),
};

export const consentOperations = {
  listConsents: operation("get", "/consents", "listed", {
    does: "Requests for the user's consent, newest first",
    input: {
      status: z.array(z.enum(consentStatuses)).optional(),
      due: flag.optional(),
      rule: z.enum(["consent", "signals"]).optional(),
      ...page,
    },
    answer: pageOf("consents", consentRequest),
    call: ({ memory, target }, input) =>
      pageFrom("consents", input, memory.consents.list({ ...target, ...input }), ({ id }) => id),
  }),
  decideConsent: operation("post", "/consents/:id/decision", "scope", {
    does: "Approve a request, which writes the memory, refuse it, or be asked about it later",
    versioned: true,
    input: {
      ...idField,
      decision: z.enum(["approve", "refuse", "later"]),
      evidence: evidence.optional(),
      ...each(optionalText, "value", "text", "reason"),
    },
    answer: consentRequest,
    call: ({ memory, target, actor, match }, input) =>
      memory.consents.decide({ ...target, ...input, ...match, actor, via: "http" }),
  }),
};

async function visibleMemory(
  { memory, target }: CallContext<"scope">,
  id: string,
): Promise<MemoryItem> {
  const found = await memory.memories.get({ ...target, id });
  if (found === null) throw memoryNotFound(id);
  return found;
}

function memoryNotFound(id: string): MemoryError {
  return new MemoryError("NOT_FOUND", `There is no memory ${id} for you here.`);
}

/**
 * Drafts without origin and role are the user's words, except an operator's.
 * @throws MemoryError `INVALID_INPUT` for an operator's origin
 */
function draftFrom(caller: Caller, given: MemoryDraft): MemoryDraft {
  if (caller.role === "operator") return given;
  if (given.origin === "operator" || given.origin === "unknown") {
    const hint = "which only an operator may say: leave it out where these are the user's words.";
    throw new MemoryError("INVALID_INPUT", `\`origin\` is "${given.origin}", ${hint}`);
  }
  return given.origin === undefined && given.role === undefined
    ? { ...given, origin: "user" }
    : given;
}

function changed(verb: "confirm" | "remove" | "restore") {
  return async (
    context: CallContext<"scope">,
    input: Parameters<Memory["memories"][typeof verb]>[0],
  ) =>
    context.memory.memories[verb]({
      ...input,
      ...(await checkedAccess(context, input.id, false)),
    });
}

/**
 * Only operators may change memories in quarantine, and words that they vouch for.
 * @throws MemoryError `NOT_FOUND`, `WRONG_STATE`
 */
async function checkedAccess(context: CallContext<"scope">, id: string, changesWords: boolean) {
  const { caller, target, actor, match } = context;
  const access = { ...target, ...match, actor };
  if (caller.role === "operator") return access;
  const found = await visibleMemory(context, id);
  if (found.state === "quarantined") throw nothingHere();
  if (!changesWords || !isApproved(found)) return access;
  const message = `An operator vouches for the words of memory ${id}: remove it, and add another.`;
  throw new MemoryError("WRONG_STATE", message, { details: { current: found } });
}
