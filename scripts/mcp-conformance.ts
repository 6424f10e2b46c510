import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createAdaptorServer } from "@hono/node-server";
import { createMemoryApp } from "../src/http/index.js";
import { createMemory } from "../src/index.js";
import { mcpHandler } from "../src/mcp/index.js";

/**
 * `npm run mcp:conformance`: the Model Context Protocol's own conformance suite (@modelcontextprotocol/conformance, fetched
 * by npx) against `/mcp` as `mnemograph serve --mcp` answers it on loopback. Fails where a scenario fails that
 * mcp-conformance.yml does not name, and where one passes that it does.
 */
const suite = "@modelcontextprotocol/conformance@0.1.16";

const folder = mkdtempSync(join(tmpdir(), "mcp-conformance-"));
const memory = createMemory({ database: { dataDir: join(folder, "database") } });
await memory.setup();
await memory.memories.add({ text: "Ana keeps bees." }, { scope: { userId: "ana" } });
const server = createAdaptorServer({ fetch: createMemoryApp(memory, { mcp: mcpHandler(memory) }).fetch });
server.listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo;

const beside = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const run = spawn(
  "npx",
  [
    ...["--yes", suite, "server", "--url", `http://127.0.0.1:${port}/mcp?userId=ana`],
    ...["--suite", "all", "--expected-failures", beside("mcp-conformance.yml")],
  ],
  {
    // The suite writes its results where it runs.
    cwd: folder,
    stdio: "inherit",
    env: { ...process.env, NODE_OPTIONS: `--import ${beside("conformance-on-node-20.mjs")}` },
  },
);
const [code] = await once(run, "exit");
await new Promise((resolve) => server.close(resolve));
await memory.close();
rmSync(folder, { recursive: true });
process.exitCode = code ?? 1;
