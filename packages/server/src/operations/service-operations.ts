import type { ListedJob } from "mnemograph";
import {
  eventFields,
  eventOps,
  eventParts,
  eventSteps,
  jobStates,
  runStatuses,
  type StatsOf,
  workKinds,
} from "mnemograph/contract";
import { z } from "zod";
import {
  anyObject,
  counts,
  each,
  flag,
  listOf,
  moment,
  nullableNumber,
  nullableText,
  nullableTime,
  number,
  numberedPage,
  optionalText,
  page,
  pageFrom,
  pageOf,
  reasonField,
  scope,
  text,
  time,
  withDescription,
} from "./fields.js";
import { operation } from "./operation.js";

const jobKind = z.enum(workKinds);
const days = z.int().min(1).max(90).optional();
const selection = {
  ...each(optionalText, "threadId", "agentId", "runId"),
  op: z.enum(eventOps).optional(),
  ...each(moment.optional(), "since", "until"),
  node: z.enum(eventParts).optional(),
  step: z.enum(eventSteps).optional(),
  status: z.enum(["ok", "error", "skipped"]).optional(),
};

const memoryCounts = z.strictObject({
  memories: counts,
  writes: counts,
  ...each(
    number,
    "written",
    "rejected",
    "deadLetters",
    "recalls",
    "recallsWithMemory",
    "conversations",
  ),
  ...each(number, "notesCreated", "notesCreatedPerHour", "compactions", "compactionsPerDay"),
  ...each(number, "energyUnits", "notesEnergyUnits"),
  ...each(nullableNumber, "firstPassRate", "recallToolShare", "conversationsWithNotesShare"),
  recallLatencyMs: z.strictObject(each(number, "p50", "p95")).nullable(),
});
const breaker = z.strictObject({
  state: z.enum(["up", "paused"]),
  ...each(nullableNumber, "silentMs", "retryInMs"),
});
const breakerHelp =
  "Whether the database answers this process; while it is paused, calls fail at once.";
const stats = memoryCounts.extend({
  since: time,
  energy: z.strictObject({
    ...each(number, "level", "unitsToday", "callsToday"),
    kinds: z.array(
      z.strictObject({
        kind: text,
        ...each(number, "calls", "inputTokens", "outputTokens", "units"),
      }),
    ),
  }),
  rows: z.array(memoryCounts.extend({ day: optionalText, scope: scope.optional() })).optional(),
  appsWithNotesShare: number.nullable().optional(),
  backlog: withDescription(number, "Background jobs that are due and that no worker has."),
  oldestDueAt: withDescription(nullableTime, "When the oldest of them became due."),
  stuck: withDescription(number, "Those of them whose worker stopped: its lease ran out."),
  givenUp: withDescription(
    number,
    "Background jobs that were given up, and that nobody has retried.",
  ),
  breaker: withDescription(breaker, breakerHelp),
});

const event = z.strictObject({
  id: number,
  scope: scope.nullable(),
  status: selection.status.unwrap(),
  at: time,
  ...each(text, "node", "step", "op"),
  ...each(nullableText, "threadId", "agentId", "runId", "detail", "memoryId", "category"),
  similarity: nullableNumber,
});

const job = z.strictObject({
  id: text,
  kind: jobKind,
  state: z.enum(jobStates),
  key: text,
  scope,
  ...each(nullableText, "threadId", "error"),
  detail: withDescription(
    nullableText,
    "What the model answered or its provider said at the last try, redacted. It may quote a prompt.",
  ),
  attempts: nullableNumber,
  ...each(nullableTime, "givenUpAt", "dueAt", "triedAt"),
  worker: withDescription(nullableText, "The process that took it, as host:pid."),
  since: withDescription(nullableTime, "When it was taken."),
  leaseUntil: withDescription(
    nullableTime,
    "Another worker takes it over then, unless this one extends it.",
  ),
});

const consolidated = z.strictObject({ id: text, text: nullableText });
const consolidationMove = consolidated.extend({
  verdict: text,
  kept: consolidated.nullable(),
});
const consolidation = z.strictObject({
  id: text,
  scope,
  status: z.enum(runStatuses),
  ...each(z.array(consolidationMove), "merged", "closed"),
  ...each(z.array(consolidated), "added", "left"),
  createdAt: time,
  decidedAt: nullableTime,
  decidedBy: nullableText,
});

const setting = z.strictObject({
  ...each(text, "group", "name"),
  ...each(z.unknown(), "value", "default"),
  changed: flag,
});

export const serviceOperations = {
  stats: operation("get", "/stats", "listed", {
    does: "How memory has worked over the last 30 days, or `days`: together, by day, or by app",
    input: {
      by: z.enum(["day", "app"]).optional(),
      days,
    },
    answer: stats,
    call: async ({ memory, target }, input) => ({
      ...(await memory.stats({ ...target, ...input } as StatsOf<undefined>)),
      breaker: memory.databaseStatus(),
    }),
  }),
  listEvents: operation("get", "/events", "counted", {
    does: "What happened, without content, latest first",
    input: { ...selection, ...numberedPage },
    answer: pageOf("events", event),
    call: ({ memory, target }, input) =>
      pageFrom("events", input, memory.events.list({ ...target, ...input }), ({ id }) => id),
  }),
  countEvents: operation("get", "/events/count", "counted", {
    does: "How many events there are by one or more fields",
    input: { ...selection, by: z.array(z.enum(eventFields)) },
    answer: listOf("counts", anyObject),
    call: async ({ memory, target }, input) => ({
      counts: (await memory.events.count({ ...target, ...input })).map((count) => ({ ...count })),
    }),
  }),
  energyLevel: operation("get", "/energy", "tenant", {
    does: "How much energy a tenant has now",
    input: {},
    answer: z.strictObject({
      level: number,
      low: flag,
      ...each(nullableNumber, "units", "capacity"),
    }),
    call: ({ memory, target }) => memory.energy.level(target),
  }),
  listCosts: operation("get", "/costs", "listed", {
    does: "What background calls of models took in the last days, by kind of work, user or app",
    input: {
      by: z.enum(["kind", "user", "app"]),
      days,
      limit: page.limit,
    },
    answer: listOf(
      "costs",
      z.strictObject({
        kind: optionalText,
        scope: scope.optional(),
        ...each(number, "calls", "inputTokens", "outputTokens", "units"),
      }),
    ),
    call: async ({ memory, target }, input) => ({
      costs: await memory.energy.costs({ ...target, ...input }),
    }),
  }),
  listJobs: operation("get", "/jobs", "listed", {
    does: "Background work that waits, runs or failed: a user's, an app's or everybody's",
    operators: true,
    input: {
      state: z.enum(jobStates).optional(),
      kind: jobKind.optional(),
      ...page,
    },
    answer: pageOf("jobs", job),
    async call({ memory, target }, input) {
      const listed = await memory.jobs.list({ ...target, ...input });
      const jobs = listed.map((job) => ({ ...job, key: jobKey(job) }));
      return pageFrom("jobs", input, jobs, ({ id }) => id);
    },
  }),
  retryJob: operation("post", "/jobs/:id/retry", "tenant", {
    does: "Make a job that failed or was given up due now, or when the model is called again",
    input: { id: text },
    answer: z.strictObject({ retried: number, pausedUntil: nullableTime }),
    call: ({ memory, target }, input) => memory.jobs.retry({ ...target, ...input }),
  }),
  dismissJob: operation("post", "/jobs/:id/dismiss", "tenant", {
    does: "Take a job that was given up off the list for good; an event keeps who did it and why",
    input: { id: text, ...reasonField },
    answer: job,
    async call({ memory, target, actor }, input) {
      const dismissed = await memory.jobs.dismiss({ ...target, ...input, actor });
      return { ...dismissed, key: jobKey(dismissed) };
    },
  }),
  listConsolidations: operation("get", "/consolidations", "listed", {
    does: "Runs of consolidation, latest first: those that wait for an operator, and for 30 days those that were decided",
    operators: true,
    input: { status: z.array(z.enum(runStatuses)).optional(), limit: page.limit },
    answer: listOf("consolidations", consolidation),
    call: async ({ memory, target }, input) => ({
      consolidations: await memory.consolidations.list({ ...target, ...input }),
    }),
  }),
  previewConsolidation: operation("post", "/consolidations", "scope", {
    does: "Ask the model what a run would merge and close, and keep that as a run that waits; null if nothing",
    operators: true,
    input: {},
    answer: z.strictObject({ consolidation: consolidation.nullable() }),
    call: async ({ memory, target }) => ({
      consolidation: await memory.consolidations.preview(target),
    }),
  }),
  decideConsolidation: operation("post", "/consolidations/:id/decision", "scope", {
    does: "Apply a run that waits, or dismiss it",
    operators: true,
    input: { id: text, decision: z.enum(["apply", "dismiss"]) },
    answer: consolidation,
    call: ({ memory, target, actor }, input) =>
      memory.consolidations.decide({ ...target, ...input, actor }),
  }),
  revertConsolidation: operation("post", "/consolidations/:id/revert", "scope", {
    does: "Undo an applied run, but for what changed since",
    operators: true,
    input: { id: text },
    answer: consolidation,
    call: ({ memory, target, actor }, input) =>
      memory.consolidations.revert({ ...target, ...input, actor }),
  }),
  settings: operation("get", "/settings", "everything", {
    does: "The settings in use, by group; of secrets, connections and functions only that they are given",
    input: {},
    answer: listOf("settings", setting),
    call: async ({ memory }) => ({ settings: memory.settings() }),
  }),
  upkeep: operation("post", "/upkeep", "everything", {
    does: "Do the work that is due now, or some kinds of it",
    input: { kinds: z.array(jobKind).optional() },
    answer: z.strictObject({ due: number }),
    call: async ({ memory }, input) => ({ due: await memory.upkeep(input) }),
  }),
};

function jobKey({ threadId, scope: { userId, appId } }: ListedJob): string {
  return threadId ?? userId ?? appId ?? "";
}
