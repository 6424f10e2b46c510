import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, it } from "vitest";
import { repository } from "../support/doc-pages.js";
import { newProject } from "../support/packed.js";

it("The settings of docs/mcp.md start a server that remembers in an empty project", async () => {
  const [, settings = "{}"] =
    /```json\n([\s\S]*?)```/.exec(readFileSync(join(repository, "docs/mcp.md"), "utf8")) ?? [];
  const { command, args } = JSON.parse(settings).mcpServers.memory as {
    command: string;
    args: string[];
  };
  expect([command, args[0]]).toEqual(["npx", "-y"]);
  const { DATABASE_URL: _, ...env } = process.env;
  const project = await newProject();
  // npx would fetch the package from a registry: its command is started from where it is installed.
  const own = args.slice(args.indexOf("@mnemograph/server") + 1);
  const main = join(project, "node_modules/@mnemograph/server/dist/cli/main.js");
  const database = ["--data-dir", join(project, "data")];
  execFileSync(process.execPath, [main, "migrate", ...database], {
    cwd: project,
    env,
    stdio: "ignore",
  });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [main, ...own, ...database],
    cwd: project,
    env: env as Record<string, string>,
    stderr: "ignore",
  });
  const client = new Client({ name: "editor", version: "1" });
  await client.connect(transport);
  await client.callTool({
    name: "memory_add",
    arguments: { text: "The user sails a small boat.", category: "interests" },
  });
  const { content } = await client.callTool({ name: "memory_query", arguments: { query: "boat" } });
  expect(JSON.stringify(content)).toContain("small boat");
  await client.close();
});
