import type { Memory } from "mnemograph";
import { z } from "zod";
import type { Caller, Reach, TargetByReach } from "./caller.js";

export type Method = "get" | "post" | "patch" | "delete";

export interface CallContext<Reached extends Reach = Reach> {
  readonly memory: Memory;
  readonly caller: Caller;
  readonly target: TargetByReach[Reached];
  readonly actor: string;
  /** The expected revision; empty accepts any. */
  readonly match: { readonly ifRevision?: number };
  /** Aborted when the caller disconnects or the server ends. */
  readonly signal: AbortSignal;
  /** The body, with `lines: "in"`. */
  readonly stream: AsyncIterable<Uint8Array>;
}

export interface Operation<
  Verb extends Method = Method,
  Path extends string = string,
  Reached extends Reach = Reach,
  Fields extends z.ZodRawShape = z.ZodRawShape,
  Answer extends z.ZodType = z.ZodType,
> {
  readonly method: Verb;
  /** Such as "/memories/:id". */
  readonly path: Path;
  readonly reach: Reached;
  readonly does: string;
  /** HTTP takes the fields in the path, the query (GET, DELETE) or the body. */
  readonly input: z.ZodObject<Fields, z.core.$strict>;
  /** With `lines: "out"`, each line. */
  readonly answer: Answer;
  /** Streams JSON lines in or out, without a time limit on the way in. */
  readonly lines?: "in" | "out";
  /** Only operators may call it. @default by its reach */
  readonly operators?: true;
  /** Returns the revision as ETag; a change accepts it as `If-Match`. */
  readonly versioned?: true;
  call(
    context: CallContext<Reached>,
    input: z.output<z.ZodObject<Fields, z.core.$strict>>,
  ): Promise<Answered<z.output<Answer>>> | AsyncIterable<z.output<Answer>>;
}

type Answered<Value> = Value extends Date | string | number | boolean | null | undefined
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly Answered<Item>[]
    : Value extends object
      ? { readonly [Name in keyof Value]: Answered<Value[Name]> }
      : Value;

export function operation<
  const Verb extends Method,
  const Path extends string,
  const Reached extends Reach,
  Fields extends z.ZodRawShape,
  Answer extends z.ZodType,
>(
  method: Verb,
  path: Path,
  reach: Reached,
  {
    input,
    ...description
  }: Omit<Operation<Verb, Path, Reached, Fields, Answer>, "method" | "path" | "reach" | "input"> & {
    readonly input: Fields;
  },
): Operation<Verb, Path, Reached, Fields, Answer> {
  return { method, path, reach, input: z.strictObject(input), ...description };
}
