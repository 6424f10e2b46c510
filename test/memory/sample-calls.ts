import { randomUUID } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import type { Memory } from "../../src/index.js";

export type Arguments = readonly unknown[];
export type Call = (...args: Arguments) => unknown;

export const sampleScope = { userId: "ana" };
export const sampleId = randomUUID();
const scope = sampleScope;
const id = sampleId;
const app = { appId: "shop" };
const threadId = "t";
const said = { scope, threadId, messages: [new HumanMessage("hello")] };
const draft = {
  text: "The user drinks tea.",
  source: { threadId, seqs: [0] },
  turns: { start: 1, end: 2 },
};

/** Valid arguments of each call of a memory that takes arguments. */
export const sampleCalls: Readonly<Record<string, Arguments>> = {
  record: [{ ...said, shown: { revision: 0, memoryIds: [] } }],
  remember: [{ ...said, shown: { revision: 0, memoryIds: [] } }],
  recall: [{ scope, threadId, query: "tea" }],
  promptFor: [{ scope, threadId, query: "tea" }],
  query: [{ scope, query: "tea" }],
  upkeep: [{ kinds: ["lifecycle"] }],
  stats: [{ scope }],
  "energy.level": [{ tenantId: "acme" }],
  "energy.costs": [{ scope, by: "kind", days: 7 }],
  "users.list": [{ tenantId: "acme", limit: 3 }],
  "apps.list": [{ limit: 3 }],
  "apps.uninstall": [{ scope: app, actor: "ana" }],
  reembed: [{ batchSize: 10 }],
  work: [{ kinds: ["facts"] }],
  "jobs.list": [{ tenantId: "acme", limit: 3 }],
  "jobs.retry": [{ id: "extract-1", tenantId: "acme" }],
  "jobs.dismiss": [{ id: "extract-1", tenantId: "acme", actor: "joe", reason: "only a test" }],
  forget: [{ scope, dryRun: true }],
  "erasures.list": [{ tenantId: "acme", limit: 3 }],
  "erasures.receipt": [{ id: "6f1cf3e0-4f5e-4d0e-8d3f-0f1b5a1c2d3e", tenantId: "acme" }],
  "erasures.requests": [{ tenantId: "acme", limit: 3 }],
  export: [{ scope }],
  import: [{ scope, lines: [] }],
  "summaries.list": [{ scope, threadId }],
  "memories.add": [{ scope, memories: draft }],
  "memories.get": [{ scope, id }],
  "memories.list": [{ scope, limit: 3 }],
  "memories.count": [{ scope, kinds: ["fact"] }],
  "memories.update": [{ scope, id, importance: 2 }],
  "memories.remove": [{ scope, id }],
  "memories.restore": [{ scope, id }],
  "memories.approve": [{ scope, id }],
  "memories.confirm": [{ scope, id }],
  "memories.revert": [{ scope, id, to: 1 }],
  "memories.history": [{ scope, id }],
  "procedures.write": [said],
  "notes.list": [{ scope: app, limit: 3 }],
  "notes.count": [{ scope: app }],
  "notes.remove": [{ scope: app, id, actor: "ana" }],
  "notes.purge": [{ scope: app, dryRun: true }],
  "notes.context": [{ scope: app, agent: "planner" }],
  "changes.list": [{ scope, since: 0 }],
  "consolidations.preview": [{ scope }],
  "consolidations.list": [{ scope, status: ["waiting"] }],
  "consolidations.decide": [{ scope, id, decision: "apply" }],
  "consolidations.revert": [{ scope, id }],
  "events.count": [{ scope, by: "op" }],
  "events.list": [{ scope, limit: 3 }],
  "consents.list": [{ scope }],
  "consents.decide": [{ scope, id, decision: "refuse", actor: "ana", evidence: { quote: "no" } }],
  "transcript.search": [{ scope, query: "tea" }],
  "transcript.remove": [{ scope, threadId: "t", messageId: "m" }],
  "transcript.replace": [{ scope, threadId: "t", messageId: "m", text: "tea" }],
  "threads.list": [{ scope }],
  "threads.delete": [{ scope, threadId: "removed" }],
  "threads.end": [{ scope, threadId, reason: "done", afterTurn: false }],
  "threads.shown": [{ scope, threadId }],
  "threads.shownWords": [{ scope, threadId, seq: 0 }],
  "threads.replay": [{ scope, threadId, turn: 1 }],
  "threads.shownTo": [{ scope, memoryId: id }],
  "threads.cost": [{ scope, threadId }],
  "threads.messages": [{ scope, threadId, limit: 3 }],
  "checkpoints.prune": [{ scope, keepLast: 1 }],
  store: [{ scope }],
};

/** Every call of `api` by its path: "memories.add". */
export function callsOf(api: object, path = ""): [path: string, call: Call][] {
  return Object.entries(api).flatMap(([name, member]: [string, unknown]): [string, Call][] => {
    if (typeof member === "function") return [[`${path}${name}`, member as Call]];
    const isApi = typeof member === "object" && member !== null && name !== "policy";
    return isApi ? callsOf(member, `${path}${name}.`) : [];
  });
}

export const callOf = (memory: Memory, path: string) => new Map(callsOf(memory)).get(path) as Call;

/** Runs a call to its end. Returns its error or null. */
export async function errorOf(call: () => unknown): Promise<unknown> {
  try {
    const result = await call();
    // A generator starts with the first read.
    if (typeof result === "object" && result !== null && Symbol.asyncIterator in result)
      for await (const _ of result as AsyncIterable<unknown>);
    return null;
  } catch (error) {
    return error;
  }
}
