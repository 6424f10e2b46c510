import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HumanMessage } from "@langchain/core/messages";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { useCommandLine } from "../support/command-line.js";
import { compiled } from "../support/compiled.js";
import { onServer, useTestDatabase } from "../support/test-database.js";

const { folder, run, runOn, schema, withMemory } = useCommandLine(useTestDatabase());
const embeddings = compiled("test/support/embeddings-module");
const odd = `a:b%_'";$(x) 日本 -- \u202e`;
const message = "I told you about my green tea.\n\u001b[31mIn red.";
let id = "";

beforeAll(async () => {
  await withMemory(async (memory) => {
    const scope = { userId: odd, tenantId: odd };
    const draft = { text: "Ana prefers green tea.", importance: 4 };
    const [written] = await memory.memories.add({ scope, memories: draft });
    id = written?.id ?? "";
    await memory.memories.update({ scope, id, text: "Ana prefers green tea in the morning." });
    await memory.memories.add({
      scope: { userId: "other" },
      memories: { text: "Ana plays chess.", kind: "fact" },
    });
    await memory.record({
      scope,
      threadId: "t 1",
      messages: [new HumanMessage({ id: "m", content: message })],
    });
  });
});

const ana = [`--user=${odd}`, `--tenant=${odd}`];

describe("mnemograph search", () => {
  it("`mnemograph search` prints memories of the scope, one a line, or as JSON", async () => {
    const found = await run(["search", "green tea", ...ana]);
    expect(found).toMatchObject({ code: 0, err: "" });
    const line = /^\d\.\d\d {2}\S{36} {2}fact {2}\w+ {2}Ana prefers green tea in the morning\.$/;
    expect(found.out).toMatch(line);
    const hits = JSON.parse((await run(["search", "green tea", ...ana, "--json"])).out);
    expect(hits).toMatchObject([
      { memory: { id, importance: 4, scope: { userId: odd, tenantId: odd } } },
    ]);
    expect(await run(["search", "chess", ...ana])).toEqual({
      code: 0,
      out: "Nothing fits.",
      err: "",
    });
    expect((await run(["search", "chess", "--user", "other"])).out).toContain("Ana plays chess.");
  });

  it("`mnemograph search --as-of` prints the text of that time, and `call` lists it", async () => {
    const [, before = ""] = await withMemory(async (memory) => {
      const scope = { userId: odd, tenantId: odd };
      const entries = await memory.memories.history({ scope, id });
      return entries.map(({ at }) => at.toISOString());
    });
    const then = await run(["search", "green tea", ...ana, "--as-of", before]);
    expect(then.out).toMatch(/Ana prefers green tea\.$/);
    expect(await run(["search", "green tea", ...ana, "--as-of", "2001-01-01"])).toMatchObject({
      code: 0,
      out: "Nothing fitted then.",
    });
    const json = JSON.stringify({ asOf: { knownAt: before } });
    const listed = JSON.parse((await run(["call", "listMemories", ...ana, "--json", json])).out);
    expect(listed).toMatchObject({
      memories: [{ id, text: "Ana prefers green tea." }],
      complete: true,
    });
  });

  it("`mnemograph search` prints messages on one line each, without control characters", async () => {
    const found = await run(["search", "tea", ...ana, "--transcript"]);
    expect(found).toMatchObject({ code: 0, err: "" });
    expect(found.out).toMatch(
      / {2}t 1#0 {2}user {2}I told you about my green tea\. \ufffd\[31mIn red\.$/,
    );
    expect(found.out.split("\n")).toHaveLength(1);
    const hits = JSON.parse((await run(["search", "tea", ...ana, "--transcript", "--json"])).out);
    expect(hits).toMatchObject([{ text: message, seq: 0, threadId: "t 1" }]);
  });
});

describe("mnemograph reembed", () => {
  it("`mnemograph reembed` asks for the tables of vectors, fills them, and then has nothing to do", async () => {
    const command = ["reembed", "--embeddings", embeddings];
    const before = await run(command);
    expect(before.code).toBe(1);
    expect(before.err).toMatch(
      /^mnemograph: .*`npx @mnemograph\/server migrate --vectors` once\.$/,
    );
    expect((await run(["migrate", "--vectors"])).code).toBe(0);
    expect(await run(command)).toEqual({
      code: 0,
      out: "Embedded 2 texts in hashing-1 (32 dimensions).",
      err: "",
    });
    const again = await run([...command, "--json"]);
    expect(again.err).toBe("");
    expect(JSON.parse(again.out)).toEqual({
      space: "hashing-1",
      dimensions: 32,
      embedded: 0,
      remaining: 0,
    });
    const byMeaning = await run([
      "search",
      "tea in the mornings",
      ...ana,
      "--embeddings",
      embeddings,
    ]);
    expect(byMeaning).toMatchObject({ code: 0, err: "" });
  });

  it("`mnemograph reembed` says in one line what is wrong with a module", async () => {
    writeFileSync(join(folder, "nothing.mjs"), "export default 1;");
    for (const [module, problem] of [
      ["./nothing.mjs", /^.*nothing\.mjs exports no embeddings: export an instance.*$/],
      ["./missing.mjs", /^.*missing\.mjs cannot be loaded: Cannot find.*$/],
      ["no-such-package", /^.*no-such-package cannot be loaded: Cannot find.*$/],
    ] as const) {
      const ended = await run(["reembed", "--embeddings", module]);
      expect(ended).toMatchObject({ code: 2, out: "", err: expect.stringMatching(problem) });
    }
  });
});

describe("wrong uses of mnemograph", () => {
  it.concurrent.each<[string[], RegExp]>([
    [["search", "tea"], /^mnemograph: Say whose memory: --user ID, --app ID.*$/],
    [["search", "x", "--user", " "], /^mnemograph: Invalid scope: userId must not be blank.*$/],
    [["search", "--user", "ana"], /^error: missing required argument 'query'$/],
    [["reembed"], /^mnemograph: reembed needs --embeddings.*$/],
    [["search", "tea", "--user", "ana", "--top-k", "0"], /^error: .*whole number from 1 to 200.*$/],
  ])(
    "A wrong use of a command is explained in one line and ends with 2: %j",
    async (args, problem) => {
      expect(await run(args)).toMatchObject({
        code: 2,
        out: "",
        err: expect.stringMatching(problem),
      });
    },
    60_000,
  );

  it("A command without tables names `mnemograph migrate`, and makes nothing", async () => {
    const empty = onServer()
      ? ["--database", inject("databaseUrl") ?? "", "--schema", `${schema}_none`]
      : ["--data-dir", "none", "--schema", schema];
    for (const args of [
      ["search", "tea", "--user", "ana"],
      ["call", "listThreads", "--user", "ana"],
      ["reembed", "--embeddings", embeddings],
    ]) {
      const { code, out, err } = await runOn([...args, ...empty]);
      expect([code, out]).toEqual([1, ""]);
      expect(err).toMatch(/^mnemograph: .*npx @mnemograph\/server migrate/);
    }
    expect(existsSync(join(folder, "none"))).toBe(false);
  });
});
