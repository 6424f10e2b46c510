import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { compiled } from "../support/compiled.js";
import { copyEmbedded } from "../support/copy-embedded.js";
import { useProviders } from "../support/providers/clients.js";
import type { ChatBody } from "../support/providers/openai-chat.js";
import type { Reply } from "../support/providers/provider.js";
import { type Program, runProgram } from "../support/run-program.js";
import { onServer } from "../support/test-database.js";

let folder: string;
const start = useProviders();
const running: Program[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mnemograph-chat-test-"));
});
afterEach(async () => {
  for (const program of running.splice(0)) {
    program.kill("SIGKILL");
    await program.exited;
  }
  rmSync(folder, { recursive: true, force: true });
});

function chat(env: Record<string, string> = {}): Program {
  const program = runProgram(compiled("examples/chat"), env, folder);
  running.push(program);
  return program;
}

// On a server they would be the same again: without DATABASE_URL the example has its own embedded
// database.
test.skipIf(onServer())(
  "The chat without a key introduces itself and remembers across turns and restarts (embedded only)",
  async () => {
    copyEmbedded(join(folder, ".mnemograph"));
    const first = chat();
    first.write("My dog is Rex.\n\nPlan a walk.\nThe vet is on Tuesday.\nMy name is Ana.\n");
    await first.printed("· messages 0-7 are summarised");
    first.end();
    expect(await first.exited).toBe(0);

    const lines = first.output().split("\n");
    expect(lines[0]).toBe("Mnemograph: a supervisor, a planner and an executor that remember.");
    expect(first.output()).toMatch(/offline stand-in, not a language model/);
    expect(first.output()).toContain("/help lists the commands");
    expect(lines).toEqual(
      expect.arrayContaining([
        'Thread "chat" of me: 0 messages.',
        "> My dog is Rex.",
        "[offline stand-in] Noted: My dog is Rex.",
        expect.stringMatching(/^· memory: \[Profile\] .*Ana/),
      ]),
    );
    expect(first.output()).toContain(
      "> Plan a walk.\n→ planner: Plan a walk.\n← planner: [offline stand-in] Noted: Plan a walk.\n[offline stand-in] Noted: Plan a walk.\n",
    );
    // Neither what operators log, nor what only a terminal understands.
    expect(first.output()).not.toMatch(/status updated|Summarized/);
    expect(first.output()).not.toContain("\u001b");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);

    const second = chat();
    second.write("/memories\nWhat is my dog?\nWhat do you know about me?\n");
    second.end();
    expect(await second.exited).toBe(0);
    expect(second.output()).toMatch(/^Thread "chat" of me: 10 messages, summary of seq 0-\d/m);
    expect(second.output()).toMatch(/^> \/memories\n1\. \[profile\] (?:preferred )?name: Ana\n/m);
    expect(second.output()).toContain("[offline stand-in] From memory: My dog is Rex.");
    expect(second.output()).toMatch(
      /What do you know about me\?\n\[offline stand-in\] From memory: .*name.*Ana/,
    );
  },
);

test.skipIf(onServer())(
  "Commands list, decide and forget memories, and are not said to the assistant (embedded only)",
  async () => {
    copyEmbedded(join(folder, ".mnemograph"));
    const program = chat({ NO_COLOR: "1" });
    /** What is printed from the line `said` on until `last`. */
    const after = async (said: string, last: string | RegExp) => {
      const from = program.output().length;
      program.write(`${said}\n`);
      await expect.poll(() => program.output().slice(from)).toMatch(last);
      return program.output().slice(from);
    };

    expect(await after("/help", /said to the assistant/)).toMatch(/^\/forget \[number\] +/m);
    await after("/memories", /^Nothing is remembered yet\.$/m);
    await after("/summary", /no summary yet/);
    await after("/consents", /^Nothing waits for your consent\.$/m);
    await after("/forget", /^Nothing is kept of you\.$/m);
    await after("/memory", /There is no command \/memory, and nothing was said\./);
    await after("/forget 7", /There is no memory "7"/);

    await after("I prefer short answers.", /Noted: I prefer/);
    await after("My favourite editor is Helix.", /Noted: My fav/);
    await after("/usr/share is a folder.", /Noted: \/usr\/share/);
    await after("/memories", /^2\. \[preferences\] favourite editor: Helix$/m);
    expect(await after("/summary", /→/)).toMatch(
      /^Messages 0-5:\nRound of seq 0: I prefer short answers\./m,
    );

    await after("/forget 1", /^To be forgotten: The user prefers short answers\.$/m);
    await after("", /It is still remembered/);
    await after("/forget 1", /^To be forgotten/m);
    await after("yes", /^Type "yes" to go on: yes\nForgotten\.$/m);
    expect(await after("/memories", /Helix$/m)).not.toContain("short answers");

    await after("/forget", /for good: [12] memor(?:y|ies), 6 messages\s+and 1\s+conversation/);
    await after("no", /Nothing was erased/);
    await after("/forget", /for good/);
    await after("YES", /Erased\. The conversation begins anew\./);
    await after("/memories", /^Nothing is remembered yet\.$/m);
    await after("What is my favourite editor?", /Noted: What is my favourite editor/);
    program.write("/exit\n");
    expect(await program.exited).toBe(0);
    expect(program.output()).not.toContain("\u001b");
  },
);

test.skipIf(onServer())("/consents lists and decides proposals (embedded only)", async () => {
  copyEmbedded(join(folder, ".mnemograph"));
  // Without it, what users plainly say of themselves is their consent.
  const config = join(folder, "memory.yaml");
  writeFileSync(config, "{ preset: every-round, consent: { ask: queue } }");
  const program = chat({ MNEMOGRAPH_CONFIG: config });
  program.write("I live in Porto.\n");
  await program.printed("one thing waits for /consents");
  program.write("/memories\n/consents\nperhaps\nlater\n/consents\nyes\n/consents\n/memories\n");
  program.end();
  expect(await program.exited).toBe(0);
  const asked = "1 of 1: city: Porto, since you said “I live in Porto”\n";
  const ask = "Remember it? yes, no or later:";
  expect(program.output()).toContain("1 more for you to decide: /consents");
  expect(program.output()).toContain(`> /consents\n${asked}${ask} perhaps\n${ask} later\n`);
  expect(program.output()).toContain(`> /consents\n${asked}${ask} yes\nRemembered.\n`);
  expect(program.output()).toContain("> /consents\nNothing waits for your consent.\n");
  expect(program.output()).toMatch(/> \/memories\n1\. \[profile\] city: Porto\n$/);
});

test.skipIf(onServer())(
  "The chat with a key survives a refused key, a failed summary and Ctrl-C (embedded only)",
  async () => {
    copyEmbedded(join(folder, ".mnemograph"));
    // Facts would use up the script of the endpoint.
    const config = join(folder, "memory.yaml");
    writeFileSync(config, "{ preset: every-round, memories: { extract: false, episodes: false } }");
    // The supervisor's call of its first tool, the planner's answer, the supervisor's; then the
    // summary.
    const script: Reply[] = [
      ...[{ status: 401 }, "Hello Ana."],
      ...[{ structured: { task: "plan" } }, "1. Rest.", "Take a rest.", { status: 400 }],
      ...([{ fault: "stalls" }, "Yes.", { fault: "silent" }] as const),
    ];
    const { origin, exchanges } = await start("chat completions", (_, index) => script[index]!);
    const bodies = () => exchanges.map(({ body }) => body as ChatBody);
    const env = {
      MNEMOGRAPH_CONFIG: config,
      OPENAI_API_KEY: "sk-test",
      OPENAI_BASE_URL: `${origin}/v1`,
      MNEMOGRAPH_CHAT_MODEL: "chat-model",
      MNEMOGRAPH_THREAD: "t1",
      MNEMOGRAPH_USER: "ana",
    };
    const first = chat(env);
    first.write("I am Ana.\nHi?\nPlan my day.\n");
    await first.printed(/^! Work "summaries" .* failed/m);
    first.write("Are you there?\n");
    await expect.poll(() => exchanges.length).toBe(7);
    first.kill("SIGINT");
    expect(await first.exited).toBe(0);

    const lines = first.output().split("\n");
    expect(lines[1]).toBe(
      `You are talking to chat-model at ${new URL(origin).host}; gpt-4.1-mini summarises.`,
    );
    expect(first.output()).toMatch(
      /^The endpoint refused the key \(401[^)]*\)\.\s+Check\s+OPENAI_API_KEY/m,
    );
    expect(lines).toEqual(
      expect.arrayContaining([
        "Hello Ana.",
        "→ planner: plan",
        "← planner: 1. Rest.",
        "Take a rest.",
      ]),
    );
    expect(lines).toContain("· Interrupted: what you said is kept, an unfinished answer is not.");
    expect(first.output()).not.toMatch(/^\s+at /m);
    expect(bodies().map(({ model }) => model)).toEqual([
      ...Array<string>(5).fill("chat-model"),
      "gpt-4.1-mini",
      "chat-model",
    ]);
    expect(bodies()[1]?.stream).toBe(true);

    const second = chat(env);
    second.write("Hello?\n");
    await second.printed("Yes.");
    expect(second.output()).toMatch(/^Thread "t1" of ana: 7 messages\./m);
    const asked = bodies()[7]?.messages.map(({ content }) => content);
    expect(asked?.slice(-3)).toEqual(["Take a rest.", "Are you there?", "Hello?"]);

    // The summary hangs: the end of input waits for it, Ctrl-C does not.
    await expect.poll(() => exchanges.length).toBe(9);
    second.end();
    await second.printed("Finishing background work");
    second.kill("SIGINT");
    expect(await second.exited).toBe(130);
  },
);

test.each([
  [
    "a database that is down",
    "postgresql://postgres@127.0.0.1:1/postgres",
    "The database does not answer",
  ],
  ["something that is no database", "localhost", "must start with postgresql://"],
])("The chat names %s plainly", async (_, DATABASE_URL, message) => {
  const program = chat({ DATABASE_URL });
  expect(await program.exited).toBe(1);
  expect(program.output().replaceAll(/\s+/g, " ")).toContain(message);
  expect(program.output()).not.toMatch(/^\s+at /m);
});
