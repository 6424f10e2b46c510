import { z } from "zod";
import { eventOps, eventParts, eventSteps } from "../../events/event-log.js";
import type { StatsOf } from "../../events/stats.js";
import { type JobKind, jobKinds } from "../../jobs/job-kinds.rule.js";
import { jobStates, type ListedJob } from "../../jobs/listed-jobs.js";
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
const optionalText = z.string().nullable();
const counts = z.record(z.string(), z.number());

const stats = z.strictObject({
  firstPassRate: z.number().nullable(),
  ...{ written: z.number(), rejected: z.number(), deadLetters: z.number() },
  recallToolShare: z.number().nullable(),
  energy: z.strictObject({
    ...{ level: z.number(), unitsToday: z.number(), callsToday: z.number() },
    kinds: z.array(
      z.strictObject({
        ...{ kind: z.string(), calls: z.number(), inputTokens: z.number() },
        ...{ outputTokens: z.number(), units: z.number() },
      }),
    ),
  }),
});

const daysStats = z.strictObject({
  days: z.array(
    z.strictObject({
      ...{ day: z.string(), memoriesByKind: counts, writesByOutcome: counts },
      ...{ recalls: z.number(), recallsWithMemory: z.number() },
      recallLatencyMs: z.strictObject({ p50: z.number(), p95: z.number() }).nullable(),
      ...{ tokens: counts, energyUnits: z.number() },
    }),
  ),
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
    summary: "How memory has worked over the last 30 days, or `days`: together, by day, or by app",
    query: z.strictObject({
      by: z.enum(["day", "app"]).optional(),
      days: numberBetween(1, 366).optional(),
    }),
    answer: z.union([stats, daysStats, appsStats]),
    call: ({ memory, whose, query }) => memory.stats({ ...whose, ...query } as StatsOf<undefined>),
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
    answer: z.strictObject({
      ...{
        level: z.number(),
        units: z.number().nullable(),
        capacity: z.number().nullable(),
        low: z.boolean(),
      },
    }),
    call: ({ memory, whose }) => memory.energy.level(whose),
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
    summary: "Do the work that is due now, or some kinds of it",
    query: z.strictObject({ kinds: several(z.enum(jobKinds as [JobKind, ...JobKind[]])).optional() }),
    answer: z.strictObject({ due: z.number() }),
    call: async ({ memory, query }) => ({ due: await memory.upkeep(query) }),
  }),
};
