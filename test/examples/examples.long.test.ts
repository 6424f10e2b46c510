import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { compiled } from "../support/compiled.js";
import { copyEmbedded } from "../support/copy-embedded.js";
import { useProviders } from "../support/providers/clients.js";
import type { ChatBody } from "../support/providers/openai-chat.js";
import type { Reply } from "../support/providers/provider.js";
import { type Program, runProgram } from "../support/run-program.js";
import { candidate } from "../support/task-model.js";
import { onServer } from "../support/test-database.js";

const examples = resolve(import.meta.dirname, "../../examples");
const start = useProviders();
let folder: string;
let running: Program | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mnemograph-examples-"));
});
afterEach(async () => {
  running?.kill("SIGKILL");
  await running?.exited;
  rmSync(folder, { recursive: true, force: true });
});

const undefinedDatabase = expect.stringMatching(/^mnemograph: `database` is given, but undefined/);
async function printed(name: string, env: Record<string, string> = {}): Promise<string> {
  copyEmbedded(join(folder, ".mnemograph"));
  running = runProgram(compiled(`examples/${name}`), { TMPDIR: folder, ...env }, folder);
  expect(await running.exited, running.output()).toBe(0);
  expect(running.output()).not.toMatch(/\berror\b|warning/i);
  return running.output();
}

// On a server it would be the same again: examples have their own embedded database.
describe.skipIf(onServer())("the examples (embedded only)", () => {
  it("The examples are in the README's table, one by one, and in the package", () => {
    const files = readdirSync(examples).filter((name) => name.endsWith(".ts"));
    const table = readFileSync(join(examples, "README.md"), "utf8");
    const listed = [...table.matchAll(/^\| \[([\w-]+\.ts)\]\(\1\)/gm)].map(([, name]) => name);
    expect(listed.toSorted()).toEqual(files.toSorted());
    expect(JSON.parse(readFileSync(join(examples, "../package.json"), "utf8")).files).toContain(
      "examples",
    );
  });

  it("The examples import by the package's name, and nothing of the repository", () => {
    const files = readdirSync(examples, { recursive: true, encoding: "utf8" });
    for (const file of files.filter((name) => name.endsWith(".ts"))) {
      const imported = [
        ...readFileSync(join(examples, file), "utf8").matchAll(/(?:from|import\() ?"([^"]+)"/g),
      ];
      for (const [, specifier] of imported)
        expect(specifier, file).not.toMatch(/\.\.\/(?:\.\.\/)?src\//);
    }
  });

  it.each([
    [
      "deepagents",
      /tuesday> How do I like my texts\? Look it up\.\nThe file says: [\s\S]*Write short\./,
    ],
    [
      "supervisor",
      /tuesday> What am I allergic to\?\n.*From memory: The user is allergic to peanuts\./,
    ],
    ["ai-sdk", /tuesday> What may I not eat\?\nThe user is allergic to peanuts\./],
  ])(
    "Another conversation of the example %s has what the first one said",
    async (name, expected) => {
      expect(await printed(name)).toMatch(expected);
    },
  );

  it("The example create-agent knows the allergy in another thread, and the city waits for a yes", async () => {
    const output = await printed("create-agent");
    expect(output).toContain(
      "tuesday> What am I allergic to?\n[offline stand-in] From memory: The user is allergic to peanuts.\n",
    );
    expect(output).toContain("remembered: The user is allergic to peanuts.\n");
    expect(output).toContain("waits for a yes: The user lives in Porto.\n");
  });

  it("A custom node of the example state-graph reads recalled memories", async () => {
    const output = await printed("state-graph");
    expect(output).toMatch(/^monday> I prefer short answers\..*\n\(kind\) /m);
    expect(output).toMatch(
      /^tuesday> What is my favourite editor\?\n\(short\) \[offline stand-in\] From memory: favourite.editor: Helix$/m,
    );
  });

  it("The example plain-code has transcript and memories without a graph", async () => {
    const output = await printed("plain-code");
    expect(output).toContain(
      "monday> What is the boat called?\n[offline stand-in] You said: The boat is called Gaivota.\n",
    );
    expect(output).toMatch(
      /^tuesday> What is my favourite tea\?\n\[offline stand-in\] From memory: .*sencha/m,
    );
  });

  it("The entrypoint of the example functional-api remembers", async () => {
    const output = await printed("functional-api");
    expect(output).toMatch(
      /^tuesday> What is my job\?\n\[offline stand-in\] From memory: job: a gardener$/m,
    );
  });

  it("The example with-embeddings finds hits by meaning too", async () => {
    const output = await printed("with-embeddings");
    expect(output).toMatch(/photographs lighthouses\. \(0\.\d\d: .*similar meaning\)/);
    expect(output).toMatch(/sister is called Ida\. \(0\.\d\d: /);
    expect(output).toContain("Memories of before that got a vector: 0\n");
  });

  it("A conversation of the example copy-checkpoints goes on in the database", async () =>
    expect((await printed("copy-checkpoints")).trim().split("\n")).toEqual([
      undefinedDatabase,
      "Hello. | answer 1",
      "{ threads: 1, checkpoints: 3 }",
      "Hello. | answer 1 | Still there? | answer 3",
    ]));

  it("Each tenant's memory in the example shards is in its shard", async () => {
    for (const n of [0, 1]) copyEmbedded(join(folder, `.mnemograph-shards/mnemograph_shard_${n}`));
    expect((await printed("shards")).trim().split("\n")).toEqual([
      "acme is in shard 1: The user sails.",
      "initech is in shard 0: The user climbs.",
      "users in all shards: initech, acme",
    ]);
  });

  it("The example consent-over-rest asks with 202, and goes on with the answer", async () => {
    const output = await printed("consent-over-rest");
    expect(output).toMatch(
      /messages \{"text":"Shall I take an umbrella\?"\}\n202 May this be remembered\? .*Porto/,
    );
    expect(output).toMatch(
      /answers .*"approve".*\n200 \{"answer":"\[offline stand-in\] Noted: Shall I take/,
    );
    expect(output).toMatch(
      /Which city do I live in\?"\}\n200 \{"answer":"\[offline stand-in\] From memory: city: Porto/,
    );
  });

  it("The example consent-over-rest rejects a missing key, an unknown path and invalid JSON", async () => {
    copyEmbedded(join(folder, ".mnemograph"));
    const port = String(20_000 + Math.floor(Math.random() * 20_000));
    running = runProgram(compiled("examples/consent-over-rest"), { PORT: port }, folder);
    await running.printed(`Listening on http://127.0.0.1:${port}`);
    const ask = (path: string, init: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init);
    const headers = { authorization: "Bearer key-of-ana" };
    const post = { method: "POST", body: '{"text":"Hello."}' };
    expect((await ask("/threads/t/messages", post)).status).toBe(401);
    expect((await ask("/elsewhere", { ...post, headers })).status).toBe(404);
    expect((await ask("/threads/t/messages", { ...post, headers, body: "{" })).status).toBe(400);
    expect((await ask("/threads/t/messages", { ...post, headers })).status).toBe(200);
  });

  it("The example next-route streams the answer, and another thread knows what was said", async () => {
    copyEmbedded(join(folder, ".mnemograph"));
    const client = join(folder, "client.mjs");
    writeFileSync(
      client,
      `import { POST } from ${JSON.stringify(compiled("examples/next-route"))};
      const ask = async (thread, body, cookie = "session=session-of-ana") => {
        const request = new Request("http://localhost/api/chat/" + thread, { method: "POST", body, headers: { cookie } });
        const response = await POST(request, { params: Promise.resolve({ thread }) });
        console.log(response.status, await response.text());
      };
      await ask("monday", JSON.stringify({ text: "I am allergic to peanuts." }));
      await ask("tuesday", JSON.stringify({ text: "What am I allergic to?" }));
      await ask("tuesday", JSON.stringify({ text: "Hello?" }), "session=of-nobody");
      await ask("tuesday", "{");
      process.exit();`,
    );
    running = runProgram(client, {}, folder);
    expect(await running.exited, running.output()).toBe(0);
    expect(running.output().trim().split("\n")).toEqual([
      undefinedDatabase,
      "200 [offline stand-in] Noted: I am allergic to peanuts.",
      "200 [offline stand-in] From memory: The user is allergic to peanuts.",
      "401 Who are you?",
      "400 Say something.",
    ]);
  });

  it("The tests in the example unit-test pass", async () => {
    const output = await printed("unit-test");
    for (const pattern of [/pass 3$/m, /fail 0$/m]) expect(output).toMatch(pattern);
  });

  it("A real model's protocol shows create-agent the other thread's allergy, and asks by tool", async () => {
    const none = { reasoning: "none", facts: [] };
    const allergy = candidate("The user is allergic to peanuts.", "I am allergic to peanuts");
    const script: Reply[] = [
      ...["Noted.", { structured: { ...none, facts: [allergy] } }],
      { calls: [{ name: "memory_query", args: { query: "allergic" } }] },
      ...["Peanuts.", { structured: none }],
      ...["I will.", { structured: none }],
    ];
    const { origin, exchanges } = await start("chat completions", (_, index) => script[index]!);
    const env = {
      MODEL: "openai:chat-model",
      OPENAI_API_KEY: "sk-test",
      OPENAI_BASE_URL: `${origin}/v1`,
    };
    expect(await printed("create-agent", env)).toContain(
      "tuesday> What am I allergic to?\nPeanuts.\n",
    );
    const bodies = exchanges.map(({ body }) => body as ChatBody);
    const asked = bodies.filter(({ tools }) => tools?.length === 3);
    expect(asked[0]?.tools?.map((tool) => tool.function.name)).toEqual([
      "memory_consent",
      "memory_query",
      "memory_manage",
    ]);
    expect(JSON.stringify(asked[1]?.messages)).toContain("The user is allergic to peanuts.");
    expect(JSON.stringify(asked[2]?.messages.at(-1))).toContain("allergic to peanuts");
  });
});
