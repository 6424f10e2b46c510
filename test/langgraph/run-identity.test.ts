import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { MemorySaver } from "@langchain/langgraph";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createMemory,
  type Memory,
  MemoryError,
  memoryQueryTool,
  type Scope,
  withMemory,
} from "../../src/index.js";
import { internalApi, internalApiKey } from "../../src/internal-api.js";
import { runIdentity, runScope } from "../../src/langgraph/run/run-identity.js";
import { code } from "../support/rejection.js";
import { useTestDatabase } from "../support/test-database.js";
import { answering, chatAgent, favouriteDish, say, toolAgent } from "./conversation.js";

type Values = Record<string, unknown>;

/** A place for an id: its path in a run's config. */
type Place = { readonly key: string; readonly id: "userId" | "tenantId" | "appId" };

const spellings = { userId: "user_id", tenantId: "tenant_id", appId: "app_id" } as const;
const ids = ["userId", "tenantId", "appId"] as const;

const client: Place[] = ids.flatMap((id) =>
  [id, spellings[id]].flatMap((name) =>
    ["context", "configurable"].map((source) => ({ key: `${source}.${name}`, id })),
  ),
);
const server: Place[] = [
  ...["tenantId", "tenant_id"].flatMap((name): Place[] => [
    { key: `serverInfo.user.${name}`, id: "tenantId" },
    { key: `configurable.langgraph_auth_user.${name}`, id: "tenantId" },
  ]),
  { key: "serverInfo.user.identity", id: "userId" },
  { key: "configurable.langgraph_auth_user.identity", id: "userId" },
  { key: "configurable.langgraph_auth_user_id", id: "userId" },
];
const places = [...client, ...server];

function configOf(named: readonly { place: Place; value: unknown }[]): LangGraphRunnableConfig {
  const config: Values = {
    configurable: { thread_id: "t" },
    context: {},
    serverInfo: { user: {} },
  };
  for (const { place, value } of named) {
    const names = place.key.split(".");
    let parent = config;
    for (const name of names.slice(0, -1)) {
      parent[name] ??= {};
      parent = parent[name] as Values;
    }
    parent[names.at(-1)!] = value;
  }
  return config as unknown as LangGraphRunnableConfig;
}

const refused = (config: LangGraphRunnableConfig): string => {
  try {
    runScope(config, withoutDefault);
  } catch (error) {
    expect(error).toMatchObject({ name: "MemoryError", code: "SCOPE_REQUIRED" });
    return (error as Error).message;
  }
  throw new Error(`not refused: ${JSON.stringify(config)}`);
};

/** The places of an authenticated user in order of precedence, and the places of its tenant. */
const believed = [
  ["serverInfo.user.identity", ["serverInfo.user.tenantId", "serverInfo.user.tenant_id"]],
  [
    "configurable.langgraph_auth_user.identity",
    ["configurable.langgraph_auth_user.tenantId", "configurable.langgraph_auth_user.tenant_id"],
  ],
  ["configurable.langgraph_auth_user_id", []],
] as const satisfies [string, readonly string[]][];

const naming = fc.uniqueArray(
  fc.record({
    place: fc.constantFrom(...places),
    value: fc.constantFrom("ana", "eve", null, undefined),
  }),
  { selector: ({ place }) => place.key, maxLength: 8 },
);

const scopedBy = (defaultScope: Scope | null) =>
  ({ [internalApiKey]: { defaultScope: () => defaultScope } }) as unknown as Memory;
const withoutDefault = scopedBy(null);
const withDefault = scopedBy({ appId: "studio" });

/** The default applies to configs without ids and without an authenticated user. */
function expectDefault(config: LangGraphRunnableConfig, namesNobody: boolean): void {
  const { langgraph_auth_user: user, langgraph_auth_user_id: id } = config.configurable ?? {};
  const isAuthenticated = [user, id, config.serverInfo?.user].some(
    (who) => who !== undefined && who !== null,
  );
  if (namesNobody && !isAuthenticated) {
    expect(runScope(config, withDefault)).toEqual({ appId: "studio" });
  } else {
    expect(() => runScope(config, withDefault)).toThrow(/Name its user/);
  }
}

describe("the scope of a run", () => {
  it("The scope of a run is what all places agree on, and two different values of one id are refused", () => {
    fc.assert(
      fc.property(naming, (named) => {
        const config = configOf(named);
        const given = (of: Place["id"]) =>
          named.filter(({ place: { id }, value }) => id === of && typeof value === "string");
        const ambiguous = ids.some((id) => new Set(given(id).map(({ value }) => value)).size > 1);
        if (ambiguous) {
          expect(refused(config)).toMatch(/ambiguous/);
          expect(refused(config)).not.toMatch(/\bana\b|\beve\b/);
          return;
        }
        const server = believed.find(([key]) =>
          given("userId").some(({ place }) => place.key === key),
        );
        const tenants = given("tenantId").map(({ place }) => place.key);
        if (server && tenants.length > 0 && !server[1].some((key) => tenants.includes(key))) {
          expect(refused(config)).toMatch(/ambiguous/);
          return;
        }
        const firsts = ids.map((id) => [id, given(id)[0]?.value]);
        const expected = Object.fromEntries(firsts.filter(([, value]) => value !== undefined));
        if (expected.userId === undefined && expected.appId === undefined) {
          expect(refused(config)).toMatch(/Name its user/);
          expectDefault(config, expected.tenantId === undefined);
          return;
        }
        expect(runScope(config, withoutDefault)).toEqual(expected);
        expect(runIdentity(config, withoutDefault)).toEqual({ scope: expected, threadId: "t" });
        expect(runScope(config, withDefault)).toEqual(expected);
      }),
      { numRuns: 2_000 },
    );
  });

  it("The error for a contradictory scope names both keys, for every pair of places", () => {
    for (const one of places) {
      for (const other of places.filter(({ id, key }) => id === one.id && key !== one.key)) {
        const named = Object.entries({ ana: one, eve: other }).map(([value, place]) => ({
          place,
          value,
        }));
        const message = refused(configOf(named));
        expect(message).toContain(one.key);
        expect(message).toContain(other.key);
      }
    }
  });

  it.each(places.map((place) => [place.key, place] as const))(
    "A run is refused if %s is no id",
    (_, place) => {
      const user = client.filter(({ id }) => id === "userId" && place.id !== "userId").slice(0, 1);
      const named = user.map((each) => ({ place: each, value: "ana" }));
      for (const value of [7, Number.NaN, true, ["ana"], { id: "ana" }, "", " \n", "a\u0000"])
        refused(configOf([...named, { place, value }]));
    },
  );

  it("The scope of a run is read from the config of checkpoint savers, and refused without one", () => {
    const configurable = {
      thread_id: "t",
      checkpoint_ns: "",
      __pregel_read: () => {},
      user_id: "ana",
    };
    expect(runScope({ configurable }, withoutDefault)).toEqual({ userId: "ana" });
    expect(refused({})).toMatch(/Name its user/);
    expect(() => runScope(undefined, withoutDefault)).toThrow(
      expect.objectContaining({ code: "SCOPE_REQUIRED" }),
    );
  });
});

const database = useTestDatabase();
it.each(["memory.checkpointer()", "a server's saver"])(
  "A run without ids has the default scope (%s)",
  async (saver) => {
    const defaultScope = { appId: `studio ${crypto.randomUUID()}` };
    const memory = database.memory({ defaultScope });
    await memory.memories.add({ scope: defaultScope, memories: favouriteDish });
    const asks = { toolCalls: [{ name: "memory_query", args: { query: "dish" } }] };
    const { agent, model } = toolAgent([asks, "Zanzibar."], [memoryQueryTool(memory)]);
    const checkpointer = saver.startsWith("a") ? new MemorySaver() : memory.checkpointer();
    const graph = withMemory(agent, memory).compile({ checkpointer });
    // As LangGraph's development server does, which knows no user.
    const config = { configurable: { thread_id: crypto.randomUUID(), user_id: undefined } };
    await say(graph, "What do I like?", config);
    expect(model.calls[0]?.messages[0]?.text).toContain("zanzibar");
    expect(model.calls[1]?.messages.at(-1)?.text).toContain("zanzibar");
    expect((await graph.getState(config)).values.messages).toHaveLength(4);
    expect(
      (await memory.recall({ scope: defaultScope, threadId: config.configurable.thread_id })).gap,
    ).toHaveLength(4);
  },
);

it("An invalid default scope is refused, and so is any beside row-level security", () => {
  for (const defaultScope of [
    {},
    { tenantId: "acme" },
    { userId: " " },
    { userId: undefined },
    "ana",
  ])
    expect(() => createMemory({ defaultScope: defaultScope as never })).toThrow(
      code("SCOPE_REQUIRED"),
    );
  expect(() => createMemory({ defaultScope: { userId: "ana" }, isolation: "rls" })).toThrow(
    code("INVALID_INPUT"),
  );
  expect(internalApi(database.memory()).defaultScope()).toBeNull();
});

it("The error of a run without a scope names defaultScope", async () => {
  const graph = withMemory(chatAgent(answering()), database.memory()).compile();
  const failed = await say(graph, "hi", { configurable: { thread_id: "t" } }).catch(
    (error: unknown) => error,
  );
  expect(MemoryError.is(failed, "SCOPE_REQUIRED")).toBe(true);
  expect((failed as Error).message).toMatch(/configurable.*user_id.*context.*defaultScope/s);
  await expect(database.memory().memories.list({ scope: {} })).rejects.toThrow(/scope: \{ userId/);
});
