import type { Hono } from "hono";
import type { BlankEnv } from "hono/types";
import type { JSONParsed } from "hono/utils/types";
import { z } from "zod";
import type { Memory } from "../../memory.js";
import { described } from "../answers/fields.js";
import type { Caller, Reach, WhoseBy } from "./caller.js";

/** Methods that routes have. */
export type Method = "get" | "post" | "patch" | "delete";

/** What a route is asked: by whom, whose memories are meant, and what stood in the request. */
export interface Asked<Reached extends Reach, Params, Query, Body> {
  readonly memory: Memory;
  readonly caller: Caller;
  readonly whose: WhoseBy[Reached];
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** For the audit trail. */
  readonly actor: string;
  /** What `If-Match` asks for: the revision that is to be changed. Empty where it asks for none. */
  readonly match: { readonly ifRevision?: number };
  /** Aborted when the caller has gone, or the server ends. */
  readonly signal: AbortSignal;
  /** The request's body as it comes, for routes that stream it. */
  readonly stream: AsyncIterable<Uint8Array>;
}

/** A route as it is written down: what it takes and answers, and which call of memory does it. */
export interface Route<
  Verb extends Method = Method,
  Path extends string = string,
  Reached extends Reach = Reach,
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> {
  readonly method: Verb;
  /** As Hono has it: "/memories/:id". */
  readonly path: Path;
  /** One line for the description. */
  readonly summary: string;
  readonly reach: Reached;
  readonly params?: Params;
  readonly query?: Query;
  /** JSON. */
  readonly body?: Body;
  /** JSON; of routes that stream, each line of it. */
  readonly answer: Answer;
  /** Whether lines of JSON come ("in") or go ("out"): none is ever held whole, and what comes has no time limit. */
  readonly streams?: "in" | "out";
  /** Whether only operators may ask. @default by its reach */
  readonly operators?: true;
  /** Whether the answer has a revision: it is told as ETag, and an `If-Match` is heeded. */
  readonly versioned?: true;
  call(
    asked: Asked<Reached, z.output<Params>, z.output<Query>, z.output<Body>>,
  ): Promise<Answered<z.output<Answer>> | Response>;
}

/** What a call gives: arrays that nobody changes are as good as others. */
type Answered<Value> = Value extends Date | string | number | boolean | null | undefined
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly Answered<Item>[]
    : Value extends object
      ? { readonly [Name in keyof Value]: Answered<Value[Name]> }
      : Value;

type Nothing = z.ZodObject<Record<never, never>>;

/** `description`, with the types of its parts. */
export function route<
  const Verb extends Method,
  const Path extends string,
  const Reached extends Reach,
  Answer extends z.ZodType,
  Params extends z.ZodType = Nothing,
  Query extends z.ZodType = Nothing,
  Body extends z.ZodType = Nothing,
>(
  description: Route<Verb, Path, Reached, Params, Query, Body, Answer>,
): Route<Verb, Path, Reached, Params, Query, Body, Answer> {
  return description;
}

/** What takes nothing. */
export const nothing = z.strictObject({});

/** Ids that say whose memories are meant: for operators only. */
export const namedIds = z.strictObject({
  tenantId: z.string().optional().register(described, { description: "For operators: the tenant." }),
  userId: z.string().optional().register(described, { description: "For operators: the user." }),
  appId: z.string().optional().register(described, { description: "For operators: the app." }),
});

type NamedQuery = z.input<typeof namedIds>;

/** `Input` under its name in a request; nothing where a route takes none. */
type Part<Name extends string, Schema extends z.ZodType> = string extends keyof z.input<Schema>
  ? unknown
  : { readonly [Key in Name]: z.input<Schema> };

type InputOf<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType> = Part<
  "param",
  Params
> &
  Part<"json", Body> &
  (Record<never, never> extends z.input<Query>
    ? { readonly query?: QueryOf<Query> }
    : { readonly query: QueryOf<Query> });

type QueryOf<Query extends z.ZodType> = NamedQuery &
  (string extends keyof z.input<Query> ? unknown : z.input<Query>);

type EndpointOf<Described> =
  Described extends Route<infer Verb, infer Path, Reach, infer Params, infer Query, infer Body, infer Answer>
    ? {
        readonly [Place in Path]: {
          readonly [Name in `$${Verb}`]: {
            readonly input: InputOf<Params, Query, Body>;
            readonly output: JSONParsed<z.output<Answer>>;
            readonly outputFormat: "json";
            readonly status: 200;
          };
        };
      }
    : never;

type Together<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** The type of an app with these routes, as Hono's client `hc` reads it. */
export type AppOf<Routes> = Hono<
  BlankEnv,
  Together<{ [Name in keyof Routes]: EndpointOf<Routes[Name]> }[keyof Routes]> & {},
  "/"
>;
