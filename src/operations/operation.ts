import type { z } from "zod";
import type { Memory } from "../memory.js";
import type { Caller, Reach, WhoseBy } from "./caller.js";

/** Methods of HTTP that operations have. */
export type Method = "get" | "post" | "patch" | "delete";

/** Who calls an operation, and about whose memories. */
export interface Asked<Reached extends Reach = Reach> {
  readonly memory: Memory;
  readonly caller: Caller;
  readonly whose: WhoseBy[Reached];
  /** For the audit trail. */
  readonly actor: string;
  /** The revision that is to be changed; empty where any is. */
  readonly match: { readonly ifRevision?: number };
  /** Aborted when the caller has gone, or the server ends. */
  readonly signal: AbortSignal;
  /** What is sent in lines. */
  readonly stream: AsyncIterable<Uint8Array>;
}

/** The description of an operation, from which its route, its command and its tool are made. */
export interface Operation<
  Verb extends Method = Method,
  Path extends string = string,
  Reached extends Reach = Reach,
  Input extends z.ZodObject = z.ZodObject,
  Answer extends z.ZodType = z.ZodType,
> {
  readonly method: Verb;
  /** With its parameters: "/memories/:id". */
  readonly path: Path;
  readonly reach: Reached;
  /** Its contract in one sentence. */
  readonly does: string;
  /** All that it takes. HTTP has fields of the path there, others in the query of GET and DELETE, or in the body. */
  readonly input: Input;
  /** What it answers; where lines go out, each of them. */
  readonly answer: Answer;
  /** Whether lines of JSON come in or go out: none is ever held whole, and what comes has no time limit. */
  readonly lines?: "in" | "out";
  /** Whether only operators may call it. @default by its reach */
  readonly operators?: true;
  /** Whether it answers a revision, which is then an ETag, and a change may say which one it is about. */
  readonly versioned?: true;
  call(
    asked: Asked<Reached>,
    input: z.output<Input>,
  ): Promise<Answered<z.output<Answer>>> | AsyncIterable<z.output<Answer>>;
}

/** What a call gives: arrays that nobody changes are as good as others. */
type Answered<Value> = Value extends Date | string | number | boolean | null | undefined
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly Answered<Item>[]
    : Value extends object
      ? { readonly [Name in keyof Value]: Answered<Value[Name]> }
      : Value;

/** `description` of an operation with the types of its parts. */
export function operation<
  const Verb extends Method,
  const Path extends string,
  const Reached extends Reach,
  Input extends z.ZodObject,
  Answer extends z.ZodType,
>(
  method: Verb,
  path: Path,
  reach: Reached,
  description: Omit<Operation<Verb, Path, Reached, Input, Answer>, "method" | "path" | "reach">,
): Operation<Verb, Path, Reached, Input, Answer> {
  return { method, path, reach, ...description };
}

/** The fields of an operation's input that are in its path, and the others, each to be checked by itself. */
export function inputParts({ path, input }: Operation): {
  readonly inPath: z.ZodObject;
  readonly others: z.ZodObject;
} {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => [name, true]);
  const mask = Object.fromEntries(names) as Record<string, true> & Record<number, never>;
  return { inPath: input.pick(mask), others: input.omit(mask) };
}
