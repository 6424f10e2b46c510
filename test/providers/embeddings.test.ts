import { describe, expect, it } from "vitest";
import { checkVectors } from "../../packages/server/src/cli/check-work.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { useFreshSchemas } from "../support/fresh-schema.js";
import { useOpenAIEmbeddings } from "../support/providers/openai-embeddings.js";
import { recordingLogger } from "../support/recording-logger.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const freshSchema = useFreshSchemas(db);
const start = useOpenAIEmbeddings();
const scope = { userId: "ana" };
const boxes = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ text: `Ana keeps box ${n} in cellar ${n * 7}.` }));

it("Other dimensions of the same model are a new space, which setup and the doctor report until reembed", async () => {
  const { embeddings } = await start();
  const logger = recordingLogger();
  const before = db.memory({ embeddings: embeddings(), logger });
  await before.setup();
  await before.memories.add({ scope, memories: { text: "Ana bought a boat." } });
  const asked = { scope, query: "boat" };
  const found = [
    expect.objectContaining({ memory: expect.objectContaining({ text: "Ana bought a boat." }) }),
  ];

  const memory = db.memory({ embeddings: embeddings({ dimensions: 512 }), logger });
  expect(logger.lines.splice(0)).toEqual([]);
  await memory.setup();
  const space = "text-embedding-3-small";
  expect(logger.lines).toEqual([
    `warn: 1 texts have no vector of ${space} (512 dimensions) and are found by words only: run \`npx @mnemograph/server reembed\` or \`memory.reembed()\`.`,
  ]);
  expect(await checkVectors(db.database)).toMatchObject({
    verdict: "warn",
    says: `1 text without one in ${space}, 512 dimensions.`,
  });
  expect(await memory.query(asked)).toEqual(found);
  expect(await memory.reembed()).toEqual({ space, dimensions: 512, embedded: 1, remaining: 0 });
  expect(await memory.query(asked)).toEqual(found);
  expect(await checkVectors(db.database)).toMatchObject({ verdict: "ok" });
  // Both spaces stay in use.
  expect(await before.query(asked)).toEqual(found);
});

it("The log has the reason of the provider only where it quotes no text", async () => {
  const logger = recordingLogger();
  const { memory } = await freshSchema();
  const quoting = new HashingEmbeddings();
  quoting.embedDocuments = async ([text]) => {
    throw Object.assign(new Error(`Not allowed: ${text}`), { status: 403 });
  };
  await memory({ embeddings: quoting, logger }).memories.add({ scope, memories: boxes(1) });
  expect(logger.lines).toEqual([
    "warn: 1 of 1 texts have no vector until `reembed`: The embeddings failed: Error (403)",
  ]);
});

describe("one add of many texts", () => {
  it("One add is embedded in pieces, halved on refusal and retried when the provider says", async () => {
    const limited = (_: number, request: number) =>
      request === 2 ? { status: 429, retryAfterSeconds: 1 } : null;
    const { embeddings, requests } = await start(limited, { request: 500, text: 30 });
    const logger = recordingLogger();
    const { memory } = await freshSchema();
    const filled = memory({ embeddings: embeddings({ maxRetries: 0 }), logger });
    const long = `Ana ${"carefully ".repeat(14)}keeps stamps.`;
    const drafts = [...boxes(70), { text: long }, ...boxes(80).slice(70)];
    const added = await filled.memories.add({ scope, memories: drafts });
    expect(added.filter(({ outcome }) => outcome === "created")).toHaveLength(81);
    // 64 texts are too many tokens; the last piece has the long text.
    expect(requests.slice(0, 5)).toEqual(["64!", "32", "32!", "32", "17!"]);
    expect(requests.slice(5).filter((request) => request === "1!")).toHaveLength(1);
    expect(logger.lines).toEqual([
      "warn: 1 of 81 texts have no vector until `reembed`: The embeddings failed: ContextOverflowError " +
        "(400, invalid_request_error): 400 This model's maximum context length is 30 tokens, however you " +
        "requested 40 tokens (40 in your prompt; 0 for the completion). Please reduce your prompt; or completion length.",
    ]);
    expect(await filled.query({ scope, query: "carefully stamps" })).not.toEqual([]);
    expect(await filled.reembed()).toMatchObject({ embedded: 0, remaining: 1 });
    const roomy = await start();
    const other = memory({ embeddings: roomy.embeddings() });
    expect(await other.reembed()).toMatchObject({ embedded: 1, remaining: 0 });
  });

  it("An outage of the embeddings costs no write and no question anything, and reembed names the reason", async () => {
    let isDown = true;
    const { embeddings, requests } = await start(() => (isDown ? { status: 503 } : null));
    const logger = recordingLogger();
    const { memory: open } = await freshSchema();
    const memory = open({ embeddings: embeddings({ maxRetries: 0 }), logger });
    const added = await memory.memories.add({ scope, memories: boxes(200) });
    expect(added.every(({ outcome }) => outcome === "created")).toBe(true);
    for (let turn = 0; turn < 20; turn++)
      expect(await memory.query({ scope, query: "cellar 77" })).not.toEqual([]);
    await memory.memories.add({ scope, memories: { text: "Ana bought a boat." } });
    expect(requests).toEqual(["64!"]);
    expect(logger.lines[0]).toMatch(
      /^warn: 200 of 200 .* \(503, server_error\): 503 The server had/,
    );
    await expect(memory.reembed()).rejects.toMatchObject({
      code: "EMBEDDING_FAILED",
      message: expect.stringContaining("The server had an error while processing your request."),
    });
    isDown = false;
    expect(await memory.reembed()).toMatchObject({ embedded: 201, remaining: 0 });
  });
});
