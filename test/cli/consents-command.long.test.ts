import { beforeAll, expect, it } from "vitest";
import { useCommandLine } from "../support/command-line.js";
import { useTestDatabase } from "../support/test-database.js";

const commandLine = useCommandLine(useTestDatabase());
const scope = { userId: "ana" };
let city = "";
let pronouns = "";

const run = (...args: string[]) => commandLine.run(["consents", ...args]);

beforeAll(async () => {
  await commandLine.withMemory(async (memory) => {
    const draft = (key: string, value: string) => ({
      category: "profile",
      key,
      value,
      text: `The ${key} is ${value}.`,
    });
    const outcomes = await memory.memories.add([draft("city", "Porto"), draft("pronouns", "they")], {
      scope,
    });
    [city = "", pronouns = ""] = outcomes.map(({ consentId }) => consentId ?? "");
  });
}, 120_000);

it("lists what waits, decides it, and tells who decided", async () => {
  const listed = await run("--user=ana");
  expect(listed).toMatchObject({ code: 0, err: "" });
  const [first = "", second = "", ...others] = listed.out.split("\n");
  expect(others).toEqual([]);
  expect(first).toMatch(
    new RegExp(`^${pronouns}  waits for consent until \\S+  profile  1×  pronouns: they$`),
  );
  expect(second).toContain(city);

  expect(await run("--user=ana", "--approve", city, "--actor=support")).toMatchObject({
    ...{ code: 0, out: "approved: city: Porto" },
  });
  const refused = await run("--user=ana", "--refuse", pronouns, "--json");
  expect(JSON.parse(refused.out)).toMatchObject({ id: pronouns, status: "refused", decidedBy: "cli" });
  expect(await run("--user=ana")).toMatchObject({ code: 0, out: "Nothing waits." });
  const all = JSON.parse((await run("--user=ana", "--all", "--json")).out);
  expect(all.map((request: { status: string }) => request.status)).toEqual(["refused", "approved"]);

  const again = await run("--user=ana", "--refuse", city);
  expect(again).toMatchObject({ code: 1, out: "" });
  expect(again.err).toContain("was approved by support (cli)");
  expect(await run("--user=bob", "--refuse", city)).toMatchObject({ code: 1 });
  expect(await run("--user=ana", "--refuse", city, "--approve", city)).toMatchObject({ code: 2 });
  expect(await run()).toMatchObject({ code: 0, out: "Nothing waits." });
  await commandLine.withMemory(async (memory) => {
    expect(await memory.memories.list({ scope })).toMatchObject([{ key: "city", value: "Porto" }]);
  });
}, 120_000);
