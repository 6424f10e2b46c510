import { z } from "zod";
import { MemoryError } from "../errors.js";
import { consentStatuses } from "../memories/guard/consent-request.rule.js";
import {
  isApproved,
  type MemoryDraft,
  type MemoryItem,
  type MemoryPatch,
  memorySorts,
} from "../memories/item/memory.js";
import { changeFields, draftFields, memoryColumns, type SetName, setsWords } from "../memories/item/memory-fields.js";
import type { MemoryListing } from "../memories/item/memory-row.js";
import { isSharedBy } from "../scope/scope.js";
import { type Caller, notThere } from "./caller.js";
import {
  because,
  described,
  each,
  memoryKind,
  memoryState,
  momentText,
  numberedPage,
  overJson,
  page,
  pageFrom,
  pageOf,
  rowNumber,
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
import { type Asked, operation } from "./operation.js";

const id = { id: z.string() };

const sinceRevision = rowNumber
  .optional()
  .register(described, { description: "The `revision` of an earlier answer. 0: from the first change." });

const carried = (checks: Readonly<Record<string, z.ZodType>>) => {
  const field = ([name, check]: [string, z.ZodType]) =>
    [name, overJson(memoryColumns[name as SetName], check, momentText)] as const;
  return Object.fromEntries(Object.entries(checks).map(field));
};

const draft = z
  .strictObject({ ...carried(draftFields), source: source.optional(), correction: z.boolean().optional() })
  .register(described, { id: "MemoryDraft" }) as unknown as z.ZodType<MemoryDraft>;

const patch = z.strictObject({
  ...carried(changeFields),
  consent: z.literal("given").optional(),
  quote: z.string().optional(),
  threadId: z.string().optional(),
  reason: z.string().optional(),
});

/** Others wait for the seconds that thousands take. */
const mostUserDrafts = 500;

const consent = { consent: z.literal("given").optional() };

export const memoryOperations = {
  listMemories: operation("get", "/memories", "listed", {
    does: "Memories, newest first unless `sort` says otherwise; `states=quarantined` for operators also of everybody",
    input: z.strictObject({
      kinds: z.array(memoryKind).optional(),
      categories: z.array(z.string()).optional(),
      keys: z.array(z.string()).optional(),
      contains: z.string().optional(),
      states: z.array(memoryState).optional(),
      sort: z.enum(memorySorts).optional(),
      ...page,
    }),
    answer: pageOf("memories", memoryItem),
    call({ memory, whose }, { cursor: after, ...listing }) {
      const listed = memory.memories.list({ ...whose, ...listing, after } as MemoryListing);
      return pageFrom("memories", listing.limit, listed, (item) => item.id);
    },
  }),
  addMemories: operation("post", "/memories", "scope", {
    does: "Write memories, by the rules of slots and merging",
    input: z.strictObject({ memories: z.array(draft).min(1).max(5_000), ...consent, threadId: z.string().optional() }),
    answer: z.strictObject({ outcomes: z.array(writeOutcome) }),
    async call({ memory, caller, whose, actor }, { memories, ...how }) {
      if (caller.role === "user" && memories.length > mostUserDrafts) {
        const problem = `a request of a user has at most ${mostUserDrafts}, and this one has ${memories.length}`;
        throw new MemoryError("INVALID_INPUT", `Invalid memories: ${problem}. Send them in several.`);
      }
      const drafts = memories.map((given) => draftFrom(caller, given));
      const outcomes = await memory.memories.add(drafts, { ...whose, ...how, actor });
      return { outcomes: outcomes.map((outcome) => ({ ...outcome, problems: [...outcome.problems] })) };
    },
  }),
  getMemory: operation("get", "/memories/:id", "scope", {
    does: "One memory, in whatever state",
    versioned: true,
    input: z.strictObject(id),
    answer: memoryItem,
    call: (asked, input) => requireMemory(asked, input.id),
  }),
  updateMemory: operation("patch", "/memories/:id", "scope", {
    does: "Change a memory in place",
    versioned: true,
    input: patch.extend(id),
    answer: memoryItem,
    async call(asked, { id, consent, quote, threadId, reason, ...fields }) {
      const guarded = await changeable(asked, id, setsWords(fields));
      return asked.memory.memories.update(id, fields as MemoryPatch, { ...guarded, consent, quote, threadId, reason });
    },
  }),
  removeMemory: operation("delete", "/memories/:id", "scope", {
    does: "Hide a memory; for 30 days it can be restored. What is in quarantine an operator deletes for good",
    versioned: true,
    input: z.strictObject({ ...id, ...because }),
    answer: memoryItem,
    call: async (asked, { id, ...how }) =>
      asked.memory.memories.remove(id, { ...(await changeable(asked, id, false)), ...how }),
  }),
  restoreMemory: operation("post", "/memories/:id/restore", "scope", {
    does: "Bring a removed memory back",
    versioned: true,
    input: z.strictObject({ ...id, ...because, ...consent }),
    answer: memoryItem,
    call: async (asked, { id, ...how }) =>
      asked.memory.memories.restore(id, { ...(await changeable(asked, id, false)), ...how }),
  }),
  revertMemory: operation("post", "/memories/:id/revert", "scope", {
    does: "Give a memory the content it had after an entry of its history",
    versioned: true,
    input: z.strictObject({ ...id, ...because, ...consent, to: z.number() }),
    answer: memoryItem,
    call: async (asked, { id, ...how }) =>
      asked.memory.memories.revert(id, { ...(await changeable(asked, id, true)), ...how }),
  }),
  approveMemory: operation("post", "/memories/:id/approve", "scope", {
    does: "Make a memory in quarantine an ordinary one, on an operator's word",
    operators: true,
    versioned: true,
    input: z.strictObject({ ...id, ...because, ...consent }),
    answer: memoryItem,
    call: ({ memory, whose, actor, match }, { id, ...how }) =>
      memory.memories.approve(id, { ...whose, ...how, ...match, actor }),
  }),
  memoryHistory: operation("get", "/memory/:id/history", "scope", {
    does: "Who changed what in a memory, newest first",
    input: z.strictObject(id),
    answer: z.strictObject({ events: z.array(historyEntry) }),
    async call({ memory, whose }, { id }) {
      const events = await memory.memories.history(id, whose);
      if (events.length === 0) throw noMemory(id);
      return { events };
    },
  }),
  changesSince: operation("get", "/changes", "scope", {
    does: "Changes after a revision, oldest first: go on by `cursor` while there is a `nextCursor`, then by `since` the `revision`",
    input: z.strictObject({ since: sinceRevision, ...numberedPage }),
    answer: changesAnswer,
    async call({ memory, whose }, { since = 0, cursor = since, limit }) {
      const found = await memory.changes.since(cursor, { ...whose, limit });
      return { ...found, nextCursor: found.nextCursor?.toString() ?? null };
    },
  }),
};

export const consentOperations = {
  listConsents: operation("get", "/consents", "listed", {
    does: "Requests for the user's consent, newest first",
    input: z.strictObject({
      status: z.array(z.enum(consentStatuses)).optional(),
      due: z.boolean().optional(),
      rule: z.enum(["consent", "signals"]).optional(),
      ...page,
    }),
    answer: pageOf("consents", consentRequest),
    call({ memory, whose }, { cursor: after, ...listing }) {
      const listed = memory.consents.list({ ...whose, ...listing, after });
      return pageFrom("consents", listing.limit, listed, ({ id }) => id);
    },
  }),
  decideConsent: operation("post", "/consents/:id/decision", "scope", {
    does: "Approve a request, which writes the memory, refuse it, or be asked about it later",
    versioned: true,
    input: z.strictObject({
      id: z.string(),
      decision: z.enum(["approve", "refuse", "later"]),
      evidence: evidence.optional(),
      ...each(z.string().optional(), "value", "text", "reason"),
    }),
    answer: consentRequest,
    call: ({ memory, whose, actor, match }, input) =>
      memory.consents.decide({ ...whose, ...input, ...match, actor, via: "http" }),
  }),
};

async function requireMemory({ memory, whose }: Asked<"scope">, id: string): Promise<MemoryItem> {
  const found = await memory.memories.get(id, whose);
  if (found === null) throw noMemory(id);
  return found;
}

function noMemory(id: string): MemoryError {
  return new MemoryError("NOT_FOUND", `There is no memory ${id} for you here.`);
}

/** Users' drafts are their own words by default. @throws MemoryError `INVALID_INPUT` for a note, or an operator's origin */
function draftFrom(caller: Caller, given: MemoryDraft): MemoryDraft {
  if (caller.role === "operator") return given;
  if (given.kind === "note" && caller.scope.userId !== undefined) {
    throw new MemoryError(
      "INVALID_INPUT",
      '`kind` is "note", which all users of the app are shown: only an operator or the app adds one. Leave `kind` out.',
    );
  }
  if (given.origin === "operator" || given.origin === "unknown") {
    throw new MemoryError(
      "INVALID_INPUT",
      `\`origin\` is "${given.origin}", which only an operator may say: leave it out where these are the user's words.`,
    );
  }
  return given.origin === undefined && given.role === undefined ? { ...given, origin: "user" } : given;
}

/** Users change neither shared memories nor an operator's words. @throws MemoryError `NOT_FOUND`, `WRONG_STATE` */
async function changeable(asked: Asked<"scope">, id: string, words: boolean) {
  const { caller, whose, actor, match } = asked;
  const guarded = { ...whose, ...match, actor };
  if (caller.role === "operator") return guarded;
  const found = await requireMemory(asked, id);
  // Operators decide about quarantine.
  if (isSharedBy(whose.scope, found.scope) || found.state === "quarantined") throw notThere();
  if (!words || !isApproved(found)) return guarded;
  throw new MemoryError(
    "WRONG_STATE",
    `An operator vouches for the words of memory ${id}: remove it, and add another.`,
    { details: { current: found } },
  );
}
