import type { Database } from "../database/database.js";
import { bestSimilarity } from "../domain/best-similarity.js";
import { type EventStep, eventNode } from "../domain/event-step.js";
import { messageText } from "../domain/message-text.js";
import type { MemoryHit } from "../domain/rank-memories.js";
import type { Recalled } from "../recall/recall.js";
import { givenMessages } from "../remember/given-messages.js";
import type { RecordInput } from "../remember/record.js";
import type { Redactor } from "../remember/redactor.js";
import type { Remembered } from "../remember/remember.js";
import { countRoundTrips } from "./count-round-trips.js";
import { withSpan } from "./tracer.js";

/** What a span says about a result. Counts, names and numbers; texts only in `content`. */
export interface SpanReport {
  readonly status?: "ok" | "error" | "skipped";
  /** Names without their prefix. */
  readonly attributes?: Readonly<Record<string, string | number | boolean | null | undefined>>;
  /** What was asked and found: kept only where it is asked for. */
  readonly content?: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** What is done within a span: its name after "mnemograph.", and the step its events are counted under. */
export interface Observed {
  readonly name: string;
  readonly step: EventStep;
  readonly op: string;
}

/** The spans there are. */
export const spans = {
  recall: { name: "recall", step: "recall", op: "search" },
  remember: { name: "remember", step: "remember", op: "create" },
  query: { name: "query", step: "tool", op: "search" },
  summarize: { name: "summarize", step: "summarize", op: "create" },
  extract: { name: "extract", step: "extract", op: "create" },
  compress: { name: "compress", step: "compress", op: "create" },
} as const satisfies Record<string, Observed>;

/** Does `work` within a span, on a database whose round trips are counted when anybody listens. */
export type Observe = <Result>(
  observed: Observed,
  work: (db: Database) => Promise<Result>,
  report?: (result: Result) => SpanReport,
) => Promise<Result>;

/**
 * Spans `mnemograph.<name>` with the attributes `mnemograph.op`, `.node`, `.step`, `.status`, `.round_trips` and what
 * the report gives.
 */
export function createObserve(
  db: Database,
  { content: withContent }: { readonly content: boolean },
  redactor: Redactor,
): Observe {
  return (observed, work, report) =>
    withSpan(`mnemograph.${observed.name}`, async (span) => {
      if (!span.recording) return work(db);
      const { step, op } = observed;
      span.set(prefixed({ op, step, node: eventNode(step) }));
      const counting = countRoundTrips(db);
      try {
        const result = await work(counting.db);
        const { status = "ok", attributes = {}, content = {} } = report?.(result) ?? {};
        // Where it cannot be redacted it is left out.
        const told = withContent ? await redactor.json(content).catch(() => ({})) : {};
        span.set(prefixed({ ...attributes, ...told, status }));
        return result;
      } finally {
        // Graphs of background work have a connection of their own.
        const roundTrips = counting.roundTrips();
        if (roundTrips > 0) span.set(prefixed({ round_trips: roundTrips }));
      }
    });
}

type Values = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>;

function prefixed(values: Values) {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      value === null || value === undefined
        ? []
        : [[`mnemograph.${name}`, typeof value === "object" ? [...value] : value] as const],
    ),
  );
}

/** What a span says about a recall. */
export function reportRecalled(query: string | undefined) {
  return ({ memories, changes, gap, summary }: Recalled): SpanReport => {
    const hits = [...memories.relevant, ...memories.episodes];
    return {
      attributes: {
        hits: hits.length,
        profile: memories.profile.length,
        notes: memories.notes.length,
        changes: changes.count,
        gap_messages: gap.length,
        summarized: summary !== null,
        similarity: bestSimilarity(hits),
        timed_out: memories.timedOut,
      },
      content: { query, results: hits.map(({ memory }) => memory.text) },
    };
  };
}

/** What a span says about a query. */
export function reportHits(query: string | undefined) {
  return ({ hits }: { readonly hits: readonly MemoryHit[] }): SpanReport => ({
    attributes: { hits: hits.length, similarity: bestSimilarity(hits) },
    content: { query, results: hits.map(({ memory }) => memory.text) },
  });
}

/** What a span says about the end of a round. */
export function reportRemembered(input: RecordInput) {
  return ({ remembered: { recorded, summary } }: { remembered: Remembered }): SpanReport => ({
    attributes: { recorded, summary: summary.started ? "started" : summary.reason },
    content: { messages: givenMessages(input.messages).map(messageText) },
  });
}

/** What a span says about background work that ended with `status`. */
export function reportWork({ status }: { readonly status?: string }): SpanReport {
  if (status === "failed" || status === "dead_letter")
    return { status: "error", attributes: { outcome: status } };
  return { status: status === "completed" ? "ok" : "skipped", attributes: { outcome: status } };
}
