import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { compiled } from "../support/compiled.js";
import { copyEmbedded } from "../support/copy-embedded.js";
import { type OpenAIStub, startOpenAIStub } from "../support/openai-stub.js";
import { type Program, runProgram } from "../support/run-program.js";
import { onServer } from "../support/test-database.js";

let folder: string;
let stub: OpenAIStub;
const running: Program[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "mnemograph-chat-test-"));
  stub = await startOpenAIStub();
});
afterEach(async () => {
  for (const program of running.splice(0)) {
    program.kill("SIGKILL");
    await program.exited;
  }
  await stub.close();
  rmSync(folder, { recursive: true, force: true });
});

function chat(env: Record<string, string> = {}): Program {
  const program = runProgram(compiled("examples/chat"), env, folder);
  running.push(program);
  return program;
}

// On a server they would be the same again: without DATABASE_URL the example has its own embedded database.
test.skipIf(onServer())(
  "offline: says what it is, remembers over rounds and restarts, shows what happens in the background (embedded only)",
  async () => {
    copyEmbedded(join(folder, ".mnemograph"));
    const first = chat();
    first.write("My dog is Rex.\n\nPlan a walk.\nThe vet is on Tuesday.\nMy name is Ana.\n");
    await first.printed("Memory 1 status updated to completed");
    first.end();
    expect(await first.exited).toBe(0);

    const lines = first.output().split("\n");
    expect(lines[0]).toMatch(/offline stand-in, not a language model/);
    expect(lines).toEqual(
      expect.arrayContaining([
        "> My dog is Rex.",
        "[offline stand-in] Noted: My dog is Rex.",
        "→ planner: Plan a walk.",
        "← planner: [offline stand-in] Noted: Plan a walk.",
        "· Memory 1 status updated to processing",
        expect.stringMatching(/^· Summarized messages 0-5 for chat in \d+ms$/),
        expect.stringMatching(/^· Finishing background work/),
      ]),
    );

    const second = chat();
    second.write("/memories\nWhat is my dog?\n");
    second.end();
    expect(await second.exited).toBe(0);
    expect(second.output()).toMatch(/^Thread "chat" of me: 10 messages, summary of seq 0-\d/m);
    expect(second.output()).toContain("> /memories\n- [profile] name: Ana\n");
    expect(second.output()).toContain("[offline stand-in] From memory: My dog is Rex.");
  },
);

test.skipIf(onServer())(
  "with a key: streams, survives a refused key and a failed summary; Ctrl-C loses nothing (embedded only)",
  async () => {
    copyEmbedded(join(folder, ".mnemograph"));
    // Facts would use up the script of the endpoint.
    const config = join(folder, "memory.yaml");
    writeFileSync(config, "memories: { extract: false, episodes: false }");
    const env = {
      MNEMOGRAPH_CONFIG: config,
      OPENAI_API_KEY: "sk-test",
      OPENAI_BASE_URL: stub.baseURL,
      MNEMOGRAPH_CHAT_MODEL: "chat-model",
      MNEMOGRAPH_THREAD: "t1",
      MNEMOGRAPH_USER: "ana",
    };
    stub.enqueue({ status: 401 }, { text: "Hello Ana." });
    // The supervisor's call of its first tool, the planner's answer, the supervisor's; then the summary.
    stub.enqueue(
      { structured: { task: "plan" } },
      { text: "1. Rest." },
      { text: "Take a rest." },
      { status: 400 },
    );
    const first = chat(env);
    first.write("I am Ana.\nHi?\nPlan my day.\n");
    await first.printed("Summarizing messages 0-6 for t1 failed");
    stub.enqueue("stall");
    first.write("Are you there?\n");
    await expect.poll(() => stub.requests.length).toBe(7);
    first.kill("SIGINT");
    expect(await first.exited).toBe(0);

    const lines = first.output().split("\n");
    expect(lines[0]).toBe(
      `You are talking to chat-model at ${new URL(stub.baseURL).host}; gpt-4.1-mini summarises.`,
    );
    expect(lines).toContainEqual(
      expect.stringMatching(/^The endpoint refused the key \(401.*\)\. Check OPENAI_API_KEY/),
    );
    expect(lines).toEqual(
      expect.arrayContaining(["Hello Ana.", "→ planner: plan", "← planner: 1. Rest.", "Take a rest."]),
    );
    expect(lines).toContain("· Interrupted: what you said is kept, an unfinished answer is not.");
    expect(first.output()).not.toMatch(/^\s+at /m);
    expect(stub.requests.map(({ body }) => body.model)).toEqual([
      ...Array<string>(5).fill("chat-model"),
      "gpt-4.1-mini",
      "chat-model",
    ]);
    expect(stub.requests[1]?.body.stream).toBe(true);

    stub.enqueue({ text: "Yes." }, "silent");
    const second = chat(env);
    second.write("Hello?\n");
    await second.printed("Yes.");
    expect(second.output()).toMatch(/^Thread "t1" of ana: 7 messages\./m);
    const asked = stub.requests[7]?.body.messages.map(({ content }) => content);
    expect(asked?.slice(-3)).toEqual(["Take a rest.", "Are you there?", "Hello?"]);

    // The summary hangs: the end of input waits for it, Ctrl-C does not.
    await expect.poll(() => stub.requests.length).toBe(9);
    second.end();
    await second.printed("Finishing background work");
    second.kill("SIGINT");
    expect(await second.exited).toBe(130);
  },
);

test.each([
  ["a database that is down", "postgresql://postgres@127.0.0.1:1/postgres", "The database does not answer"],
  ["something that is no database", "localhost", "must start with postgresql://"],
])("%s is named plainly", async (_, DATABASE_URL, message) => {
  const program = chat({ DATABASE_URL });
  expect(await program.exited).toBe(1);
  expect(program.output()).toContain(message);
  expect(program.output()).not.toMatch(/^\s+at /m);
});
