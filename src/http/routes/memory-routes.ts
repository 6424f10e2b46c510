import { z } from "zod";
import { MemoryError } from "../../errors.js";
import {
  isApproved,
  type MemoryDraft,
  type MemoryItem,
  memoryOrigins,
  memorySorts,
} from "../../memories/item/memory.js";
import type { MemoryListing } from "../../memories/item/memory-row.js";
import type { Memory } from "../../memory.js";
import { isSharedBy, type Scope } from "../../scope/scope.js";
import {
  anyObject,
  cursorAfter,
  described,
  memoryKind,
  memoryState,
  moment,
  numberBetween,
  page,
  several,
} from "../answers/fields.js";
import {
  changesAnswer,
  historyEntry,
  memoryItem,
  memoryPage,
  writeOutcome,
} from "../answers/memory-answers.js";
import { type Caller, notThere } from "../route/caller.js";
import { route } from "../route/route.js";

const params = z.strictObject({ id: z.string() });

const draft = z
  .strictObject({
    ...{ text: z.string(), kind: memoryKind.optional(), category: z.string().optional() },
    ...{ key: z.string().optional(), value: z.string().optional() },
    ...{
      importance: z.number().optional(),
      confidence: z.number().optional(),
      pinned: z.boolean().optional(),
    },
    ...{
      tags: z.array(z.string()).optional(),
      metadata: anyObject.optional(),
      expiresAt: z.string().optional(),
    },
    ...{ agentId: z.string().optional(), runId: z.string().optional(), actorId: z.string().optional() },
    ...{ role: z.string().optional(), origin: z.enum(memoryOrigins).optional() },
    source: z
      .strictObject({ threadId: z.string(), seqs: z.array(z.number()), quote: z.string().optional() })
      .optional(),
    ...{ validFrom: moment.optional(), correction: z.boolean().optional() },
  })
  .register(described, { id: "MemoryDraft" });

const patch = z.strictObject({
  ...{ text: z.string().optional(), value: z.string().optional(), category: z.string().optional() },
  ...{ importance: z.number().optional(), confidence: z.number().optional(), pinned: z.boolean().optional() },
  ...{ tags: z.array(z.string()).optional(), metadata: anyObject.optional() },
  expiresAt: z.string().nullable().optional(),
  ...{
    consent: z.literal("given").optional(),
    quote: z.string().optional(),
    threadId: z.string().optional(),
  },
  reason: z.string().optional(),
});

const because = z.strictObject({ reason: z.string().optional() });
const vouched = because.extend({ consent: z.literal("given").optional() });

/** Durable memories one by one. */
export const memoryRoutes = {
  listMemories: route({
    ...{ method: "get", path: "/memories", reach: "listed" },
    summary:
      "Memories, newest first unless `sort` says otherwise; `states=quarantined` for operators also of everybody",
    query: z.strictObject({
      ...{ kinds: several(memoryKind).optional(), categories: several(z.string()).optional() },
      ...{ keys: several(z.string()).optional(), contains: z.string().optional() },
      ...{ states: several(memoryState).optional(), sort: z.enum(memorySorts).optional(), ...page },
    }),
    answer: memoryPage,
    async call({ memory, whose, query: { cursor: after, ...listing } }) {
      const memories = await memory.memories.list({ ...whose, ...listing, after } as MemoryListing);
      return { memories, nextCursor: cursorAfter(memories, listing.limit, ({ id }) => id) };
    },
  }),
  addMemories: route({
    ...{ method: "post", path: "/memories", reach: "scope" },
    summary: "Write memories, by the rules of slots and merging",
    body: z.strictObject({
      memories: z.array(draft).min(1).max(5_000),
      consent: z.literal("given").optional(),
      threadId: z.string().optional(),
    }),
    answer: z.strictObject({ outcomes: z.array(writeOutcome) }),
    async call({ memory, caller, whose, actor, body: { memories, ...how } }) {
      const drafts = memories.map((given) => draftFrom(caller, given));
      const outcomes = await memory.memories.add(drafts, { ...whose, ...how, actor });
      return { outcomes: outcomes.map((each) => ({ ...each, problems: [...each.problems] })) };
    },
  }),
  getMemory: route({
    ...{ method: "get", path: "/memories/:id", reach: "scope", versioned: true, params },
    summary: "One memory, in whatever state",
    answer: memoryItem,
    call: ({ memory, whose, params: { id } }) => requireMemory(memory, whose, id),
  }),
  updateMemory: route({
    ...{ method: "patch", path: "/memories/:id", reach: "scope", versioned: true, params },
    summary: "Change a memory in place",
    body: patch,
    answer: memoryItem,
    async call({ memory, caller, whose, params: { id }, body, actor, match }) {
      const { consent, quote, threadId, reason, ...fields } = body;
      const words = fields.text !== undefined || fields.value !== undefined || fields.tags !== undefined;
      const guarded = await changeable(memory, caller, whose, id, { words, match });
      return memory.memories.update(id, fields as Parameters<Memory["memories"]["update"]>[1], {
        ...{ ...whose, ...guarded, actor, consent, quote, threadId, reason },
      });
    },
  }),
  removeMemory: route({
    ...{ method: "delete", path: "/memories/:id", reach: "scope", versioned: true, params },
    summary:
      "Hide a memory; for 30 days it can be restored. What is in quarantine an operator deletes for good",
    query: because,
    answer: memoryItem,
    async call({ memory, caller, whose, params: { id }, query, actor, match }) {
      const guarded = await changeable(memory, caller, whose, id, { words: false, match });
      return memory.memories.remove(id, { ...whose, ...guarded, ...query, actor });
    },
  }),
  restoreMemory: route({
    ...{ method: "post", path: "/memories/:id/restore", reach: "scope", versioned: true, params },
    summary: "Bring a removed memory back",
    body: vouched,
    answer: memoryItem,
    async call({ memory, caller, whose, params: { id }, body, actor, match }) {
      const guarded = await changeable(memory, caller, whose, id, { words: false, match });
      return memory.memories.restore(id, { ...whose, ...guarded, ...body, actor });
    },
  }),
  revertMemory: route({
    ...{ method: "post", path: "/memories/:id/revert", reach: "scope", versioned: true, params },
    summary: "Give a memory the content it had after an entry of its history",
    body: vouched.extend({ to: z.number() }),
    answer: memoryItem,
    async call({ memory, caller, whose, params: { id }, body, actor, match }) {
      const guarded = await changeable(memory, caller, whose, id, { words: true, match });
      return memory.memories.revert(id, { ...whose, ...guarded, ...body, actor });
    },
  }),
  approveMemory: route({
    ...{ method: "post", path: "/memories/:id/approve", reach: "scope", versioned: true, params },
    summary: "Make a memory in quarantine an ordinary one, on an operator's word",
    operators: true,
    body: vouched,
    answer: memoryItem,
    call: ({ memory, whose, params: { id }, body, actor, match }) =>
      memory.memories.approve(id, { ...whose, ...body, ...match, actor }),
  }),
  memoryHistory: route({
    ...{ method: "get", path: "/memory/:id/history", reach: "scope", params },
    summary: "Who changed what in a memory, newest first",
    answer: z.strictObject({ events: z.array(historyEntry) }),
    async call({ memory, whose, params: { id } }) {
      const events = await memory.memories.history(id, whose);
      if (events.length === 0) throw noMemory(id);
      return { events };
    },
  }),
  changesSince: route({
    ...{ method: "get", path: "/changes", reach: "scope" },
    summary: "Changes after a revision, oldest first",
    query: z.strictObject({
      since: numberBetween(0, Number.MAX_SAFE_INTEGER).optional(),
      limit: page.limit,
    }),
    answer: changesAnswer,
    call: ({ memory, whose, query: { since = 0, limit } }) =>
      memory.changes.since(since, { ...whose, limit }),
  }),
};

async function requireMemory(
  memory: Memory,
  whose: { readonly scope: Scope },
  id: string,
): Promise<MemoryItem> {
  const found = await memory.memories.get(id, whose);
  if (found === null) throw noMemory(id);
  return found;
}

function noMemory(id: string): MemoryError {
  return new MemoryError("NOT_FOUND", `There is no memory ${id} for you here.`);
}

/**
 * A draft as `caller` may bring it: what users send is their own word unless they say that it is a lesser one's.
 *
 * @throws MemoryError `INVALID_INPUT` for a user who speaks as an operator, or as nobody knows who.
 */
function draftFrom(caller: Caller, given: z.output<typeof draft>): MemoryDraft {
  if (caller.role === "operator") return given;
  if (given.origin === "operator" || given.origin === "unknown") {
    throw new MemoryError(
      "INVALID_INPUT",
      `\`origin\` is "${given.origin}", which only an operator may say: leave it out where these are the user's words.`,
    );
  }
  return given.origin === undefined && given.role === undefined ? { ...given, origin: "user" } : given;
}

/**
 * The revision that a change goes by. Users change what is theirs: what their app shows all of its users stays, and so do
 * the words that an operator vouches for.
 *
 * @throws MemoryError `NOT_FOUND`, `WRONG_STATE`
 */
async function changeable(
  memory: Memory,
  caller: Caller,
  whose: { readonly scope: Scope },
  id: string,
  { words, match }: { readonly words: boolean; readonly match: { readonly ifRevision?: number } },
): Promise<{ readonly ifRevision?: number }> {
  if (caller.role === "operator") return match;
  const found = await requireMemory(memory, whose, id);
  // What is in quarantine is for operators to decide about.
  if (isSharedBy(whose.scope, found.scope) || found.state === "quarantined") throw notThere();
  if (!words || !isApproved(found)) return match;
  throw new MemoryError(
    "WRONG_STATE",
    `An operator vouches for the words of memory ${id}: remove it, and add another.`,
    { details: { current: found } },
  );
}
