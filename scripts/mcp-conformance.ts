import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createAdaptorServer } from "@hono/node-server";
import { createMemoryApp } from "../packages/server/src/http/index.js";
import { mcpHandler } from "../packages/server/src/mcp/index.js";
import { createMemory } from "../src/index.js";

/**
 * `npm run mcp:conformance`: the Model Context Protocol's own conformance suite against `/mcp` as
 * `mnemograph serve --mcp` answers it on loopback, for both revisions that it serves. Fails where a
 * scenario fails that the revision's list does not name, and where one passes that it does. Passes,
 * with a line that says so, where the suite cannot be fetched.
 */
const suite = "@modelcontextprotocol/conformance";
const version = "0.2.0-alpha.12";
const revisions = ["2025-11-25", "2026-07-28"];

const folder = mkdtempSync(join(tmpdir(), "mcp-conformance-"));
const patience = ["--fetch-retries", "1", "--fetch-timeout", "30000"];
const install = [
  "install",
  "--prefix",
  folder,
  "--prefer-offline",
  "--ignore-scripts",
  ...patience,
];
if ((await run("npm", [...install, `${suite}@${version}`], "ignore")) === 0)
  process.exitCode = await conform();
else console.error(`MCP conformance was not tested: npm cannot install ${suite}@${version} here.`);
rmSync(folder, { recursive: true });

async function conform(): Promise<number> {
  const memory = createMemory({ database: { dataDir: join(folder, "database") } });
  await memory.setup();
  await memory.memories.add({ scope: { userId: "ana" }, memories: { text: "Ana keeps bees." } });
  const app = createMemoryApp(memory, { mcp: mcpHandler(memory) });
  // Scenarios of headers leave out the query, so it is added here.
  const fetch = ({ url, method, headers, body }: Request, env: unknown) => {
    const init: RequestInit = {
      method,
      headers,
      ...(method === "POST" && { body, duplex: "half" }),
    };
    return app.fetch(new Request(`${url}?userId=ana`, init), env as object);
  };
  const server = createAdaptorServer({ fetch, overrideGlobalObjects: false });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const program = join(folder, `node_modules/${suite}/dist/index.js`);
  let worst = 0;
  for (const revision of revisions) {
    const scenarios = [
      "--requirements",
      revision,
      "--expected-failures",
      beside(`mcp-conformance-${revision}.yml`),
    ];
    worst ||= await run(
      process.execPath,
      [program, "server", "--url", url, ...scenarios],
      "inherit",
    );
  }
  await new Promise((resolve) => server.close(resolve));
  await memory.close();
  return worst;
}

/** In the temporary folder: the suite writes its results where it runs. */
async function run(
  command: string,
  args: readonly string[],
  stdio: "ignore" | "inherit",
): Promise<number> {
  const [code] = await once(spawn(command, args, { cwd: folder, stdio }), "exit");
  return code ?? 1;
}

function beside(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}
