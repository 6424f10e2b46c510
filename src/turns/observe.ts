import { z } from "zod";
import { MemoryError } from "../errors.js";
import { type EventStep, eventNode } from "../events/event-log.js";
import type { WorkEnd } from "../jobs/define-work.js";
import { bestSimilarity } from "../memories/item/memory.js";
import { spanTokens, type TokenUsage } from "../models/token-usage.js";
import type { Connection } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import type { MemoryQuery } from "../search/query-memories.js";
import type { MemoryHit } from "../search/rank-memories.rule.js";
import type { Recalled } from "./recalled.js";
import type { Remembered } from "./remember.js";

/** A transaction's begin and commit count as two. */
function countRoundTrips(db: Database): { readonly db: Database; readonly roundTrips: () => number } {
  let roundTrips = 0;
  const counted = (connection: Connection): Pick<Connection, "query"> => ({
    query: (statement, options) => {
      roundTrips++;
      return connection.query(statement, options);
    },
  });
  return {
    roundTrips: () => roundTrips,
    db: {
      ...db,
      ...counted(db),
      transaction(work) {
        roundTrips += 2;
        return db.transaction((tx) => work({ ...tx, ...counted(tx) }));
      },
    },
  };
}

/** The types of an optional package may be absent. */
type SetAttributes = (attributes: Record<string, string | number | boolean | undefined>) => void;

type Api = typeof import("@opentelemetry/api");

/** Undefined before the first span; null without the optional package. */
let api: Api | null | undefined;
let loading: Promise<Api | null> | undefined;

/** Runs `work` in an OpenTelemetry span, if there is a provider. Reports error codes: messages quote prompts. */
export async function withSpan<Result>(name: string, work: (set: SetAttributes | null) => Promise<Result>) {
  if (api === undefined) {
    loading ??= import("@opentelemetry/api").catch(() => null);
    api = await loading;
  }
  if (api === null) return work(null);
  const { SpanStatusCode, trace } = api;
  return trace.getTracer("mnemograph").startActiveSpan(name, async (span) => {
    try {
      return await work(span.isRecording() ? (attributes) => void span.setAttributes(attributes) : null);
    } catch (error) {
      const code = MemoryError.is(error) ? error.code : "UNEXPECTED";
      span.setAttributes({ "mnemograph.status": "error", "mnemograph.error": code });
      span.setStatus({ code: SpanStatusCode.ERROR, message: code });
      throw error;
    } finally {
      span.end();
    }
  });
}

export const spansOptionsSchema = z.strictObject({
  /** Whether spans carry ids of thread, tenant, app and agent, which forgetting cannot reach. @default false */
  ids: z.boolean().default(false),
});

export interface SpansConfig extends z.input<typeof spansOptionsSchema> {}

type SpanPlace = Partial<Pick<MemoryQuery, "scope" | "threadId" | "agent">>;

/** Never texts. */
export interface SpanReport {
  readonly place?: SpanPlace | null | undefined;
  readonly status?: "ok" | "error" | "skipped";
  readonly attributes?: Readonly<Record<string, string | number | boolean | null | undefined>>;
}

/** Span name after "mnemograph.", and the step of its events. */
export type Observed = { readonly name: string; readonly step: EventStep; readonly op: string };

export const spans = {
  recall: { name: "recall", step: "recall", op: "search" },
  remember: { name: "remember", step: "remember", op: "create" },
  query: { name: "query", step: "tool", op: "search" },
} as const satisfies Record<string, Observed>;

/** Runs `work` in a span, on a database that counts round trips if a provider listens. */
export type Observe = <Result>(
  observed: Observed,
  work: (db: Database) => Promise<Result>,
  report?: (result: Result) => SpanReport,
  place?: SpanPlace,
) => Promise<Result>;

/**
 * Spans `mnemograph.<name>` with the attributes `mnemograph.op`, `.node`, `.step`, `.status`, `.round_trips`,
 * `.input_tokens`, `.output_tokens` and the report's; with `ids` also `.thread_id`, `.tenant_id`, `.app_id`, `.agent`.
 */
export function createObserve(db: Database, { ids }: z.output<typeof spansOptionsSchema>): Observe {
  // Input is not checked yet.
  const placed = (place: SpanPlace | null | undefined) => {
    const { scope, threadId: thread_id, agent } = (ids && place) || {};
    return { thread_id, tenant_id: scope?.tenantId, app_id: scope?.appId, agent };
  };
  return (observed, work, report, place) =>
    withSpan(`mnemograph.${observed.name}`, async (set) => {
      if (!set) return work(db);
      const { step, op } = observed;
      set(prefixed({ op, step, node: eventNode(step), ...placed(place) }));
      const counting = countRoundTrips(db);
      const tokens = { input_tokens: 0, output_tokens: 0 };
      const count = ({ inputTokens, outputTokens }: TokenUsage) => {
        tokens.input_tokens += inputTokens;
        tokens.output_tokens += outputTokens;
      };
      try {
        const result = await spanTokens.run(count, () => work(counting.db));
        const { status = "ok", attributes = {}, place: found } = report?.(result) ?? {};
        set(prefixed({ ...attributes, ...placed(found), status }));
        return result;
      } finally {
        // Background graphs have their own connection.
        const roundTrips = counting.roundTrips();
        if (roundTrips > 0) set(prefixed({ round_trips: roundTrips }));
        if (tokens.input_tokens > 0) set(prefixed(tokens));
      }
    });
}

function prefixed(values: NonNullable<SpanReport["attributes"]>) {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      value === null || value === undefined ? [] : [[`mnemograph.${name}`, value] as const],
    ),
  );
}

export function reportRecalled(recalled: Recalled): SpanReport {
  const { memories, changes, gap, recent, omitted, summary } = recalled;
  const hits = [...memories.relevant, ...memories.episodes];
  return {
    attributes: {
      hits: hits.length,
      profile: memories.profile.length,
      notes: memories.notes.length,
      rest: memories.rest.length,
      left_out: memories.omitted,
      changes: changes.count,
      gap_messages: gap.length,
      recent_messages: recent.length,
      left_out_messages: omitted?.messages ?? 0,
      summarized: summary !== null,
      similarity: bestSimilarity(hits),
      timed_out: memories.timedOut,
    },
  };
}

export function reportHits({ hits }: { readonly hits: readonly MemoryHit[] }): SpanReport {
  return { attributes: { hits: hits.length, similarity: bestSimilarity(hits) } };
}

export function reportRemembered({ remembered }: { readonly remembered: Remembered }): SpanReport {
  const { recorded, summary } = remembered;
  return { attributes: { recorded, summary: summary.started ? "started" : summary.reason } };
}

export function reportWork({ status: outcome, work: place }: WorkEnd): SpanReport {
  const failed = outcome === "failed" || outcome === "dead_letter";
  const status = failed ? "error" : outcome === "completed" ? "ok" : "skipped";
  return { status, place, attributes: { outcome } };
}
