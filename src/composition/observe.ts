import { z } from "zod";
import { MemoryError } from "../errors.js";
import { bestSimilarity } from "../memories/item/memory.js";
import { spanTokens, type TokenUsage } from "../models/token-usage.js";
import { actions, type EventStep, eventNode } from "../observability/events/event-log.js";
import { measureCall, telemetryApi } from "../observability/telemetry/meter.js";
import type { Connection } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import type { Recalled } from "../prompt/recalled.js";
import type { Remembered } from "../remember/remember.js";
import type { MemoryQuery } from "../search/query-memories.js";
import type { MemoryHit } from "../search/rank-memories.rule.js";
import type { WorkEnd } from "../work/define-work.js";

/** A transaction's begin and commit count as two. */
function countRoundTrips(db: Database) {
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
    } satisfies Database,
  };
}

/** The types of an optional package may be absent. */
type SetAttributes = (attributes: Record<string, string | number | boolean | undefined>) => void;

/**
 * Runs `work` in an OpenTelemetry span, if there is a provider. Reports error codes: messages quote
 * prompts.
 */
export async function withSpan<Result>(
  name: string,
  work: (set: SetAttributes | null) => Promise<Result>,
) {
  const api = await telemetryApi();
  if (api === null) return work(null);
  const { SpanStatusCode, trace } = api;
  return trace.getTracer("mnemograph").startActiveSpan(name, async (span) => {
    try {
      return await work(
        span.isRecording() ? (attributes) => void span.setAttributes(attributes) : null,
      );
    } catch (error) {
      const code = codeOf(error);
      span.setAttributes({ "mnemograph.status": "error", "mnemograph.error": code });
      span.setStatus({ code: SpanStatusCode.ERROR, message: code });
      throw error;
    } finally {
      span.end();
    }
  });
}

const codeOf = (error: unknown): string => (MemoryError.is(error) ? error.code : "UNEXPECTED");

export const spansOptionsSchema = z.strictObject({
  /**
   * Whether spans carry ids of thread, tenant, app and agent, which forgetting cannot reach.
   * @default false
   */
  ids: z.boolean().default(false),
});

type SpanPlace = Partial<Pick<MemoryQuery, "scope" | "threadId" | "agent">>;

/** Never texts. */
export interface SpanReport {
  readonly place?: SpanPlace | null | undefined;
  readonly status?: "ok" | "error" | "skipped";
  /** The code of what went wrong. */
  readonly error?: string | null | undefined;
  readonly attributes?: Readonly<Record<string, string | number | boolean | null | undefined>>;
}

/** Span name after "mnemograph.", and the step of its events. */
type Observed = { readonly name: string; readonly step: EventStep; readonly op: string };

/**
 * Runs `work` in a span, on a database that counts round trips if a provider listens, and measures
 * it.
 */
export type Observe = <Result>(
  observed: Observed,
  work: (db: Database) => Promise<Result>,
  report?: (result: Result) => SpanReport,
  place?: SpanPlace,
) => Promise<Result>;

/**
 * Spans `mnemograph.<name>` with the attributes `mnemograph.op`, `.node`, `.step`, `.status`,
 * `.round_trips`, `.input_tokens`, `.output_tokens` and the report's; with `ids` also `.thread_id`,
 * `.tenant_id`, `.app_id`, `.agent`.
 */
export function createObserve(db: Database, { ids }: z.output<typeof spansOptionsSchema>): Observe {
  // Input is not checked yet.
  const placed = (place: SpanPlace | null | undefined) => {
    const { scope, threadId: thread_id, agent } = (ids && place) || {};
    return { thread_id, tenant_id: scope?.tenantId, app_id: scope?.appId, agent };
  };
  return async ({ name, step, op }, work, report, place) => {
    const startedAt = performance.now();
    let code: string | null | undefined;
    try {
      return await withSpan(`mnemograph.${name}`, async (set) => {
        const reported = (result: Awaited<ReturnType<typeof work>>) => {
          const { status = "ok", attributes, error, place: found } = report?.(result) ?? {};
          code = error;
          set?.(prefixed({ ...attributes, ...placed(found), status, error }));
          return result;
        };
        if (!set) return reported(await work(db));
        set(prefixed({ op, step, node: eventNode(step), ...placed(place) }));
        const counting = countRoundTrips(db);
        const tokens = { input_tokens: 0, output_tokens: 0 };
        const count = ({ inputTokens, outputTokens }: TokenUsage) => {
          tokens.input_tokens += inputTokens;
          tokens.output_tokens += outputTokens;
        };
        try {
          return reported(await spanTokens.run(count, () => work(counting.db)));
        } finally {
          // Background graphs have their own connection.
          const roundTrips = counting.roundTrips();
          if (roundTrips > 0) set(prefixed({ round_trips: roundTrips }));
          if (tokens.input_tokens > 0) set(prefixed(tokens));
        }
      });
    } catch (error) {
      code = codeOf(error);
      throw error;
    } finally {
      measureCall({
        operation: name,
        isBackground: !(name in actions),
        schemaName: db.schemaName,
        seconds: (performance.now() - startedAt) / 1_000,
        code: code ?? null,
      });
    }
  };
}

function prefixed(values: NonNullable<SpanReport["attributes"]>) {
  const prefixed: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(values))
    if (value != null) prefixed[`mnemograph.${name}`] = value;
  return prefixed;
}

export function reportRecalled(recalled: Recalled): SpanReport {
  const { memories, changes, gap, recent, omitted, summary } = recalled;
  const hits = [...memories.relevant, ...memories.episodes];
  return {
    error: memories.timedOut ? "DATABASE_TIMEOUT" : null,
    attributes: {
      hits: hits.length,
      profile: memories.profile.length,
      notes: memories.notes.length,
      rest: memories.rest.length,
      omitted: memories.omitted,
      changes: changes.count,
      gap_messages: gap.length,
      recent_messages: recent.length,
      omitted_messages: omitted?.messages ?? 0,
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

export function reportWork({ status: outcome, work: place, error }: WorkEnd): SpanReport {
  const failed = outcome === "failed" || outcome === "dead_letter";
  const status = failed ? "error" : outcome === "completed" ? "ok" : "skipped";
  return {
    status,
    place,
    error: failed ? (error?.code ?? "UNEXPECTED") : null,
    attributes: { outcome },
  };
}
