import { beforeAll, expect, it } from "vitest";
import { ownerIdFields } from "../../packages/server/src/operations/caller.js";
import type { Operation } from "../../packages/server/src/operations/operation.js";
import { operationList } from "../../packages/server/src/operations/operations.js";
import type { Memory } from "../../src/memory.js";
import { OfflineChatModel } from "../../src/testing/index.js";
import {
  fillSample,
  namedFor,
  requestOf,
  type Sample,
  sampleOf,
} from "../support/sample-requests.js";
import { useTestDatabase } from "../support/test-database.js";
import { httpClients } from "./http-client.js";

/** The parts of JSON Schema that the app's document uses. */
interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}
interface Documented {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: {
    readonly content: { readonly "application/json"?: { readonly schema: Schema } };
  };
}

const odd: readonly unknown[] = [
  ...[null, true, -1, 1.5, 1e300, 9e15, 2_147_483_648],
  ...[
    "",
    " ",
    "\u0000",
    "a\u0000b",
    "\ud800",
    "x".repeat(5_000),
    "%",
    "NaN",
    "'; drop table memory; --",
  ],
  ...["2026-13-45", "9999-12-31T23:59:59Z", "-000001-01-01T00:00:00Z"],
  "00000000-0000-0000-0000-000000000000",
  ...[[], {}, [null], { constructor: 1 }, ["\u0000"], Array(300).fill("x")],
];

const db = useTestDatabase();
let memory: Memory;
let api: ReturnType<typeof clients>;
let document: { readonly paths: Readonly<Record<string, Readonly<Record<string, Documented>>>> };
let ids: Awaited<ReturnType<typeof fillSample>>;
const scope = { userId: "ana", appId: "shop" };
const clients = () =>
  httpClients(memory, { ana: { role: "user", scope }, operator: { role: "operator" } });

beforeAll(async () => {
  const receipts = { idKey: "a secret that is in no table, of 40 letters" };
  memory = db.memory({ model: new OfflineChatModel(), config: { receipts } });
  api = clients();
  document = (await (await api.app.request("/openapi.json")).json()) as typeof document;
  ids = await fillSample(memory, scope);
});

function resolved(schema: Schema): Schema {
  const { $ref } = schema;
  if ($ref === undefined) return schema;
  const keys = $ref.split("/").slice(1);
  return resolved(
    keys.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document) as Schema,
  );
}

/** The paths within a value of the schema. */
function placesIn(given: Schema, place: readonly string[] = []): (readonly string[])[] {
  if (place.length > 4) return [];
  const schema = resolved(given);
  const either = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return [
    place,
    ...either.flatMap((each) => placesIn(each, place).slice(1)),
    ...Object.entries(schema.properties ?? {}).flatMap(([key, value]) =>
      placesIn(value, [...place, key]),
    ),
    ...(schema.items ? placesIn(schema.items, [...place, "0"]) : []),
  ];
}

function withValue(at: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  if (key === "0") return [withValue(Array.isArray(at) ? at[0] : undefined, rest, value)];
  const object = typeof at === "object" && at !== null && !Array.isArray(at) ? at : {};
  return { ...object, [key]: withValue((object as Record<string, unknown>)[key], rest, value) };
}

/** Requests of one operation with one odd value each. */
function* oddRequests(
  who: string,
  operation: Operation,
  { parameters = [], requestBody }: Documented,
  sample: Sample,
): Generator<Omit<ReturnType<typeof requestOf>, "body"> & { label: string; body: unknown }> {
  const { path } = operation;
  const named = who === "operator" ? namedFor(operation, scope) : {};
  const good = requestOf(operation, sample, named);
  for (const { name } of parameters.filter(({ in: where }) => where !== "header")) {
    for (const value of odd) {
      const one = { [name]: textOf(value) };
      const isNamed = name in ownerIdFields.shape && !(name in operation.input.shape);
      const input = isNamed ? sample.input : { ...sample.input, ...one };
      const request = requestOf(
        operation,
        { ...sample, input },
        isNamed ? { ...named, ...one } : named,
      );
      yield { ...request, label: `${path} ?${name}` };
    }
  }
  const schema = requestBody?.content["application/json"]?.schema;
  if (schema === undefined) return;
  const bodies = placesIn(schema).flatMap((place) =>
    odd.map((value) => [place.join("."), withValue(good.body ?? {}, place, value)]),
  );
  for (const raw of ["", "null", "1", "{", '{"__proto__":{"a":1}}']) bodies.push([raw, raw]);
  for (const [label, body] of bodies) yield { ...good, label: `${path} ${label}`, body };
}

/** A value as text for a URL. */
const textOf = (value: unknown): string =>
  (typeof value === "object" ? JSON.stringify(value) : String(value)).replace(
    /[\ud800-\udfff]/g,
    "?",
  );

it.each(["ana", "operator"] as const)(
  "Odd requests of %s never fail, in any field of any route",
  async (who) => {
    const failed = new Set<string>();
    let requests = 0;
    for (const [name, operation] of operationList) {
      const documented =
        document.paths[operation.path.replace(/:(\w+)/g, "{$1}")]?.[operation.method] ?? {};
      for (const { label, method, path, body } of oddRequests(
        who,
        operation,
        documented,
        sampleOf(name, ids),
      )) {
        requests++;
        const { status } = await api[who](method, path, body);
        if (status >= 500) failed.add(`${method} ${label} ${status}`);
      }
    }
    expect([...failed]).toEqual([]);
    expect(requests).toBeGreaterThan(3_000);
  },
);
