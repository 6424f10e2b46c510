import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { localEmbeddings } from "../../src/local-embeddings/index.js";
import { localModels } from "../../src/local-embeddings/local-models.js";
import { useFreshSchemas } from "../support/fresh-schema.js";
import {
  embeddingProcess,
  localEnvironment,
  localModelDir,
  usePackages,
} from "../support/local-model.js";
import { recordingLogger } from "../support/recording-logger.js";
import { runProgram } from "../support/run-program.js";
import { useTestDatabase } from "../support/test-database.js";

const modelDir = localModelDir();
const scope = { userId: "ana" };
const nuts = "The user is allergic to peanuts.";
const texts = [nuts, "The user's sister Ida is a vet in Porto.", "The user sails a small boat."];

const start = (vector: readonly number[]) => vector.slice(0, 4);
// Processors round int8 in several ways.
const near = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 2));

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe.skipIf(modelDir === null)("local embeddings", () => {
  const freshSchema = useFreshSchemas(useTestDatabase());
  const open = (model?: "multilingual-e5-small") =>
    localEmbeddings({ modelDir: modelDir ?? "", ...(model && { model }) });
  let folder = "";
  beforeAll(() => {
    usePackages();
    folder = mkdtempSync(join(tmpdir(), "mnemograph-local-"));
  });
  afterAll(() => {
    embeddingProcess().ends = 0;
    rmSync(folder, { recursive: true, force: true });
  });

  it("Vectors are those of transformers.js, for a text alone and in a batch", async () => {
    const { embedDocuments, embedQuery } = open();
    const statement = [-0.0227, 0.0399, -0.0323, 0.022];
    expect(await embedQuery("What must I not eat?")).toHaveLength(384);
    expect(start(await embedQuery("What must I not eat?"))).toEqual(
      near([0.047, -0.0032, -0.0637, -0.0061]),
    );
    expect((await embedDocuments([nuts])).map(start)).toEqual([near(statement)]);
    expect((await embedDocuments([...texts, nuts])).map(start)[3]).toEqual(near(statement));
  });

  it("The multilingual model has its prefixes, its pooling and a space of its own", async () => {
    // Its files are not here: the English model's take their place.
    const { files } = localModels["bge-small-en-v1.5"];
    Object.assign(localModels["multilingual-e5-small"].files, files);
    const embeddings = open("multilingual-e5-small");
    expect((await embeddings.embedDocuments([nuts])).map(start)).toEqual([
      near([-0.0536, 0.0134, -0.0002, 0.0023]),
    ]);
    expect(embeddings.model).toMatch(/multilingual-e5-small.*mean.*query: .*passage: /);
    expect(open().model).toMatch(/bge-small-en-v1.5.*first.*Represent this sentence/);
  });

  it("A memory finds by meaning, goes on by words when the process is killed, and starts another once", async () => {
    const { memory: memoryOn } = await freshSchema();
    const logger = recordingLogger();
    // The model is where it would be downloaded to.
    vi.stubEnv("HOME", join(folder, "home"));
    const cache = join(folder, "home/.cache/mnemograph");
    mkdirSync(cache, { recursive: true });
    symlinkSync(modelDir ?? "", join(cache, "bge-small-en-v1.5"));
    const memory = memoryOn({ embeddings: "local", logger });
    vi.unstubAllEnvs();
    await memory.memories.add({ scope, memories: texts.map((text) => ({ text })) });
    const found = async (query: string, threshold?: number) =>
      (await memory.query({ scope, query, topK: 1, ...(threshold && { threshold }) })).map(
        (hit) => hit.memory.text,
      );
    const byMeaning = () => found("Which foods are dangerous for me?", 0.4);
    expect(await byMeaning()).toEqual([nuts]);

    for (const end of ["first", "last"]) {
      const words = found("peanuts");
      embeddingProcess().child?.kill("SIGKILL");
      expect(await words).toEqual([nuts]);
      await expect.poll(() => embeddingProcess().child).toBe(null);
      if (end === "first") await expect.poll(byMeaning).toEqual([nuts]);
    }
    expect(await byMeaning()).toEqual([]);
    expect(embeddingProcess().child).toBe(null);
    expect(logger.lines.join("\n")).toMatch(/without vectors: .*process of local embeddings ended/);
    expect(await memory.events.list({ step: "embed" })).toMatchObject([{ status: "error" }, {}]);
  });

  it.each([
    ["close", null],
    ["a signal", "SIGTERM"],
    ["a crash", "SIGKILL"],
  ] as const)(
    "Nothing runs on after a program that ends by %s in mid-batch",
    async (end, signal) => {
      const data = mkdtempSync(join(tmpdir(), "mnemograph-local-"));
      afterAll(() => rmSync(data, { recursive: true, force: true }));
      const env = { ...localEnvironment, MODEL_DIR: modelDir ?? "", DATA_DIR: data, END: end };
      const program = runProgram("test/support/scripts/embed-locally.ts", env);
      await program.printed(/child \d+/);
      const pid = Number(/child (\d+)/.exec(program.output())?.[1]);
      if (signal) program.kill(signal);
      await program.exited;
      await expect.poll(() => isRunning(pid)).toBe(false);
    },
  );
});
