import { existsSync, lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HumanMessage } from "@langchain/core/messages";
import { beforeAll, describe, expect, it } from "vitest";
import { useCommandLine } from "../support/command-line.js";
import { useTestDatabase } from "../support/test-database.js";

const { folder, run, withMemory } = useCommandLine(useTestDatabase());
const odd = `a:b%_'";$(x) 日本`;
const ana = [`--user=${odd}`, "--tenant=acme"];
const scope = { tenantId: "acme", userId: odd };

beforeAll(async () => {
  await withMemory(async (memory) => {
    const drafts = Array.from({ length: 600 }, (_, index) => ({
      text: `Knows that number ${index} is odd.`,
    }));
    await memory.memories.add({ scope, memories: drafts });
    await memory.record({ scope, threadId: "t", messages: [new HumanMessage("hello")] });
    await memory.memories.add({ scope: { userId: "ben" }, memories: { text: "Ben plays chess." } });
  });
});

describe("mnemograph export and import", () => {
  it("`mnemograph export` and `import` write lines and read them again", async () => {
    const printed = await run(["export", ...ana]);
    expect(printed).toMatchObject({ code: 0, err: "" });
    const lines = printed.out.split("\n");
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ type: "header", scope });
    expect(JSON.parse(lines.at(-1) ?? "")).toEqual({ type: "end", lines: lines.length - 1 });

    const taken = await run(["import", "-"], { input: printed.out });
    expect(taken).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringMatching(/The scope has data/),
    });
    expect(await run(["forget", ...ana, "--yes"])).toMatchObject({ code: 0, err: "" });
    const piped = await run(["import", "-"], { input: printed.out });
    expect(piped).toMatchObject({ code: 0, err: "" });
    const counted = `^Imported ${lines.length - 2} of ${lines.length} lines\\.\n.*memory +600$`;
    expect(piped.out).toMatch(new RegExp(counted, "ms"));
    const again = await run(["import", "-", "--json"], { input: printed.out });
    expect(JSON.parse(again.out)).toMatchObject({
      scope,
      lines: lines.length,
      written: {},
      total: 0,
    });
  });

  it("An exported file is its owner's alone, and nothing else is written", async () => {
    const out = join(folder, "private.jsonl");
    writeFileSync(join(folder, "victim"), "kept", { mode: 0o644 });
    symlinkSync(join(folder, "victim"), out);
    symlinkSync(join(folder, "victim"), `${out}.part`);
    const saved = await run(["export", ...ana, "--out", "private.jsonl"]);
    expect(saved).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Exported \d+ lines to private.jsonl\.$/),
    });
    expect(readFileSync(out, "utf8")).toMatch(/"type":"end","lines":\d+\}\n$/);
    expect(statSync(out).mode & 0o777).toBe(0o600);
    expect([lstatSync(out).isSymbolicLink(), existsSync(`${out}.part`)]).toEqual([false, false]);
    expect(readFileSync(join(folder, "victim"), "utf8")).toBe("kept");
  });

  it("An export ends quietly when nobody reads on", async () => {
    const { code, out, err } = await run(["export", ...ana], { readBytes: 100 });
    expect([code, err]).toEqual([1, ""]);
    expect(out.length).toBeLessThan(500_000);
  });

  it("An export or import says what is wrong in one line, and leaves no half file", async () => {
    writeFileSync(
      join(folder, "bad.jsonl"),
      '{"type":"header","format":"mnemograph","version":7}\n',
    );
    for (const [args, code, problem] of [
      [
        ["import", "bad.jsonl"],
        2,
        /^mnemograph: Line 1: the export has version 7, .*: update the package\.$/,
      ],
      [["import", "none.jsonl"], 2, /^mnemograph: none\.jsonl cannot be read: ENOENT/],
      [["import", "."], 2, /^mnemograph: \. cannot be read: EISDIR/],
      [["import"], 2, /^error: missing required argument 'file'/],
      [["export", ...ana, "--out", "no/such/folder"], 1, /^mnemograph: ENOENT/],
      [["export"], 2, /^mnemograph: Say whose memory: --user ID, --app ID/],
    ] as const)
      expect(await run(args)).toMatchObject({ code, out: "", err: expect.stringMatching(problem) });
  });
});

describe("mnemograph forget", () => {
  it("`mnemograph forget` shows what would go, asks for --yes, and deletes only then", async () => {
    const preview = await run(["forget", ...ana, "--dry-run", "--json"]);
    const removed = { memory: 600, thread: 1, message: 1, owner: 1 };
    expect(JSON.parse(preview.out)).toMatchObject({ removed });
    const refused = await run(["forget", ...ana]);
    expect(refused).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringMatching(/^mnemograph: .*add --yes/),
    });
    const forgotten = await run(["forget", ...ana, "--yes"]);
    expect(forgotten).toMatchObject({ code: 0, err: "" });
    expect(forgotten.out).toMatch(/^Forgot \d{4} rows\.$[\s\S]*^memory +600$/m);
    expect((await run(["forget", ...ana, "--yes"])).out).toBe("Forgot 0 rows.");
    expect(
      await withMemory((memory) => memory.memories.list({ scope: { userId: "ben" } })),
    ).toHaveLength(1);
  });

  it("`mnemograph forget` deletes a conversation, and what was learned in it only when told to", async () => {
    const scope = { userId: "dora" };
    await withMemory(async (memory) => {
      for (const threadId of ["trip", "work"]) {
        await memory.record({ scope, threadId, messages: [new HumanMessage(`about ${threadId}`)] });
        const draft = { text: `Dora spoke of ${threadId}.`, source: { threadId, seqs: [0] } };
        await memory.memories.add({ scope, memories: draft });
      }
    });
    const known = () => withMemory((memory) => memory.memories.list({ scope }));
    expect(await run(["forget", "--user=dora", "--thread=none", "--yes"])).toMatchObject({
      code: 1,
    });
    expect(await run(["forget", "--user=dora", "--with-memories", "--yes"])).toMatchObject({
      code: 2,
    });
    const kept = await run(["forget", "--user=dora", "--thread=trip", "--yes"]);
    expect(kept.out).toMatch(/^thread +1$/m);
    expect(await known()).toHaveLength(2);
    await run(["forget", "--user=dora", "--thread=work", "--with-memories", "--yes"]);
    expect(await known()).toMatchObject([{ text: "Dora spoke of trip.", source: null }]);
  });
});
