import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { beforeAll, expect, it } from "vitest";
import { useCommandLine } from "../support/command-line.js";
import { useTestDatabase } from "../support/test-database.js";

const cli = useCommandLine(useTestDatabase());
beforeAll(() =>
  cli.withMemory((memory) => memory.memories.add({ text: "Ana rows." }, { scope: { userId: "ana" } })),
);

let child: ChildProcess | undefined;

/** Starts `mnemograph inspect`, and gives the address that it prints. */
async function inspect(args: readonly string[]): Promise<URL> {
  child = cli.begin(["inspect", ...args]);
  let [said, failed] = ["", ""];
  child.stdout?.setEncoding("utf8");
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    failed += text;
  });
  for await (const text of child.stdout as AsyncIterable<string>) {
    said += text;
    if (said.includes("\n")) return new URL(said.trim());
  }
  throw new Error(`It ended with: ${failed}`);
}

it("prints an address for one visit at this machine, and ends when it is told to", async () => {
  const address = await inspect(["--user", "ana", "--operator", "joe"]);
  expect(address.hostname).toBe("127.0.0.1");
  expect(address.pathname).toBe("/inspector/");
  const given = new URLSearchParams(address.hash.slice(1));
  expect(given.get("user")).toBe("ana");
  const { origin } = address;
  expect((await fetch(`${origin}/users`)).status).toBe(401);
  const exchange = () =>
    fetch(`${origin}/inspector/session`, {
      ...{ method: "POST", headers: { "content-type": "application/json" } },
      body: JSON.stringify({ token: given.get("token") }),
    });
  const answer = await exchange();
  expect(answer.status).toBe(204);
  expect((await exchange()).status).toBe(401);
  const [cookie = ""] = (answer.headers.get("set-cookie") ?? "").split(";");
  const listed = await fetch(`${origin}/memories?userId=ana`, { headers: { cookie } });
  const { memories } = (await listed.json()) as { memories: { id: string; text: string }[] };
  expect(memories.map(({ text }) => text)).toEqual(["Ana rows."]);
  const elsewhere = await fetch(`${origin}/users`, { headers: { cookie, "x-forwarded-for": "10.0.0.1" } });
  expect(elsewhere.status).toBe(403);
  const place = `${origin}/memories/${memories[0]?.id}?userId=ana&reason=old`;
  await fetch(place, { method: "DELETE", headers: { cookie } });
  child?.kill("SIGTERM");
  expect(await once(child as ChildProcess, "close")).toEqual([0, null]);
  await cli.withMemory(async (memory) => {
    const [entry] = await memory.memories.history(memories[0]?.id ?? "", { scope: { userId: "ana" } });
    expect(entry).toMatchObject({ actor: "joe", new: { reason: "old" } });
  });
});
