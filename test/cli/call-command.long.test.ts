import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { prepareOperation } from "../../packages/server/src/cli/call-operation.js";
import { operationList } from "../../packages/server/src/operations/operations.js";
import { OfflineChatModel } from "../../src/testing/index.js";
import { useCommandLine } from "../support/command-line.js";
import { compiled } from "../support/compiled.js";
import { fillSample, namedFor, sampleOf } from "../support/sample-requests.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const { folder, run, withMemory } = useCommandLine(db);
const scope = { userId: "ana", appId: "shop" };
const ana = ["--user", "ana", "--app", "shop"];
let ids: Awaited<ReturnType<typeof fillSample>>;

beforeAll(async () => {
  ids = await withMemory((memory) => fillSample(memory, scope));
});

describe("mnemograph call", () => {
  it("`mnemograph call` lists every operation, and says what one takes", async () => {
    for (const args of [["call"], ["call", "--help"]]) {
      const lines = (await run(args)).out.split("\n").map((line) => line.trim().split(/ {2,}/));
      expect(lines).toEqual(
        expect.arrayContaining(operationList.map(([name, { does }]) => [name, does])),
      );
    }
    const { out } = await run(["call", "listMemories", "--help"]);
    expect(out).toMatch(/^listMemories: Memories, newest first.*GET \/memories[\s\S]*"contains"/);
  });

  it("`mnemograph call` reaches every operation, as an operator whose name is in the audit trail", async () => {
    const receipts = { idKey: "a secret that is in no table, of 40 letters" };
    const memory = db.memory({ model: new OfflineChatModel(), config: { receipts } });
    const known = await fillSample(memory, scope);
    const printed = vi.spyOn(console, "log").mockReturnValue();
    const last = ["purgeAppMemories", "uninstallApp", "deleteThread"];
    const ordered = operationList.toSorted(
      ([one], [other]) => last.indexOf(one) - last.indexOf(other),
    );
    for (const [name, operation] of ordered.filter(([, { lines }]) => lines === undefined)) {
      const { input, status = 200 } = sampleOf(name, known);
      const json = JSON.stringify({ ...namedFor(operation, scope), ...input });
      const done = await prepareOperation(name, json, {}, { role: "operator", actor: "joe" });
      if (status === 404)
        await expect(done(memory), name).rejects.toMatchObject({ code: "NOT_FOUND" });
      else await done(memory);
      const answer = JSON.parse(printed.mock.lastCall?.[0]);
      if (status === 200) expect(operation.answer.safeParse(answer).error, name).toBeUndefined();
    }
    printed.mockRestore();
    const actors = await memory.memories.history({ scope, id: known.id });
    expect(actors.map(({ actor }) => actor)).toContain("joe");
  });

  it("`mnemograph call` writes lines to standard output, and reads them or JSON from standard input", async () => {
    const { out, code } = await run(["call", "export", ...ana]);
    expect([code, JSON.parse(out.split("\n")[0] ?? "").type]).toEqual([0, "header"]);
    const imported = await run(["call", "import"], { input: ids.exported });
    expect(JSON.parse(imported.out)).toMatchObject({ total: 0 });
    const json = JSON.stringify({ userId: "ben", memories: [{ text: "Ben plays chess." }] });
    expect((await run(["call", "addMemories", "--json", "-"], { input: json })).code).toBe(0);
    const page = '{"limit":1,"kinds":["fact"]}';
    const listed = await run(["call", "listMemories", "--user", "ben", "--json", page]);
    expect(JSON.parse(listed.out)).toMatchObject({ memories: [{ text: "Ben plays chess." }] });
  });

  it.each<[string[], number, RegExp]>([
    [["merge"], 2, /^mnemograph: There is no operation "merge"\. There are: recall, /],
    [["listMemory"], 2, /There is no operation "listMemory": did you mean "listMemories"\?$/],
    // Not the one that writes alone.
    [
      ["memories"],
      2,
      /: did you mean "listMemories", "countMemories", "addMemories", .*or "countAppMemories"\?$/,
    ],
    [["jobs"], 2, /: did you mean "listJobs"\?$/],
    [["constructor"], 2, /There is no operation/],
    [
      ["addMemories", ...ana, "--json", '{"memories":[{"txt":"x"}],"foo":1}'],
      2,
      /"foo".*"txt".*memories\[0\]/,
    ],
    [
      ["listMemories", ...ana, "--json", '{"limit":"many"}'],
      2,
      /expected number, received string → at limit/,
    ],
    [["recall", ...ana], 2, /at threadId/],
    [["recall", "--json", '{"threadId":"t"}'], 2, /userId/],
    [["recall", ...ana, "--json", "{"], 2, /--json is no JSON/],
    [["recall", ...ana, "--json", "[]"], 2, /Invalid --json: .*expected record/],
    [["getMemory", ...ana, "--json", '{"id":"nothing"}'], 1, /There is no memory nothing/],
  ])(
    "`mnemograph call` refuses %j",
    async (args, code, problem) => {
      const ended = await run(["call", ...args]);
      expect(ended).toMatchObject({ code, out: "", err: expect.stringMatching(problem) });
    },
    60_000,
  );
});

describe("mnemograph upkeep", () => {
  it("`mnemograph upkeep` does what is due once, with a model of one's own", async () => {
    await withMemory((memory) => {
      const expiresAt = new Date(Date.now() + 1_000);
      return memory.memories.add({ scope, memories: { text: "Waits for a parcel.", expiresAt } });
    });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const testing = JSON.stringify(compiled("src/testing/index"));
    const model = `import { OfflineChatModel } from ${testing};\nexport const model = new OfflineChatModel();`;
    writeFileSync(join(folder, "model.mjs"), model);
    const done = await run(["upkeep", "--model", "./model.mjs", "--json"]);
    expect(JSON.parse(done.out).pieces).toBeGreaterThan(0);
    expect((await run(["upkeep"])).out).toBe("Nothing was due.");
    const none = await run(["upkeep", "--model", "./none.js"]);
    expect(none).toMatchObject({
      code: 2,
      err: expect.stringMatching(/none\.js cannot be loaded/),
    });
  });
});
