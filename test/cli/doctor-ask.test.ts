import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type DoctorFlags, diagnose } from "../../packages/server/src/cli/diagnose.js";
import { freePort } from "../support/free-port.js";
import { useProviders } from "../support/providers/clients.js";
import { useOpenAIEmbeddings } from "../support/providers/openai-embeddings.js";

describe("doctor --ask", () => {
  const start = useProviders();
  const startEmbeddings = useOpenAIEmbeddings();
  const folder = mkdtempSync(join(tmpdir(), "mnemograph-doctor-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Saves a module, as an application has, and gives its path. */
  function moduleOf(made: string, from: string): string {
    const file = join(folder, `${randomUUID()}.mjs`);
    const path = JSON.stringify(import.meta.resolve(from));
    writeFileSync(file, `import * as from from ${path};\nexport default new from.${made};\n`);
    return file;
  }
  const openAI = (origin: string) => {
    const options = { apiKey: "sk-secret", model: "gpt-4.1-mini" };
    const all = { ...options, configuration: { baseURL: `${origin}/v1` } };
    return moduleOf(`ChatOpenAI(${JSON.stringify(all)})`, "@langchain/openai");
  };
  const claude = (origin: string) => {
    const options = { apiKey: "sk-secret", model: "claude-sonnet-4-5" };
    const all = { ...options, clientOptions: { baseURL: origin } };
    return moduleOf(`ChatAnthropic(${JSON.stringify(all)})`, "@langchain/anthropic");
  };
  const openAIEmbeddings = (baseURL: string) => {
    const options = { apiKey: "sk-secret", model: "text-embedding-3-small" };
    const all = { ...options, configuration: { baseURL } };
    return moduleOf(`OpenAIEmbeddings(${JSON.stringify(all)})`, "@langchain/openai");
  };
  // Where no database answers, the providers are asked all the same.
  const nowhere = {
    database: "postgresql://ana@127.0.0.1:1/db",
    schema: "mnemograph",
    queueSchema: "pgboss",
  };
  const askedOf = async (more: Partial<DoctorFlags>) => {
    const { checks } = await diagnose({ ...nowhere, ask: true, ...more });
    expect(JSON.stringify(checks)).not.toContain("sk-secret");
    return checks
      .filter(({ check }) => check !== "database")
      .map(({ check, verdict, says, todo }) => `${verdict} ${check}: ${says} ${todo}`);
  };

  it("The doctor asks the model and the embeddings one question each", async () => {
    const provider = await start("chat completions", () => "ready");
    const { baseURL, requests } = await startEmbeddings();
    const found = await askedOf({
      model: openAI(provider.origin),
      embeddings: openAIEmbeddings(baseURL),
    });
    expect(found).toEqual([
      expect.stringMatching(/^ok model: It answered in \d+ ms\. null$/),
      expect.stringMatching(/^ok embeddings: They answered with 1536 dimensions in \d+ ms\. null$/),
    ]);
    expect([provider.exchanges.length, requests.length]).toEqual([1, 1]);
  });

  it.each<[number, RegExp]>([
    [401, /^bad model: No answer: \w+ \(401, .*\)\. Check the key, and what it may use\.$/],
    [429, /^bad model: No answer: \w+ \(429, .*\)\. Wait, or raise the provider's limit\.$/],
    [503, /^bad model: No answer: \w+ \(503.*\)\. The provider fails/],
  ])("The doctor reports the provider's status %i after one request", async (status, line) => {
    for (const [name, clientOf] of [
      ["chat completions", openAI],
      ["anthropic", claude],
    ] as const) {
      const provider = await start(name, () => ({ status }));
      expect(await askedOf({ model: clientOf(provider.origin) })).toEqual([
        expect.stringMatching(line),
      ]);
      expect(provider.exchanges).toHaveLength(1);
    }
  });

  it("The doctor reports embeddings that fail, and a provider that is not there", async () => {
    const { baseURL, requests } = await startEmbeddings(() => ({ status: 401 }));
    const dead = openAI(`http://127.0.0.1:${await freePort()}`);
    expect(await askedOf({ model: dead, embeddings: openAIEmbeddings(baseURL) })).toEqual([
      expect.stringMatching(/^bad model: No answer: \w+.* Check the address, the network/),
      expect.stringMatching(/^bad embeddings: No answer: \w+ \(401, .*\)\. Check the key/),
    ]);
    expect(requests).toEqual(["1!"]);
  });

  it("The doctor refuses --ask without a provider, and a provider without --ask", async () => {
    await expect(diagnose({ ...nowhere, ask: true })).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
    await expect(diagnose({ ...nowhere, model: "./model.js" })).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
  });
});
