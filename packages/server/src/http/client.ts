import type { Hono } from "hono";
import type { BlankEnv, ParamKeys } from "hono/types";
import type { JSONParsed, UnionToIntersection } from "hono/utils/types";
import type { z } from "zod";
import type { NamedIds, Reach } from "../operations/caller.js";
import type { Operation } from "../operations/operation.js";
import type { operations } from "../operations/operations.js";

type InQuery<Value> = Value extends readonly (infer Item)[]
  ? InQuery<Item> | InQuery<Item>[]
  : Value extends number
    ? string
    : Value extends boolean
      ? `${Value}`
      : Value;

type RequestPart<Name extends string, Value> =
  Record<never, never> extends Value
    ? { readonly [Key in Name]?: Value }
    : { readonly [Key in Name]: Value };

type RequestOf<Verb, Path, Input> = ([ParamKeys<Path>] extends [never]
  ? unknown
  : { readonly param: Pick<Input, ParamKeys<Path> & keyof Input> }) &
  OthersOf<Verb, Omit<Input, ParamKeys<Path>>>;

type OthersOf<Verb, Others> = Verb extends "get" | "delete"
  ? RequestPart<"query", NamedIds & { readonly [Name in keyof Others]: InQuery<Others[Name]> }>
  : RequestPart<"query", NamedIds> & RequestPart<"json", Others>;

type EndpointOf<Described> =
  Described extends Operation<infer Verb, infer Path, Reach, infer Fields, infer Answer>
    ? {
        readonly [Place in Path]: {
          readonly [Name in `$${Verb}`]: {
            readonly input: RequestOf<Verb, Path, z.input<z.ZodObject<Fields>>>;
            readonly output: JSONParsed<z.output<Answer>>;
            readonly outputFormat: "json";
            readonly status: 200;
          };
        };
      }
    : never;

/**
 * The app, for Hono's client.
 * @example
 * ```ts
 * const client = hc<MemoryApp>("https://memory.example.com", { headers: { authorization: `Bearer ${token}` } });
 * const answer = await client.memories.$get({ query: { limit: "20" } });
 * const { memories, nextCursor } = await answer.json();
 * ```
 */
export type MemoryApp = Hono<
  BlankEnv,
  UnionToIntersection<
    {
      [Name in keyof typeof operations]: EndpointOf<(typeof operations)[Name]>;
    }[keyof typeof operations]
  > & {},
  "/"
>;
