import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { beforeAll, expect, it } from "vitest";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { useCommandLine } from "../support/command-line.js";
import { compiled } from "../support/compiled.js";
import { useTestDatabase } from "../support/test-database.js";

const cli = useCommandLine(useTestDatabase());
beforeAll(() =>
  cli.withMemory((memory) =>
    memory.memories.add({ scope: { userId: "ana" }, memories: { text: "Ana rows." } }),
  ),
);

let child: ChildProcess | undefined;

/** Starts a command, and gives the address that it prints. */
async function begin(args: readonly string[], from: "stdout" | "stderr"): Promise<URL> {
  // Below the range from which the system gives ports to those who connect.
  const port = String(20_000 + Math.floor(Math.random() * 12_000));
  child = cli.begin([...args, "--port", port]);
  let said = "";
  for await (const text of (child[from] as Readable).setEncoding("utf8") as AsyncIterable<string>) {
    said += text;
    const [url] = /http:\S+(?=\n)/.exec(said) ?? [];
    if (url) return new URL(url);
  }
  throw new Error(`It ended with: ${said}`);
}

async function endsWell(): Promise<void> {
  child?.kill("SIGTERM");
  expect(await once(child as ChildProcess, "close")).toEqual([0, null]);
}

async function memoriesAt(origin: string, headers: Record<string, string> = {}) {
  const listed = await fetch(`${origin}/memories?userId=ana`, { headers });
  return ((await listed.json()) as { memories: { id: string; text: string }[] }).memories;
}

it("`mnemograph serve` serves this machine without authentication, and ends when it is told to", async () => {
  const { origin } = await begin(["serve", "--mcp"], "stderr");
  expect((await memoriesAt(origin)).map(({ text }) => text)).toEqual(["Ana rows."]);
  expect((await fetch(`${origin}/mcp?userId=ana`)).status).toBe(405);
  const headers = { origin: "https://evil.example" };
  expect((await fetch(`${origin}/memories?userId=ana`, { headers })).status).toBe(401);
  await endsWell();
});

it("`mnemograph serve` listens to others only with a token or a module that names callers", async () => {
  const open = await cli.run(["serve", "--host", "0.0.0.0"]);
  expect(open).toMatchObject({ code: 2, err: expect.stringContaining("MNEMOGRAPH_TOKEN") });
  const ana = '{ role: "user", scope: { userId: "ana" } }';
  const module = `export const authenticate = ({ headers }) => (headers.get("x-user") === "ana" ? ${ana} : null);`;
  writeFileSync(join(cli.folder, "auth.mjs"), module);
  const { origin } = await begin(["serve", "--host", "0.0.0.0", "--auth", "./auth.mjs"], "stderr");
  expect((await fetch(`${origin}/memories`)).status).toBe(401);
  expect((await fetch(`${origin}/memories`, { headers: { "x-user": "ana" } })).status).toBe(200);
});

it("`mnemograph inspect` prints an address for one visit, where changes are the operator's", async () => {
  const address = await begin(["inspect", "--user", "ana", "--operator", "joe"], "stdout");
  const { origin, hostname, pathname, hash } = address;
  expect([hostname, pathname]).toEqual(["127.0.0.1", "/inspector/"]);
  const given = new URLSearchParams(hash.slice(1));
  expect(given.get("user")).toBe("ana");
  expect((await fetch(`${origin}/users`)).status).toBe(401);
  const printed = { authorization: `Bearer ${given.get("token")}` };
  const exchange = () => fetch(`${origin}/inspector/session`, { method: "POST", headers: printed });
  const answer = await exchange();
  expect([answer.status, (await exchange()).status]).toEqual([200, 401]);
  const [cookie = ""] = (answer.headers.get("set-cookie") ?? "").split(";");
  const { token } = (await answer.json()) as { token: string };
  const known = { cookie, authorization: `Bearer ${token}` };
  const [memory] = await memoriesAt(origin, known);
  const elsewhere = await fetch(`${origin}/users`, {
    headers: { ...known, "x-forwarded-for": "10.0.0.1" },
  });
  expect(elsewhere.status).toBe(403);
  const place = `${origin}/memories/${memory?.id}?userId=ana&reason=old`;
  await fetch(place, { method: "DELETE", headers: known });
  await endsWell();
  const scope = { userId: "ana" };
  const [entry] = await cli.withMemory(({ memories }) =>
    memories.history({ scope, id: memory?.id ?? "" }),
  );
  expect(entry).toMatchObject({ actor: "joe", new: { reason: "old" } });
});

it("`mnemograph inspect` says without --embeddings that meaning is not searched, where vectors are kept", async () => {
  const place = compiled("test/support/embeddings-module");
  const errorOf = async (args: readonly string[]) => {
    let said = "";
    const opened = begin(args, "stdout");
    child?.stderr?.on("data", (text) => {
      said += text;
    });
    await opened;
    await endsWell();
    return said;
  };
  const hint = /Meaning is not searched here.* --embeddings MODULE/;
  expect(await errorOf(["inspect"])).not.toMatch(hint);
  const embeddings = new HashingEmbeddings({ dimensions: 32 });
  await cli.withMemory((memory) => memory.reembed(), { embeddings });
  expect(await errorOf(["inspect"])).toMatch(hint);
  expect(await errorOf(["inspect", "--embeddings", place])).not.toMatch(hint);
});
