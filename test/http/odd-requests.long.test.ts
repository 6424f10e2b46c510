import { beforeAll, describe, expect, it } from "vitest";
import { bearerTokens } from "../../src/http/authenticate.js";
import { createMemoryApp } from "../../src/http/memory-app.js";
import type { Memory } from "../../src/memory.js";
import { OfflineChatModel } from "../../src/testing/index.js";
import { silentLogger } from "../support/silent-logger.js";
import { useTestDatabase } from "../support/test-database.js";

/** As much of a JSON schema as the app's own document uses. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minimum?: number;
  readonly format?: string;
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
}
interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: { readonly "application/json"?: { readonly schema: Schema } } };
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const odd: readonly unknown[] = [
  ...[null, true, -1, 1.5, 1e300, 9e15, 2_147_483_648],
  ...["", " ", "\u0000", "a\u0000b", "\ud800", "x".repeat(5_000), "%", "NaN", "'; drop table memory; --"],
  ...[
    "2026-13-45",
    "9999-12-31T23:59:59Z",
    "-000001-01-01T00:00:00Z",
    "00000000-0000-0000-0000-000000000000",
  ],
  ...[[], {}, [null], { constructor: 1 }, ["\u0000"], Array(300).fill("x")],
];

const db = useTestDatabase();
const token = (name: string) => `token-of-${name}-000000000000`;
let memory: Memory;
let app: ReturnType<typeof createMemoryApp>;
let document: Document;
let known: Readonly<Record<string, string>>;

beforeAll(async () => {
  memory = db.memory({ model: new OfflineChatModel() });
  const callers = {
    [token("ana")]: { role: "user", scope: { userId: "ana", appId: "shop" } },
    [token("operator")]: { role: "operator" },
  } as const;
  app = createMemoryApp(memory, { logger: silentLogger, authenticate: bearerTokens(callers) });
  document = (await (await asked("operator", "get", "/openapi.json")).json()) as Document;
  const scope = { userId: "ana", appId: "shop" };
  const [added] = await memory.memories.add({ text: "Ana sails." }, { scope });
  await memory.remember({ scope, threadId: "t", messages: [{ role: "user", content: "Hi.", id: "1" }] });
  known = { threadId: "t", id: added?.id as string, memoryId: added?.id as string, appId: "shop" };
});

const asked = (who: string, method: string, path: string, body?: unknown) =>
  app.request(path, {
    ...{
      method: method.toUpperCase(),
      headers: { authorization: `Bearer ${token(who)}`, "content-type": "application/json" },
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });

function resolved(schema: Schema): Schema {
  const { $ref } = schema;
  if ($ref === undefined) return schema;
  const found = $ref
    .split("/")
    .slice(1)
    .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document);
  return resolved(found as Schema);
}

/** Something that the schema allows. */
function allowed(given: Schema): unknown {
  const schema = resolved(given);
  const [first] = schema.anyOf ?? schema.oneOf ?? [];
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (first) return allowed(first);
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map(allowed));
  switch ([schema.type].flat()[0]) {
    case "object": {
      const needed = Object.entries(schema.properties ?? {}).filter(([key]) =>
        schema.required?.includes(key),
      );
      return Object.fromEntries(needed.map(([key, value]) => [key, allowed(value)]));
    }
    case "array":
      return schema.items ? [allowed(schema.items)] : [];
    case "integer":
    case "number":
      return Math.max(1, schema.minimum ?? 1);
    case "boolean":
      return true;
    default:
      return schema.format === "date-time" ? "2030-01-01T00:00:00Z" : "x";
  }
}

/** Where in a value of the schema something stands. */
function placesIn(given: Schema, place: readonly string[] = []): (readonly string[])[] {
  if (place.length > 4) return [];
  const schema = resolved(given);
  const either = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return [
    place,
    ...either.flatMap((each) => placesIn(each, place).slice(1)),
    ...Object.entries(schema.properties ?? {}).flatMap(([key, value]) => placesIn(value, [...place, key])),
    ...(schema.items ? placesIn(schema.items, [...place, "0"]) : []),
  ];
}

function withValue(at: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  if (key === "0") return [withValue(Array.isArray(at) ? at[0] : undefined, rest, value)];
  const object = typeof at === "object" && at !== null && !Array.isArray(at) ? at : {};
  return { ...object, [key]: withValue((object as Record<string, unknown>)[key], rest, value) };
}

const inUrl = (value: unknown) =>
  encodeURIComponent(
    (typeof value === "object" ? JSON.stringify(value) : String(value)).replace(/[\ud800-\udfff]/g, "?"),
  );

function urlOf(
  path: string,
  parameters: readonly Parameter[],
  values: Readonly<Record<string, unknown>>,
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => inUrl(values[name] ?? known[name] ?? "x"));
  const query = parameters
    .filter(({ in: where, name, required }) => where === "query" && (required || values[name] !== undefined))
    .map(({ name, schema }) => `${name}=${inUrl(values[name] ?? allowed(schema))}`);
  return query.length > 0 ? `${filled}?${query.join("&")}` : filled;
}

interface OddRequest {
  readonly label: string;
  readonly method: string;
  readonly url: string;
  readonly body?: unknown;
}

/** Requests of one operation that are odd in one place each. */
function* oddRequests(
  who: string,
  method: string,
  path: string,
  operation: Operation,
): Generator<OddRequest> {
  const { parameters = [], requestBody } = operation;
  const mine =
    who === "operator" && parameters.some(({ name }) => name === "userId") ? { userId: "ana" } : {};
  const schema = requestBody?.content["application/json"]?.schema;
  const body = schema && allowed(schema);
  const urlWith = (values: Readonly<Record<string, unknown>>) =>
    urlOf(path, parameters, { ...mine, ...values });
  for (const { name } of parameters) {
    for (const value of odd)
      yield { label: `${path} ?${name}`, method, url: urlWith({ [name]: value }), body };
  }
  for (const place of schema ? placesIn(schema) : []) {
    for (const value of odd)
      yield {
        ...{ label: `${path} ${place.join(".")}`, method, url: urlWith({}) },
        body: withValue(body, place, value),
      };
  }
  for (const raw of schema ? ["", "null", "1", "{", '{"__proto__":{"a":1}}'] : [])
    yield { label: `${path} ${raw}`, method, url: urlWith({}), body: raw };
}

describe("odd requests", () => {
  it.each(["ana", "operator"])(
    "of %s are answered or refused, and none fails, in any field of any route",
    async (who) => {
      const operations = Object.entries(document.paths)
        .filter(([path]) => !/stream|mcp/.test(path))
        .flatMap(([path, methods]) =>
          Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
        );
      const failed = new Set<string>();
      let requests = 0;
      for (const { path, method, operation } of operations) {
        for (const { label, url, body } of oddRequests(who, method, path, operation)) {
          requests++;
          const { status } = await asked(who, method, url, body);
          if (status >= 500) failed.add(`${method} ${label} ${status}`);
        }
      }
      expect([...failed]).toEqual([]);
      expect(requests).toBeGreaterThan(3_000);
    },
  );
});
