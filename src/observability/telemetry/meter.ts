import type { MemoryErrorCode } from "../../errors.js";
import { attempt } from "../../input/plain-json.js";
import type { TokenUsage } from "../../models/token-usage.js";

type Api = typeof import("@opentelemetry/api");
type Instruments = ReturnType<typeof createInstruments> | undefined;

/** Undefined before the first use; null without the optional package. */
let api: Api | null | undefined;
let loading: Promise<Api | null> | undefined;

export async function telemetryApi(): Promise<Api | null> {
  if (api !== undefined) return api;
  loading ??= import("@opentelemetry/api").catch(() => null);
  api = await loading;
  return api;
}

/** What gauges show of one memory. */
export interface Levels {
  /** Names the memory among others of the process. */
  readonly schemaName: string;
  readonly paused: boolean;
  /** Null if the database does not say. */
  readonly work: Readonly<Record<(typeof namesOfWork)[number], number>> | null;
}

const namesOfWork = ["due", "oldestSeconds", "stuck", "givenUp", "energy"] as const;

const levelReaders = new Set<() => Promise<Levels>>();

/**
 * Has gauges ask `read` at each collection; without a meter provider nobody does. Returns what ends
 * it.
 */
export function addLevels(read: () => Promise<Levels>): () => void {
  levelReaders.add(read);
  void telemetryApi().then(instruments);
  return () => void levelReaders.delete(read);
}

let madeInstruments: { readonly provider: object; readonly instruments: Instruments } | undefined;

/**
 * Those of the registered provider, which do nothing if there is none; undefined if it makes none.
 */
function instruments(): Instruments {
  if (!api) return undefined;
  const provider = api.metrics.getMeterProvider();
  if (madeInstruments?.provider !== provider) {
    madeInstruments = {
      provider,
      instruments: attempt(() => createInstruments(provider.getMeter("mnemograph"))),
    };
  }
  return madeInstruments.instruments;
}

/** A recall takes milliseconds, a search two seconds at most. */
const secondBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
/** As the semantic conventions advise: powers of four. */
const tokenBuckets = Array.from({ length: 14 }, (_, power) => 4 ** power);

function createInstruments(meter: ReturnType<Api["metrics"]["getMeter"]>) {
  const gauge = (name: string, unit: string, description: string) =>
    meter.createObservableGauge(`mnemograph.${name}`, { unit, description });
  const ofWork = {
    due: gauge("work.due", "{job}", "Background jobs that are due and that no worker has"),
    oldestSeconds: gauge("work.oldest_age", "s", "How long the oldest of them has been due"),
    stuck: gauge("work.stuck", "{job}", "Those of them whose worker stopped"),
    givenUp: gauge("work.given_up", "{job}", "Background jobs that were given up and not retried"),
    energy: gauge(
      "energy.level",
      "1",
      "Share of its energy that the tenant with the least has left",
    ),
  };
  const paused = gauge("database.paused", "", "1 while calls of this process fail at once");
  meter.addBatchObservableCallback(
    async (result) => {
      const levels = await Promise.all([...levelReaders].map((read) => read()));
      for (const { schemaName, paused: isPaused, work } of levels) {
        const of = { "db.namespace": schemaName };
        result.observe(paused, Number(isPaused), of);
        for (const name of namesOfWork) if (work) result.observe(ofWork[name], work[name], of);
      }
    },
    [...Object.values(ofWork), paused],
  );
  return {
    recalls: meter.createHistogram("mnemograph.recall.duration", {
      unit: "s",
      description: "Duration of a turn's recall",
      advice: { explicitBucketBoundaries: secondBuckets },
    }),
    failures: meter.createCounter("mnemograph.failures", {
      unit: "{failure}",
      description: "Calls and background work that failed, by their code",
    }),
    refusals: meter.createCounter("mnemograph.refusals", {
      unit: "{call}",
      description: "Calls that were refused for a mistake of the caller, by their code",
    }),
    tokens: meter.createHistogram("gen_ai.client.token.usage", {
      unit: "{token}",
      description: "Tokens of a background call of a model",
      advice: { explicitBucketBoundaries: tokenBuckets },
    }),
  };
}

/**
 * Codes of a caller's own mistakes. A refused call says nothing of how well or how fast memory
 * works.
 */
const callersMistakes: ReadonlySet<string> = new Set([
  "CATEGORY_DENIED",
  "CLOSED",
  "CONFLICT",
  "CONSENT_REQUIRED",
  "FORGOTTEN",
  "ID_TAKEN",
  "INVALID_INPUT",
  "NOT_FOUND",
  "SCOPE_REQUIRED",
  "STALE_REVISION",
  "THREAD_FORBIDDEN",
  "WRONG_STATE",
] satisfies MemoryErrorCode[]);

interface MeasuredCall {
  /** "recall", "remember", "query", or a kind of background work. */
  readonly operation: string;
  readonly isBackground: boolean;
  readonly schemaName: string;
  readonly seconds: number;
  /** Why it failed; null: it did not. */
  readonly code: string | null;
}

export function measureCall(call: MeasuredCall): void {
  const { operation, isBackground, schemaName, seconds, code } = call;
  const place = { "db.namespace": schemaName };
  const error = code === null ? {} : { "error.type": code };
  const counted = { ...place, ...error, "mnemograph.operation": operation };
  if (code !== null && !isBackground && callersMistakes.has(code)) {
    instruments()?.refusals.add(1, counted);
    return;
  }
  if (operation === "recall") instruments()?.recalls.record(seconds, { ...place, ...error });
  if (code !== null) instruments()?.failures.add(1, counted);
}

export function measureTokens(
  kind: string,
  { inputTokens, outputTokens }: TokenUsage,
  schemaName: string,
): void {
  const about = {
    "db.namespace": schemaName,
    "gen_ai.operation.name": "chat",
    "mnemograph.work": kind,
  };
  instruments()?.tokens.record(inputTokens, { ...about, "gen_ai.token.type": "input" });
  instruments()?.tokens.record(outputTokens, { ...about, "gen_ai.token.type": "output" });
}
