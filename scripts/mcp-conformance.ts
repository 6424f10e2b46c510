import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

/** The suite is written for Node 22, of which it needs `globSync`, for scenarios of clients: Node 20 gets an empty one. */
const forNode20 = `data:text/javascript,${encodeURIComponent(`
  import { register } from "node:module";
  register("data:text/javascript," + encodeURIComponent(\`
    const files = 'export * from "node:fs"; export { default } from "node:fs"; export const globSync = () => [];';
    export const resolve = (name, context, next) =>
      name === "fs" && context.parentURL?.includes("modelcontextprotocol/conformance")
        ? { url: "data:text/javascript," + encodeURIComponent(files), shortCircuit: true }
        : next(name, context);
  \`));
`)}`;

const memory = createMemory();
await memory.setup();
await memory.memories.add({ text: "Ana keeps bees." }, { scope: { userId: "ana" } });
const server = createAdaptorServer({ fetch: createMemoryApp(memory, { mcp: mcpHandler(memory) }).fetch });
server.listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo;

const baseline = new URL("./mcp-conformance.yml", import.meta.url).pathname;
const results = mkdtempSync(join(tmpdir(), "mcp-conformance-"));
const run = spawn(
  "npx",
  [
    ...["--yes", suite, "server", "--url", `http://127.0.0.1:${port}/mcp?userId=ana`],
    ...["--suite", "all", "--expected-failures", baseline],
  ],
  {
    ...{ cwd: results, stdio: "inherit" },
    env: { ...process.env, NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ""} --import ${forNode20}` },
  },
);
const [code] = await once(run, "exit");
rmSync(results, { recursive: true });
await new Promise((resolve) => server.close(resolve));
await memory.close();
process.exitCode = code ?? 1;
