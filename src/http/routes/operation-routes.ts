import { z } from "zod";
import { MemoryError } from "../../errors.js";
import { eventOps, eventParts, eventSteps } from "../../events/event-log.js";
import { type JobKind, jobKinds } from "../../jobs/job-kinds.rule.js";
import { jobStates, type ListedJob } from "../../jobs/listed-jobs.js";
import type { AppStatsOf } from "../../notes/app-stats.js";
import type { Scope } from "../../scope/scope.js";
import {
  anyObject,
  cursorAfter,
  moment,
  nextCursor,
  numberBetween,
  page,
  rowNumber,
  scope,
  several,
  time,
} from "../answers/fields.js";
import { notThere } from "../route/caller.js";
import { route } from "../route/route.js";

const jobKind = z.enum(jobKinds as [JobKind, ...JobKind[]]);

const selection = {
  ...{ threadId: z.string().optional(), agentId: z.string().optional(), runId: z.string().optional() },
  ...{ since: moment.optional(), until: moment.optional() },
  ...{
    op: z.enum(eventOps).optional(),
    node: z.enum(eventParts).optional(),
    step: z.enum(eventSteps).optional(),
  },
  status: z.enum(["ok", "error", "skipped"]).optional(),
};
const eventFields = ["op", "node", "step", "status", "category", "detail", "day"] as const;
const energyFields = ["kind", "tenant", "user", "app", "hour", "day"] as const;
const optionalText = z.string().nullable();
const counts = z.record(z.string(), z.number());

const stats = z.strictObject({
  firstPassRate: z.number().nullable(),
  ...{ written: z.number(), rejected: z.number(), deadLetters: z.number() },
  recallToolShare: z.number().nullable(),
  energy: z.strictObject({ level: z.number(), unitsToday: z.number(), callsToday: z.number() }),
});

const appCounts = {
  ...{ notes: z.number(), notesCreated: z.number(), notesCreatedPerHour: z.number() },
  ...{ compactions: z.number(), compactionsPerDay: z.number() },
  ...{ conversations: z.number(), conversationsWithNotes: z.number() },
  conversationsWithNotesShare: z.number().nullable(),
  ...{ notesEnergyUnits: z.number(), energyUnits: z.number() },
};
const appsStats = z.strictObject({
  ...{ ...appCounts, since: time, appCount: z.number(), appsWithNotes: z.number() },
  appsWithNotesShare: z.number().nullable(),
  apps: z.array(z.strictObject({ ...appCounts, scope })),
});

/** What memory did and took, and the work that operators ask for. */
export const operationRoutes = {
  stats: route({
    ...{ method: "get", path: "/stats", reach: "listed" },
    summary:
      "How memory has worked over the last 30 days; with `by=app`, how apps remember their conversations",
    query: z.strictObject({ by: z.literal("app").optional(), since: moment.optional() }),
    answer: z.union([stats, appsStats]),
    async call({ memory, whose, query: { by, since } }) {
      if (by !== undefined) return memory.stats({ by, ...whose, since } as AppStatsOf);
      if (since === undefined && !("tenantId" in whose))
        return memory.stats(whose as { readonly scope?: Scope });
      throw new MemoryError(
        "INVALID_INPUT",
        "Statistics are of the last 30 days, of one scope or of all: add by=app to tell them by apps, since, or by tenant.",
      );
    },
  }),
  statsHistory: route({
    ...{ method: "get", path: "/stats/history", reach: "listed" },
    summary: "How memory went day by day, and the sizes of the tables where it is of everybody",
    query: z.strictObject({ days: numberBetween(1, 366).optional() }),
    answer: z.strictObject({
      days: z.array(
        z.strictObject({
          ...{ day: z.string(), memoriesByKind: counts, writesByOutcome: counts },
          ...{ recalls: z.number(), recallsWithMemory: z.number() },
          recallLatencyMs: z.strictObject({ p50: z.number(), p95: z.number() }).nullable(),
          ...{ tokens: counts, energyUnits: z.number() },
        }),
      ),
      tables: z.array(z.strictObject({ table: z.string(), rows: z.number().nullable(), bytes: z.number() })),
    }),
    call: ({ memory, whose, query: { days } }) =>
      memory.stats({ by: "day", ...whose, ...(days !== undefined && { days }) }),
  }),
  listEvents: route({
    ...{ method: "get", path: "/events", reach: "counted" },
    summary: "What happened, without content, latest first",
    query: z.strictObject({ ...selection, limit: page.limit, cursor: rowNumber.optional() }),
    answer: z.strictObject({
      events: z.array(
        z.strictObject({
          ...{ id: z.number(), scope: scope.nullable(), threadId: optionalText, agentId: optionalText },
          ...{ runId: optionalText, node: z.string(), step: z.string(), op: z.string() },
          status: z.enum(["ok", "error", "skipped"]),
          ...{ detail: optionalText, memoryId: optionalText, category: optionalText },
          ...{ similarity: z.number().nullable(), leftOut: z.number().nullable(), at: time },
        }),
      ),
      nextCursor,
    }),
    async call({ memory, whose, query: { cursor: before, ...selected } }) {
      const events = await memory.events.list({ ...whose, ...selected, before });
      return { events, nextCursor: cursorAfter(events, selected.limit, ({ id }) => id) };
    },
  }),
  countEvents: route({
    ...{ method: "get", path: "/events/count", reach: "counted" },
    summary: "How many events there are by one or more fields",
    query: z.strictObject({ ...selection, by: several(z.enum(eventFields)) }),
    answer: z.strictObject({ counts: z.array(anyObject) }),
    async call({ memory, whose, query }) {
      const counts = await memory.events.count({ ...whose, ...query });
      return { counts: counts.map((each) => ({ ...each })) };
    },
  }),
  energyLevel: route({
    ...{ method: "get", path: "/energy", reach: "tenant" },
    summary: "How much energy a tenant has now",
    answer: z.strictObject({ level: z.number(), units: z.number(), capacity: z.number(), low: z.boolean() }),
    call: ({ memory, whose }) => memory.energy.level(whose),
  }),
  energyConsumed: route({
    ...{ method: "get", path: "/energy/consumed", reach: "listed" },
    summary: "What models took in the background, by one or more fields",
    query: z.strictObject({ by: several(z.enum(energyFields)), since: moment.optional() }),
    answer: z.strictObject({ consumed: z.array(anyObject) }),
    async call({ memory, whose, query }) {
      const consumed = await memory.energy.consumed({ ...whose, ...query });
      return { consumed: consumed.map((each) => ({ ...each })) };
    },
  }),
  runLifecycle: route({
    ...{ method: "post", path: "/lifecycle/run", reach: "counted" },
    summary: "Hide and delete what is old enough, now",
    answer: z.strictObject({ softDeleted: z.number(), purged: z.number() }),
    async call({ memory, caller, whose }) {
      if (caller.role !== "operator") throw notThere();
      return memory.lifecycle.run(whose);
    },
  }),
  consolidate: route({
    ...{ method: "post", path: "/consolidate", reach: "scope" },
    summary: "Merge what says the same, and close what no longer holds, now",
    body: z.strictObject({ dryRun: z.boolean().optional() }),
    answer: z.strictObject({
      status: z.string(),
      pairs: z.array(
        z.strictObject({
          memories: z.array(z.strictObject({ id: z.string(), text: z.string() })),
          ...{ similarity: z.number(), verdict: z.string(), reason: z.string() },
          action: z.enum(["merge", "close", "link", "none"]),
          ...{ kept: optionalText, gone: optionalText, refused: optionalText },
        }),
      ),
      ...{ calls: z.number(), tokens: z.number() },
    }),
    async call({ memory, caller, whose, body }) {
      if (caller.role !== "operator") throw notThere();
      return memory.consolidate({ ...whose, ...body });
    },
  }),
  listJobs: route({
    ...{ method: "get", path: "/jobs", reach: "tenant" },
    summary: "Background work that waits, runs or failed",
    query: z.strictObject({
      ...{ state: z.enum(jobStates).optional(), kind: jobKind.optional() },
      ...{ limit: page.limit, after: z.string().optional() },
    }),
    answer: z.strictObject({
      jobs: z.array(
        z.strictObject({
          ...{ id: z.string(), kind: jobKind, state: z.enum(jobStates), key: z.string() },
          ...{ scope, threadId: optionalText, attempts: z.number().nullable(), error: optionalText },
          ...{ createdAt: time.nullable(), dueAt: time.nullable() },
        }),
      ),
      next: nextCursor,
    }),
    async call({ memory, whose, query }) {
      const jobs = await memory.jobs.list({ ...whose, ...query });
      const key = ({ threadId, scope: { userId, appId } }: ListedJob) => threadId ?? userId ?? appId ?? "";
      return {
        jobs: jobs.map((job) => ({ ...job, key: key(job) })),
        next: cursorAfter(jobs, query.limit, ({ id }) => id),
      };
    },
  }),
  retryJob: route({
    ...{
      method: "post",
      path: "/jobs/:id/retry",
      reach: "tenant",
      params: z.strictObject({ id: z.string() }),
    },
    summary: "Make a job that failed or was given up due now",
    answer: z.strictObject({ retried: z.number() }),
    call: ({ memory, whose, params }) => memory.jobs.retry(params.id, whose),
  }),
  upkeep: route({
    ...{ method: "post", path: "/upkeep", reach: "everything" },
    summary: "Do the work that is due now",
    answer: z.strictObject({ due: z.number() }),
    call: async ({ memory }) => ({ due: await memory.upkeep() }),
  }),
  reembed: route({
    ...{ method: "post", path: "/reembed", reach: "everything" },
    summary: "Give every memory that lacks one a vector of the configured embeddings",
    answer: z.strictObject({
      ...{ space: z.string(), dimensions: z.number(), embedded: z.number(), remaining: z.number() },
    }),
    call: ({ memory }) => memory.reembed(),
  }),
  pruneCheckpoints: route({
    ...{ method: "post", path: "/checkpoints/prune", reach: "counted" },
    summary: "Delete LangGraph's checkpoints that are superseded",
    body: z.strictObject({
      keepLast: z.number(),
      olderThanMs: z.number().optional(),
      threadId: z.string().optional(),
    }),
    answer: anyObject,
    async call({ memory, caller, whose, body: { olderThanMs: olderThan, ...which }, signal }) {
      if (caller.role !== "operator") throw notThere();
      return { ...(await memory.checkpoints.prune({ ...whose, ...which, olderThan, signal })) };
    },
  }),
};
