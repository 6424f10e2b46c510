import { MemoryError } from "../errors.js";
import { type EventStep, eventNode } from "../events/event-log.js";
import { bestSimilarity } from "../memories/item/memory.js";
import type { Connection } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import type { MemoryHit } from "../search/rank-memories.rule.js";
import type { Recalled } from "./recalled.js";
import type { Remembered } from "./remember.js";

/** Counts round trips; a transaction's begin and commit are two. */
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

/** Declared here: the declarations of an optional package may be absent. */
type SpanAttributes = Record<string, string | number | boolean | string[] | undefined>;

export interface OpenSpan {
  /** False spares costly attributes. */
  readonly recording: boolean;
  set(attributes: SpanAttributes): void;
}

type Api = typeof import("@opentelemetry/api");

/** Undefined before the first span; null without the optional package. */
let api: Api | null | undefined;
let loading: Promise<Api | null> | undefined;

const deaf: OpenSpan = { recording: false, set: () => {} };

/**
 * Runs `work` within a span of OpenTelemetry's provider; without `@opentelemetry/api`, or a provider, just `work`.
 *
 * A failure is `mnemograph.status` "error" and its code, never its message: providers quote prompts in theirs.
 */
export async function withSpan<Result>(
  name: string,
  work: (span: OpenSpan) => Promise<Result>,
): Promise<Result> {
  if (api === undefined) {
    loading ??= import("@opentelemetry/api").catch(() => null);
    api = await loading;
  }
  if (api === null) return work(deaf);
  const { SpanStatusCode, trace } = api;
  return trace.getTracer("mnemograph").startActiveSpan(name, async (span) => {
    try {
      return await work({
        recording: span.isRecording(),
        set: (attributes) => void span.setAttributes(attributes),
      });
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

/** Counts, names and numbers of a result, never texts. */
export interface SpanReport {
  readonly status?: "ok" | "error" | "skipped";
  readonly attributes?: Readonly<Record<string, string | number | boolean | null | undefined>>;
}

/** A span's name after "mnemograph.", and the step of its events. */
export interface Observed {
  readonly name: string;
  readonly step: EventStep;
  readonly op: string;
}

export const spans = {
  recall: { name: "recall", step: "recall", op: "search" },
  remember: { name: "remember", step: "remember", op: "create" },
  query: { name: "query", step: "tool", op: "search" },
} as const satisfies Record<string, Observed>;

/** Runs `work` within a span, on a database that counts round trips while someone listens. */
export type Observe = <Result>(
  observed: Observed,
  work: (db: Database) => Promise<Result>,
  report?: (result: Result) => SpanReport,
) => Promise<Result>;

/**
 * Spans `mnemograph.<name>` with the attributes `mnemograph.op`, `.node`, `.step`, `.status`, `.round_trips` and those
 * of the report.
 */
export function createObserve(db: Database): Observe {
  return (observed, work, report) =>
    withSpan(`mnemograph.${observed.name}`, async (span) => {
      if (!span.recording) return work(db);
      const { step, op } = observed;
      span.set(prefixed({ op, step, node: eventNode(step) }));
      const counting = countRoundTrips(db);
      try {
        const result = await work(counting.db);
        const { status = "ok", attributes = {} } = report?.(result) ?? {};
        span.set(prefixed({ ...attributes, status }));
        return result;
      } finally {
        // Background graphs have their own connection.
        const roundTrips = counting.roundTrips();
        if (roundTrips > 0) span.set(prefixed({ round_trips: roundTrips }));
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
  const { memories, changes, gap, recent, leftOut, summary } = recalled;
  const hits = [...memories.relevant, ...memories.episodes];
  return {
    attributes: {
      hits: hits.length,
      profile: memories.profile.length,
      notes: memories.notes.length,
      rest: memories.rest.length,
      left_out: memories.leftOut,
      changes: changes.count,
      gap_messages: gap.length,
      recent_messages: recent.length,
      left_out_messages: leftOut?.messages ?? 0,
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

export function reportWork({ status }: { readonly status?: string }): SpanReport {
  if (status === "failed" || status === "dead_letter")
    return { status: "error", attributes: { outcome: status } };
  return { status: status === "completed" ? "ok" : "skipped", attributes: { outcome: status } };
}
