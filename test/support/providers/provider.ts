import { createHash, randomUUID } from "node:crypto";
import type { Schema } from "./schema-rules.js";

/** A request in one form for all providers: what rules judge and scripts read. */
export interface ModelRequest {
  readonly model: string;
  readonly isStreamed: boolean;
  readonly system: string;
  /** Those that the provider counts as one are one. */
  readonly messages: readonly RequestMessage[];
  /** Where calls and results are paired. @default the messages */
  readonly turns?: readonly Turn[];
  readonly toolNames: readonly string[];
  /** Of tools and response formats. */
  readonly schemas: readonly NamedSchema[];
  /** The tool that must be called, or the response format: the answer must fit it. */
  readonly wanted: NamedSchema | null;
  /** In the order in which the provider caches them. */
  readonly parts: readonly unknown[];
  /** How many parts the provider may cache. @default all */
  readonly cacheable?: number;
}

/** Calls and results by their ids. */
export interface Turn {
  /** As the provider's errors name it. */
  readonly place: string;
  readonly calls: readonly string[];
  readonly results: readonly string[];
}

export interface RequestMessage extends Turn {
  /** The provider's own: results may come in a message of the user, and items have no role. */
  readonly role: string;
  readonly texts: readonly string[];
  /** Calls, results, pictures and so on. */
  readonly hasMore: boolean;
  readonly unknown: string | undefined;
}

export interface NamedSchema {
  readonly of: "tool" | "format";
  /** Google and Anthropic name no response format. */
  readonly name: string | null;
  readonly place: string;
  readonly schema: Schema;
  readonly isStrict: boolean;
}

/**
 * How the stub treats one request.
 *
 * - a string, or `{ text, calls, reasoning }`: an answer; several calls are parallel.
 * - `{ structured }`: JSON in the way that the request asks for: a call of the demanded tool, else
 *   text. With `wrapped` always text, as weak models answer: JSON in a fence, in prose and so on.
 * - `{ refusal }`: the model declines.
 * - `{ status }`: the provider's own error; `retryAfterSeconds` where it is 429.
 * - `{ fault: "closes" }`: the socket ends in mid-answer; `"stalls"`: only headers come; `"silent"`:
 *   not even headers.
 *
 * `cutAt`: so many characters of the text, or of the last call's arguments, then the token limit,
 * unless `isCut` is false. `isFiltered`: OpenAI's content filter stops the model.
 */
export type Reply =
  | string
  | ({ reasoning?: string; cutAt?: number; isCut?: boolean; isFiltered?: boolean } & (
      | { text?: string; calls?: readonly { name: string; args: object }[] }
      | { structured: object; wrapped?: (json: string) => string }
    ))
  | { refusal: string }
  | { status: number; retryAfterSeconds?: number }
  | { fault: Fault };

export type Fault = "closes" | "stalls" | "silent";

/** `index` counts the requests that no rule refused, from 0. */
export type Script = (request: ModelRequest, index: number) => Reply | Promise<Reply>;

export interface Answer {
  /** Unique: LangGraph replaces a message by one with the same id. */
  readonly id: string;
  readonly model: string;
  readonly reasoning: string;
  readonly text: string;
  /** Arguments are JSON. */
  readonly calls: readonly { id: string; name: string; args: string }[];
  readonly refusal: string | null;
  readonly isCut: boolean;
  readonly isFiltered: boolean;
  readonly usage: Usage;
}

/** Tokens; `input` includes those read from and written to the cache, `output` the reasoning. */
export interface Usage {
  readonly input: number;
  readonly cached: number;
  readonly written: number;
  readonly output: number;
  readonly reasoning: number;
}

export interface Refusal {
  readonly status: number;
  readonly body: object;
  readonly headers?: Record<string, string>;
}

/** Requests, rules and answers of one provider. */
export interface Provider<Body> {
  readonly path: RegExp;
  readonly callId: () => string;
  read(body: Body, path: string): ModelRequest;
  /** The first rule that the request breaks. */
  refusalOf(request: ModelRequest, body: Body): Refusal | null;
  tooLong(tokens: number, limit: number): Refusal;
  failure(status: number, retryAfterSeconds: number): Refusal;
  whole(answer: Answer): object;
  /** Server-sent events. */
  events(answer: Answer): Iterable<string>;
}

export const randomId = (): string => randomUUID().replaceAll("-", "");

/** Stands for the encryption of a provider: what it signed must come back unchanged. */
export const sign = (text: string): string => createHash("sha256").update(text).digest("base64");

/** As a stream brings a text. */
export const wordsOf = (text: string): string[] => text.match(/\s*\S+\s*$|\s*\S+|\s+/g) ?? [];

export const dataEvent = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;

export const namedEvent = (event: { type: string; [field: string]: unknown }): string =>
  `event: ${event.type}\n${dataEvent(event)}`;
