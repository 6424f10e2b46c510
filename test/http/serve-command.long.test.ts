import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { useCommandLine } from "../support/command-line.js";
import { useTestDatabase } from "../support/test-database.js";

const cli = useCommandLine(useTestDatabase());
beforeAll(() =>
  cli.withMemory((memory) => memory.memories.add({ text: "Ana rows." }, { scope: { userId: "ana" } })),
);

let child: ChildProcess | undefined;

/** Starts the server, and says where it listens. */
async function serve(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  // Below the range from which the system gives ports to those who connect.
  const port = String(20_000 + Math.floor(Math.random() * 12_000));
  child = cli.begin(["serve", "--port", port, ...args], env);
  let said = "";
  child.stderr?.setEncoding("utf8");
  for await (const text of child.stderr as AsyncIterable<string>) {
    said += text;
    const [, url] = /Listening at (\S+)/.exec(said) ?? [];
    if (url) return url;
  }
  throw new Error(`It ended with: ${said}`);
}

it("serves this machine without authentication, and ends when it is told to", async () => {
  const url = await serve(["--mcp"]);
  const { memories } = (await (await fetch(`${url}/memories?userId=ana`)).json()) as {
    memories: { text: string }[];
  };
  expect(memories.map(({ text }) => text)).toEqual(["Ana rows."]);
  expect((await fetch(`${url}/mcp?userId=ana`)).status).toBe(405);
  expect(
    (await fetch(`${url}/memories?userId=ana`, { headers: { host: "x", origin: "https://evil.example" } }))
      .status,
  ).toBe(401);
  child?.kill("SIGTERM");
  expect(await once(child as ChildProcess, "close")).toEqual([0, null]);
});

it("serves whom a token or a module names, and listens to others only then", async () => {
  const open = await cli.run(["serve", "--host", "0.0.0.0"]);
  expect(open).toMatchObject({ code: 2, err: expect.stringContaining("MNEMOGRAPH_TOKEN") });
  writeFileSync(
    join(cli.folder, "auth.mjs"),
    `export const authenticate = (request) => request.headers.get("x-user") === "ana" ? { role: "user", scope: { userId: "ana" } } : null;`,
  );
  const url = await serve(["--host", "0.0.0.0", "--auth", "./auth.mjs"]);
  const status = async (headers: Record<string, string>) =>
    (await fetch(`${url}/memories`, { headers })).status;
  expect(await status({})).toBe(401);
  expect(await status({ "x-user": "ana" })).toBe(200);
});
