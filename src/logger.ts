import { MemoryError } from "./errors.js";
import { propertyOf } from "./input/plain-json.js";
import { wellFormed } from "./text/storable-text.js";

/**
 * Searchable fields of a log line: ids, numbers and names of steps, never text of a conversation.
 */
export interface LogFields {
  readonly threadId?: string;
  readonly appId?: string;
  /** The step that wrote the line, such as "facts", "recall" or "import". */
  readonly step?: string;
  readonly summaryId?: number;
  /** Of the processed messages. */
  readonly startSeq?: number;
  readonly endSeq?: number;
  readonly durationMs?: number;
  /** Counts from 1. */
  readonly attempt?: number;
  /** Milliseconds until the next attempt; null for none. */
  readonly retryMs?: number | null;
  readonly code?: string;
  /** Facts by outcome: `{ created: 2, merged: 1 }`. */
  readonly outcomes?: Readonly<Record<string, number>>;
  /** How many notes of an app were shown. */
  readonly notes?: number;
  readonly memoryIds?: readonly string[];
}

/** The message, then its fields, as `console` and winston take them; for pino see `fieldsFirst`. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** A logger that takes the fields first, as pino and bunyan do. */
export type FieldsFirstLogger = Readonly<
  Record<"debug" | "info" | "warn" | "error", (fields: object, message: string) => void>
>;

/** `logger`, such as `pino()`, as a `Logger`: `createMemory({ logger: fieldsFirst(pino()) })`. */
export const fieldsFirst = (logger: FieldsFirstLogger): Logger =>
  atEachLevel((level, message, fields = {}) => logger[level](fields, message));

function atEachLevel(
  log: (level: keyof Logger, message: string, fields?: LogFields) => void,
): Logger {
  return {
    debug: (...given) => log("debug", ...given),
    info: (...given) => log("info", ...given),
    warn: (...given) => log("warn", ...given),
    error: (...given) => log("error", ...given),
  };
}

const silent = () => {};
const toStderr = (message: string) => {
  process.stderr.write(`mnemograph: ${message}\n`);
};

/** Used when no logger is given: problems go to standard error, everything else is dropped. */
export const defaultLogger: Logger = {
  debug: silent,
  info: silent,
  warn: toStderr,
  error: toStderr,
};

/** How often each outcome occurs, as a field of a log line and in words: "2 created, 1 merged". */
export function tally(names: readonly string[]) {
  const outcomes: Record<string, number> = {};
  for (const name of names) outcomes[name] = (outcomes[name] ?? 0) + 1;
  const counts = Object.entries(outcomes).map(([name, count]) => `${count} ${name}`);
  return { outcomes, inWords: counts.join(", ") };
}

/** Longest log line, in characters: ids may be long, and log readers cut longer ones anyway. */
const maxLogCharacters = 1_000;
const maxErrorCharacters = 500;

/**
 * `logger` with each message on one line of at most 1,000 characters, since ids could forge further
 * lines.
 */
export const lineLogger = (logger: Logger): Logger =>
  atEachLevel((level, message, fields) => {
    const line = logLine(message, maxLogCharacters);
    // `console` would print `undefined`.
    if (fields) logger[level](line, fields);
    else logger[level](line);
  });

/**
 * One line of at most 500 characters: a `MemoryError`'s message, which quotes no conversation, else
 * the kind.
 */
export function errorLine(error: unknown): string {
  if (MemoryError.is(error)) return logLine(error.message, maxErrorCharacters);
  return `unexpected ${errorKind(error)}${throwPlace(error)}`;
}

/**
 * Without its message, in which providers quote prompts: "BadRequestError (400,
 * context_length_exceeded)".
 */
export function errorKind(error: unknown): string {
  if (typeof error !== "object" || error === null) return `error of type ${typeof error}`;
  const codes = new Set([...codesOf(error), ...codesOf(propertyOf(error, "cause"))]);
  const named = [error, propertyOf(error, "constructor")];
  const names = named.map((each) => propertyOf(Object(each), "name"));
  const name = names.find((each) => isWord(each) && each !== "Error") ?? "Error";
  return codes.size > 0 ? `${name} (${[...codes].join(", ")})` : String(name);
}

function codesOf(error: unknown): string[] {
  const field = (name: string) => propertyOf(Object(error), name);
  const statuses = [field("status"), field("statusCode")];
  statuses.push(propertyOf(Object(field("response")), "status"));
  const isStatus = (status: unknown) => Number(status) >= 100 && Number(status) < 600;
  return [
    ...statuses.filter((status) => Number.isInteger(status) && isStatus(status)).map(String),
    ...["code", "type", "lc_error_code"].map(field).filter(isCode),
  ];
}

const isWord = (value: unknown): value is string =>
  typeof value === "string" && /^\$?[A-Za-z]{1,50}$/.test(value);

/** Codes of providers, Node and PostgreSQL: "rate_limit_exceeded", "ECONNREFUSED", "23505". */
const isCode = (value: unknown): value is string =>
  typeof value === "string" &&
  (/^[A-Z0-9]{5}$/.test(value) || /^[A-Za-z]+(_[A-Za-z]+){0,7}$/.test(value)) &&
  value.length <= 50;

/** The file and line that threw it; empty if unknown. */
function throwPlace(error: unknown): string {
  if (typeof error !== "object" || error === null) return "";
  const [stack, message] = [propertyOf(error, "stack"), propertyOf(error, "message")];
  if (typeof stack !== "string" || typeof message !== "string" || !stack.includes(message))
    return "";
  const frames = stack.slice(stack.indexOf(message) + message.length);
  const [place] = /[\w.-]{1,60}\.[cm]?[jt]s:\d+/.exec(frames) ?? [];
  return place === undefined ? "" : ` at ${place}`;
}

function logLine(text: string, maxCharacters: number): string {
  // Cut before the search: a message may have any length.
  const line = text.slice(0, maxCharacters * 2).replace(/[\p{Cc}\u2028\u2029]+/gu, " ");
  const whole = line.length <= maxCharacters && text.length <= maxCharacters * 2;
  return wellFormed(whole ? line : `${line.slice(0, maxCharacters - 1)}…`);
}
