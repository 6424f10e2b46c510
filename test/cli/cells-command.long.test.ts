import { afterAll, describe, expect, it } from "vitest";
import { dropSchemas } from "../support/cells.js";
import { useCommandLine } from "../support/command-line.js";
import { onServer, useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const cli = useCommandLine(db);
const cells = ["--cells", "2"];
afterAll(async () => {
  if (onServer()) await dropSchemas(db.pool, `${cli.schema}_c`);
});

const out = async (args: readonly string[], code = 0) => {
  const ended = await cli.run([...args, ...cells]);
  expect({ code: ended.code, err: code === 0 ? ended.err : "" }).toMatchObject({ code, err: "" });
  return `${ended.out}${ended.err}`;
};

describe("mnemograph over cells", () => {
  it("sets all up, and does what it does to one in the cell of whom it is about", async () => {
    expect(await out(["migrate"])).toMatch(
      new RegExp(`${cli.schema}_c001 +[0-9]+ migrations +0001_conversations to`),
    );
    expect(await out(["migrate"])).toContain("is up to date");
    await out(["add", "Likes tea.", "--tenant", "acme", "--user", "ana"]);
    await out(["add", "Likes coffee.", "--tenant", "globex", "--user", "ana"]);
    expect(await out(["list", "--tenant", "acme", "--user", "ana"])).toContain("Likes tea.");
    expect((await out(["users"])).trim().split("\n")).toHaveLength(2);
    expect(JSON.parse(await out(["status", "--json"]))).toHaveLength(2);
  });

  it("takes a cell out of use and puts it in use again", async () => {
    expect(await out(["cells", "freeze", "1"])).toContain(`"${cli.schema}_c001_moving"`);
    const listed = await out(["cells"]);
    expect(listed).toMatch(/^0 .* up\n1 .* moving$/m);
    expect(await out(["users"], 1)).toContain("Cell 1 is being moved");
    expect(await out(["cells", "thaw", "1"])).toContain("in use");
    expect(await out(["cells", "list", "--json"])).not.toContain("moving");
    expect(await out(["cells", "freeze"], 2)).toContain("cells freeze <cell>");
  });
});
