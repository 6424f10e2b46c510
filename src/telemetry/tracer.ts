import type { Attributes, Span } from "@opentelemetry/api";
import { MemoryError } from "../errors.js";

/** A span that is under way. */
export interface OpenSpan {
  /** Whether anybody listens: what is costly to find out need not be. */
  readonly recording: boolean;
  set(attributes: Attributes): void;
}

type Api = typeof import("@opentelemetry/api");

/** Undefined until it was looked for; null without the package, which is optional. */
let api: Api | null | undefined;
let loading: Promise<Api | null> | undefined;

const deaf: OpenSpan = { recording: false, set: () => {} };

/**
 * `work` within the span `name` of OpenTelemetry's provider; without the package `@opentelemetry/api`, or without a
 * provider, just `work`.
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
      return await work(open(span));
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

function open(span: Span): OpenSpan {
  return {
    recording: span.isRecording(),
    set: (attributes) => void span.setAttributes(attributes),
  };
}
