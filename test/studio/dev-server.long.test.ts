import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DevServer, repository, startDevServer, useFreshDatabases } from "./dev-server.js";

type State = { readonly messages: { type: string; content: string }[] };

type Question = { readonly type: string; readonly proposals: { id: string; proposal: string }[] };

/** What the dev server would write into the folder of its configuration. */
const leftInRepository = () => ({
  gitignore: readFileSync(join(repository, ".gitignore"), "utf8"),
  state: statSync(join(repository, ".langgraph_api"), { throwIfNoEntry: false })?.mtimeMs,
});
const before = leftInRepository();

const freshDatabase = useFreshDatabases();
let server: DevServer;
beforeAll(async () => {
  server = await startDevServer({ DATABASE_URL: await freshDatabase(), OPENAI_API_KEY: undefined });
});
afterAll(() => server?.stop());

const newThread = async () =>
  (await server.call<{ thread_id: string }>("POST", "/threads", {})).thread_id;
const input = (content: string) => ({ messages: [{ role: "user", content }] });

/** The events of memory while `content` is said. */
async function say(graph: string, threadId: string, content: string, more: object = {}) {
  const events = await server.stream(`/threads/${threadId}/runs/stream`, {
    assistant_id: graph,
    input: input(content),
    stream_mode: ["custom", "values"],
    ...more,
  });
  expect(events.filter(({ event }) => event === "error")).toEqual([]);
  const memory = events.flatMap(({ event, data }) =>
    event === "custom" ? [data as Record<string, unknown>] : [],
  );
  const state = events.findLast(({ event }) => event === "values")?.data as State;
  return {
    recalled: memory.find(({ type }) => type === "memory.recall")!,
    remembered: memory.find(({ type }) => type === "memory.remember")!,
    answer: state.messages.at(-1)!.content,
  };
}

describe("the graphs in Studio's dev server", () => {
  it("The dev server lists the graphs", async () => {
    const assistants = await server.call<{ graph_id: string }[]>("POST", "/assistants/search", {});
    expect(assistants.map((assistant) => assistant.graph_id).sort()).toEqual(
      "assistant compaction compression consolidation extraction insights note summarization supervisor".split(
        " ",
      ),
    );
    expect(server.output()).toContain("offline stand-in, not a language model");
  });

  it.each([
    [
      "assistant",
      [
        "memory.recall",
        "memory.consent",
        "assistant:model_request",
        "assistant:tools",
        "memory.remember",
      ],
    ],
    [
      "supervisor",
      [
        "memory.recall",
        "supervisor:model_request",
        "supervisor:tools:planner",
        "supervisor:tools:executor",
        "memory.remember",
      ],
    ],
    ["summarization", ["load", "ask", "check", "save"]],
    ["extraction", ["load", "ask", "check", "save"]],
    ["compression", ["load", "ask", "check", "save"]],
    ["note", ["load", "ask", "check", "save", "compaction"]],
    ["compaction", ["load", "ask", "check", "save"]],
    ["insights", ["load", "ask", "check", "save"]],
    ["consolidation", ["load", "ask", "check", "save"]],
  ])("The dev server draws the graphs with their inner nodes: %s", async (graph, expected) => {
    const { nodes } = await server.call<{ nodes: { id: string }[] }>(
      "GET",
      `/assistants/${graph}/graph?xray=true`,
    );
    const ids = nodes.map(({ id }) => id);
    for (const id of expected)
      expect(
        ids.some((drawn) => drawn === id || drawn.startsWith(`${id}:`)),
        id,
      ).toBe(true);
  });

  it.each(["assistant", "supervisor"])(
    "The graphs have messages in their input schema: %s",
    async (graph) => {
      const { input_schema } = await server.call<{ input_schema: unknown }>(
        "GET",
        `/assistants/${graph}/schemas`,
      );
      expect(JSON.stringify(input_schema)).toContain('"messages"');
      expect(JSON.stringify(input_schema)).not.toContain("mnemograph");
    },
  );

  it.each(["assistant", "supervisor"])(
    "The graphs remember a conversation over REST: %s",
    async (graph) => {
      const threadId = await newThread();
      const first = await server.call<State>("POST", `/threads/${threadId}/runs/wait`, {
        assistant_id: graph,
        input: input("My dog is called Rex."),
      });
      expect(first.messages.map(({ type }) => type)).toEqual(["human", "ai"]);
      for (const text of ["I work as a cook.", "My sister is called Ida.", "I like tea."])
        await server.call("POST", `/threads/${threadId}/runs/wait`, {
          assistant_id: graph,
          input: input(text),
        });
      // The summary is made in the background after the third round; it is there soon, if not at
      // once.
      let round = await say(graph, threadId, "What is my dog called?");
      while (round.recalled.summaryId === null)
        round = await say(graph, threadId, "What is my dog called?");
      expect(round.recalled).toMatchObject({ status: "ok", summaryId: expect.any(Number) });
      expect(round.remembered).toMatchObject({ status: "ok", recorded: 2 });
      for (const text of ["Rex", "From memory"]) expect(round.answer).toContain(text);
    },
  );

  it("The assistant asks the user before it remembers a city, and takes the answer over REST", async () => {
    const threadId = await newThread();
    const run = { assistant_id: "assistant", context: { userId: "carla" } };
    const wait = (body: object) =>
      server.call<State>("POST", `/threads/${threadId}/runs/wait`, { ...run, ...body });
    const asked = async () => {
      const { tasks } = await server.call<{ tasks: { interrupts: { value: Question }[] }[] }>(
        "GET",
        `/threads/${threadId}/state`,
      );
      return tasks.flatMap(({ interrupts }) => interrupts.map(({ value }) => value));
    };
    await wait({ input: input("I live in Rome.") });
    // What was said is read in the background; the first turn after that asks.
    let questions: Question[] = [];
    for (let turn = 0; turn < 20 && questions.length === 0; turn++) {
      await wait({ input: input("I live in Rome.") });
      questions = await asked();
    }
    const [question, ...others] = questions;
    expect([question?.type, question?.proposals.map(({ proposal }) => proposal), others]).toEqual([
      ...["memory.consent", ["city: Rome"], []],
    ]);

    const decisions = question!.proposals.map(({ id }) => ({ id, decision: "approve" }));
    expect((await wait({ command: { resume: { decisions } } })).messages.at(-1)).toMatchObject({
      type: "ai",
    });
    expect(await asked()).toEqual([]);
    const { answer } = await say("assistant", await newThread(), "In which city do I live?", run);
    for (const text of ["Rome", "From memory"]) expect(answer).toContain(text);
  });

  it("The dev server keeps users apart, and refuses a thread of another user", async () => {
    const threadId = await newThread();
    await say("assistant", threadId, "Hello.", { context: { userId: "ana" } });
    const events = await server.stream(`/threads/${threadId}/runs/stream`, {
      assistant_id: "assistant",
      input: input("Hello?"),
      stream_mode: ["values"],
      config: { configurable: { user_id: "bob" } },
    });
    expect(JSON.stringify(events.find(({ event }) => event === "error")?.data)).toContain(
      "belongs to another scope",
    );
  });

  it("The summarization graph summarises one conversation on request, and background work goes on", async () => {
    const threadId = await newThread();
    for (const text of ["One.", "Two.", "Three."]) await say("assistant", threadId, text);
    const done = await server.call<{ status: string }>("POST", "/runs/wait", {
      assistant_id: "summarization",
      input: { scope: { appId: "studio" }, threadId },
    });
    expect(["completed", "skipped"]).toContain(done.status);
    let round = await say("assistant", threadId, "Four.");
    const { summaryId } = round.recalled;
    while (round.recalled.summaryId === summaryId)
      round = await say("assistant", threadId, "More.");
    expect(round.recalled.summaryId).toBeGreaterThan(Number(summaryId));
  });
});

describe("the dev server's `http.app`", () => {
  it("The http.app shows the inspector what the server's process remembers, and takes no route of the server", async () => {
    await say("assistant", await newThread(), "Hello.", { context: { userId: "ivy" } });
    const { users } = await server.call<{ users: { scope: object }[] }>("GET", "/memory/users");
    expect(users.map(({ scope }) => scope)).toContainEqual({ userId: "ivy" });
    expect(await server.status("GET", "/memory/inspector/")).toBe(200);
    expect(await newThread()).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("authenticated users of the dev server", () => {
  let own: DevServer;
  beforeAll(async () => {
    const page = readFileSync(join(repository, "docs/agent-server.md"), "utf8");
    const [, auth] = /^```ts\n(\/\/ auth\.ts\n[\s\S]*?)^```$/m.exec(page)!;
    own = await startDevServer(
      { DATABASE_URL: await freshDatabase(), OPENAI_API_KEY: undefined },
      auth,
    );
  });
  afterAll(() => own?.stop());

  const [ana, bob] = ["Bearer anas-token", "Bearer bobs-token"];
  const call = <Body>(
    who: string,
    method: "GET" | "POST" | "DELETE",
    path: string,
    body?: unknown,
  ) => own.call<Body>(method, path, body, who);
  const thread = async (who: string) =>
    (await call<{ thread_id: string }>(who, "POST", "/threads", {})).thread_id;
  const run = (who: string, threadId: string, body: object) =>
    call<State & { __error__?: { message: string }; __interrupt__?: { value: Question }[] }>(
      ...([
        who,
        "POST",
        `/threads/${threadId}/runs/wait`,
        { assistant_id: "assistant", ...body },
      ] as const),
    );
  const ask = async (who: string, threadId: string, content: string) =>
    (await run(who, threadId, { input: input(content) })).messages.at(-1)?.content;
  /** Says it until the background work has what `found` looks for. */
  const until = async <Found>(turn: () => Promise<Found>, found: (value: Found) => boolean) => {
    let last = await turn();
    for (let turns = 1; turns < 20 && !found(last); turns++) last = await turn();
    return last;
  };

  it("An authenticated user has their own memory in another thread, none of it in the state, none of others'", async () => {
    const first = await thread(ana);
    await ask(ana, first, "I am allergic to cashews.");
    const second = await thread(ana);
    const question = "What am I allergic to?";
    const answer = await until(
      () => ask(ana, second, question),
      (text) => text?.includes("From memory") === true,
    );
    // The fact, or Ana's own words while no extraction has read them.
    expect(answer).toMatch(/From memory: .*allergic to cashews\./);
    const state = await own.text("GET", `/threads/${second}/state`, ana);
    expect(state).toContain(question);
    expect(state).not.toMatch(/Long-term Memory|## User Profile/);
    expect(await ask(bob, await thread(bob), question)).not.toContain("cashews");
    expect([
      await own.status("GET", `/threads/${first}/state`, bob),
      await own.status("DELETE", `/threads/${first}`, bob),
    ]).toEqual([404, 404]);
    for (const named of [
      { context: { userId: "ana" } },
      { config: { configurable: { user_id: "ana" } } },
    ]) {
      const refused = await run(bob, await thread(bob), { input: input(question), ...named });
      expect(refused.__error__?.message).toContain("Whose run this is, is ambiguous");
    }
    // First the server's threads, then memory: a thread that went on would bring back what was
    // said.
    const threads = await call<{ thread_id: string }[]>(ana, "POST", "/threads/search", {
      metadata: { owner: "ana" },
    });
    for (const { thread_id } of threads) await own.status("DELETE", `/threads/${thread_id}`, ana);
    await call(ana, "POST", "/memory/forget?userId=ana", {});
    const again = await run(ana, first, { input: input(question), if_not_exists: "create" });
    expect(again.messages).toHaveLength(2);
    expect(again.messages.at(-1)?.content).not.toContain("cashews");
  });

  it("An authenticated user resumes their own question of consent, and its answer is known in another thread", async () => {
    const threadId = await thread(bob);
    const asked = await until(
      () => run(bob, threadId, { input: input("I live in Rome.") }),
      (state) => state.__interrupt__ !== undefined,
    );
    const decisions = asked.__interrupt__![0]!.value.proposals.map(({ id }) => ({
      id,
      decision: "approve",
    }));
    const resumed = { assistant_id: "assistant", command: { resume: { decisions } } };
    expect(await own.status("POST", `/threads/${threadId}/runs/wait`, ana, resumed)).toBe(404);
    expect((await run(bob, threadId, resumed)).messages.at(-1)).toMatchObject({ type: "ai" });
    expect(await ask(bob, await thread(bob), "In which city do I live?")).toContain("Rome");
  });
});

it("The dev server leaves the repository as it was", () => {
  expect(before.gitignore).toContain(".langgraph_api");
  expect(leftInRepository()).toEqual(before);
});
