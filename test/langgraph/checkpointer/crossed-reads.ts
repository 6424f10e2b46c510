import { randomUUID } from "node:crypto";
import { Annotation, interrupt, START, StateGraph } from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { expect } from "vitest";
import type { Memory } from "../../../src/index.js";

const State = Annotation.Root({
  owner: Annotation<string>(),
  secrets: Annotation<string[]>({
    reducer: (before, after) => [...before, ...after],
    default: () => [],
  }),
});

/** A subgraph that notes whose run it is, and pauses. */
function part(name: string) {
  return new StateGraph(State)
    .addNode("note", ({ owner }) => ({ secrets: [`${name} of ${owner}`] }))
    .addNode("ask", () => {
      interrupt("?");
      return {};
    })
    .addEdge(START, "note")
    .addEdge("note", "ask");
}

/**
 * A graph whose run pauses within two stateful subgraphs, one of which has another within, and a
 * plain one.
 */
function graphOfParts(memory: Memory) {
  const stateful = { checkpointer: true } as const;
  const one = part("one").addNode("inner", part("inner").compile(stateful));
  return new StateGraph(State)
    .addNode("one", one.addEdge("note", "inner").compile(stateful))
    .addNode("two", part("two").compile(stateful))
    .addNode("plain", part("plain").compile())
    .addEdge(START, "one")
    .addEdge(START, "two")
    .addEdge(START, "plain")
    .compile({ checkpointer: memory.checkpointer() });
}

export interface Owner {
  readonly tenant: string;
  readonly user: string;
}

interface Read {
  readonly kind: "state" | "history" | "tuple";
  /** Null names nobody. */
  readonly owner: Owner | null;
  readonly naming: keyof typeof namings;
  /** Of a subgraph, as a client can guess it; "" is the graph's own. */
  readonly namespace: string;
}

/** Ways to say whose a read is. */
const namings = {
  "two keys of configurable": ({ tenant, user }: Owner, more: object) => ({
    configurable: { ...more, tenant_id: tenant, user_id: user },
  }),
  "two keys in camel case": ({ tenant, user }: Owner, more: object) => ({
    configurable: { ...more, tenantId: tenant, userId: user },
  }),
  context: ({ tenant, user }: Owner, more: object) => ({
    configurable: more,
    context: { tenantId: tenant, userId: user },
  }),
  "the user of a server": ({ tenant, user }: Owner, more: object) => ({
    configurable: { ...more, langgraph_auth_user: { identity: user, tenant_id: tenant } },
  }),
};

/** Three owners, of whom each has paused a run of the graph in a thread of the same id. */
export async function startOwners(memory: Memory) {
  const graph = graphOfParts(memory);
  const id = randomUUID().slice(0, 8);
  const threadId = `main-${id}`;
  const owners = ["ann", "bob", "cid"].map((name) => ({
    tenant: `${name}s-${id}`,
    user: `${name}-${id}`,
  }));
  for (const owner of owners)
    await graph.invoke(
      { owner: owner.user },
      namings["two keys of configurable"](owner, { thread_id: threadId }),
    );
  return { graph, threadId, owners };
}

/** Reads that are made at once, by all owners and by nobody. */
export function readsAtOnce(owners: readonly Owner[], most: number): fc.Arbitrary<Read[]> {
  const read = fc.record<Read>({
    kind: fc.constantFrom("state", "state", "state", "history", "tuple"),
    owner: fc.constantFrom(...owners, ...owners, null),
    naming: fc.constantFrom(...(Object.keys(namings) as Read["naming"][])),
    namespace: fc.constantFrom("", "", "one", "two", "one|inner", "plain", "missing"),
  });
  return fc.array(read, { minLength: most / 2, maxLength: most });
}

type Started = Awaited<ReturnType<typeof startOwners>>;

/**
 * Makes the reads at once, and asserts that no answer has words of another owner. Returns how many
 * answers had the reader's own.
 */
export async function expectNoneCrossed(
  { graph, threadId, owners }: Started,
  reads: readonly Read[],
): Promise<number> {
  const answers = await Promise.all(reads.map((read) => answerTo(graph, threadId, read)));
  let own = 0;
  for (const [index, { owner: reader, ...read }] of reads.entries()) {
    const answer = answers[index] ?? "";
    const found = owners.filter(({ user }) => answer.includes(`of ${user}`));
    expect(
      found.filter((owner) => owner !== reader),
      `${JSON.stringify(read)} by ${reader?.user ?? "nobody"}`,
    ).toEqual([]);
    if (reader && found.includes(reader)) own++;
  }
  return own;
}

/** All that a read returned, as JSON, or why it was refused. */
async function answerTo(
  graph: Started["graph"],
  threadId: string,
  { kind, owner, naming, namespace }: Read,
): Promise<string> {
  const more = { thread_id: threadId, ...(namespace !== "" && { checkpoint_ns: namespace }) };
  const config = owner ? namings[naming](owner, more) : { configurable: more };
  try {
    if (kind === "state") return JSON.stringify(await graph.getState(config, { subgraphs: true }));
    if (kind === "tuple") {
      const saver = graph.checkpointer as BaseCheckpointSaver;
      return JSON.stringify(await saver.getTuple(config));
    }
    const states: unknown[] = [];
    for await (const state of graph.getStateHistory(config)) states.push(state);
    return JSON.stringify(states);
  } catch (error) {
    return String(error);
  }
}
