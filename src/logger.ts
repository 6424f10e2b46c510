import { MemoryError, messageOf } from "./errors.js";
import { propertyOf } from "./text/plain-json.js";
import { wellFormed } from "./text/storable-text.js";

/** Where log lines go: `console`, pino, winston and their like all fit. */
export interface Logger {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

const silent = () => {};
const toStderr = (message: string) => {
  process.stderr.write(`mnemograph: ${message}\n`);
};

/** Used when no logger is given: problems go to standard error, everything else is dropped. */
export const defaultLogger: Logger = { debug: silent, info: silent, warn: toStderr, error: toStderr };

/** Longest log line, in characters: ids may be long, and what reads logs cuts longer ones anyhow. */
const mostLineCharacters = 1_000;
/** Longest account of an error, in characters: room for what happened and what to do. */
const mostErrorCharacters = 500;

/** `logger`, given each message as one line of at most 1,000 characters: ids could forge lines of their own. */
export function lineLogger(logger: Logger): Logger {
  return {
    debug: (message) => logger.debug(oneLine(message, mostLineCharacters)),
    info: (message) => logger.info(oneLine(message, mostLineCharacters)),
    warn: (message) => logger.warn(oneLine(message, mostLineCharacters)),
    error: (message) => logger.error(oneLine(message, mostLineCharacters)),
  };
}

/**
 * What may be told of `error` in logs and tables, in one line of at most 500 characters: the message of a
 * `MemoryError`, which quotes no conversation, and of any other only what kind it is.
 */
export function errorLine(error: unknown): string {
  if (MemoryError.is(error)) return oneLine(error.message, mostErrorCharacters);
  return `unexpected ${errorKind(error)}${placeOf(error)}`;
}

/** What `error` itself says, in one line of at most 500 characters. It may quote anything: prompts, messages, rows. */
export function errorWords(error: unknown): string {
  const cause = MemoryError.is(error) ? (error.cause ?? error) : error;
  return oneLine(messageOf(cause), mostErrorCharacters);
}

/**
 * Which error it is, without its message, since providers quote prompts and parsers quote texts in theirs:
 * "BadRequestError (400, context_length_exceeded)".
 */
export function errorKind(error: unknown): string {
  if (typeof error !== "object" || error === null) return `error of type ${typeof error}`;
  const causes = [error, propertyOf(error, "cause")].filter(
    (each) => typeof each === "object" && each !== null,
  );
  const marks = causes.flatMap((each) => [...statusesOf(each as object), ...codesOf(each as object)]);
  const maker = propertyOf(error, "constructor");
  const names = [propertyOf(error, "name"), typeof maker === "function" ? maker.name : undefined];
  const name = names.find((each) => isWord(each) && each !== "Error") ?? "Error";
  return marks.length > 0 ? `${name} (${[...new Set(marks)].join(", ")})` : String(name);
}

function statusesOf(error: object): string[] {
  const response = propertyOf(error, "response");
  const held = [propertyOf(error, "status"), propertyOf(error, "statusCode")];
  if (typeof response === "object" && response !== null) held.push(propertyOf(response, "status"));
  return held
    .filter((status) => Number.isInteger(status) && Number(status) >= 100 && Number(status) < 600)
    .map(String);
}

function codesOf(error: object): string[] {
  return ["code", "type", "lc_error_code"].map((key) => propertyOf(error, key)).filter(isCode);
}

const isWord = (value: unknown): value is string =>
  typeof value === "string" && /^\$?[A-Za-z]{1,50}$/.test(value);

/** Codes of providers, Node and PostgreSQL: "rate_limit_exceeded", "ECONNREFUSED", "23505". */
const isCode = (value: unknown): value is string =>
  typeof value === "string" &&
  (/^[A-Z0-9]{5}$/.test(value) || /^[A-Za-z]+(_[A-Za-z]+){0,7}$/.test(value)) &&
  value.length <= 50;

/** Where in the code it was thrown; empty when that is not known. */
function placeOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return "";
  const [stack, message] = [propertyOf(error, "stack"), propertyOf(error, "message")];
  if (typeof stack !== "string" || typeof message !== "string" || !stack.includes(message)) return "";
  const frames = stack.slice(stack.indexOf(message) + message.length);
  const [place] = /[\w.-]{1,60}\.[cm]?[jt]s:\d+/.exec(frames) ?? [];
  return place === undefined ? "" : ` at ${place}`;
}

function oneLine(text: string, mostCharacters: number): string {
  // Cut before it is searched: a message may be of any length.
  const line = text.slice(0, mostCharacters * 2).replace(/[\p{Cc}\u2028\u2029]+/gu, " ");
  const whole = line.length <= mostCharacters && text.length <= mostCharacters * 2;
  return wellFormed(whole ? line : `${line.slice(0, mostCharacters - 1)}…`);
}
