import { existsSync } from "node:fs";
import { join } from "node:path";
import type { EmbeddingsInterface } from "@langchain/core/embeddings";
import { embedInChild } from "../src/local-embeddings/embedding-process.js";
import type { TextKind } from "../src/local-embeddings/local-model.js";
import { type LocalModel, localModels } from "../src/local-embeddings/local-models.js";
import { measureSpace } from "../src/models/embedder.js";
import {
  leastSimilarity,
  type UnrelatedSimilarity,
} from "../src/models/unrelated-similarity.rule.js";
import { sharedWords, shareOfCounts } from "../src/text/shared-words.js";
import { localModelDir, usePackages } from "../test/support/local-model.js";
import { openBenchDatabase } from "./bench-database.js";
import { openBenchMemory } from "./bench-memory.js";
import statementPairs from "./data/statement-pairs.json" with { type: "json" };
import { printTable } from "./report.js";

// What each threshold on similarity lets through, of pairs labelled by hand. FOLDER has the folders
// of further models, in the hub's form: what is not there is skipped.
//   npm run bench:thresholds -- [FOLDER]

const { episodes, ...labelled } = statementPairs;
const labels = Object.keys(labelled) as (keyof typeof labelled)[];
const statements = [...new Set(Object.values(labelled).flat(2))];

const bge = localModels["bge-small-en-v1.5"];
const others: Record<string, LocalModel> = {
  "all-minilm-l6-v2": {
    repository: "Xenova/all-MiniLM-L6-v2",
    revision: "main",
    files: {
      "tokenizer.json": "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0",
      "onnx/model_quantized.onnx":
        "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
    },
    pooling: "mean",
    prefixes: { question: "", statement: "" },
  },
  "e5-small-v2": {
    repository: "Xenova/e5-small-v2",
    revision: "main",
    files: {
      ...bge.files,
      "onnx/model_quantized.onnx":
        "7d9092cb25f2bd1c023b7e8d2aa459044a02030ac880e5a59fdaf27af69f1ded",
    },
    pooling: "mean",
    prefixes: { question: "query: ", statement: "passage: " },
  },
};

type Similarity = (one: string, other: string) => number;

const share = (
  pairs: readonly (readonly string[])[],
  passes: (pair: readonly string[]) => boolean,
) => `${Math.round((100 * pairs.filter(passes).length) / pairs.length)} %`;

/** What passes of each label. */
const passed = (similarity: Similarity, least: number) =>
  Object.fromEntries(
    labels.map((label) => [
      label,
      share(labelled[label], ([one = "", other = ""]) => similarity(one, other) >= least),
    ]),
  );

const otherEpisodes = episodes.flatMap(([question = ""], own) =>
  episodes.filter((_, at) => at !== own).map(([, episode = ""]) => [question, episode]),
);

async function printModel(name: string, model: LocalModel, folder: string): Promise<void> {
  const source = { model, folder, mayDownload: false };
  const embed = async (kind: TextKind, texts: readonly string[]) =>
    (await embedInChild({ source, kind, texts })).map((vector) => Array.from(vector));
  const embeddings: EmbeddingsInterface = {
    embedDocuments: (texts) => embed("statement", texts),
    embedQuery: async (text) => (await embed("question", [text]))[0] ?? [],
  };
  const unrelated = (await measureSpace(embeddings)) as UnrelatedSimilarity;
  const texts = [...statements, ...episodes.map(([, episode = ""]) => episode)];
  const questions = episodes.map(([question = ""]) => question);
  const vectors = new Map<string, readonly number[]>();
  for (const [at, vector] of (await embed("statement", texts)).entries())
    vectors.set(texts[at] ?? "", vector);
  for (const [at, vector] of (await embed("question", questions)).entries())
    vectors.set(questions[at] ?? "", vector);
  const similarity: Similarity = (one, other) => {
    const second = vectors.get(other) ?? [];
    return (vectors.get(one) ?? []).reduce((sum, value, at) => sum + value * (second[at] ?? 0), 0);
  };

  const { mean, spread } = unrelated;
  const [asked, linked, episode] = (["asked", "linked", "episode"] as const).map((level) =>
    leastSimilarity({ unrelated }, level),
  ) as [number, number, number];
  const levels = {
    "one constant: asked": 0.75,
    asked,
    "one constant: asked, guarded": 0.875,
    "asked, guarded": (1 + asked) / 2,
    "one constant: linked": 0.6,
    linked,
  };
  printTable(
    `${name}: unrelated texts ${mean.toFixed(2)} ± ${spread.toFixed(3)}`,
    Object.entries(levels).map(([threshold, least]) => ({
      threshold,
      least,
      ...passed(similarity, least),
    })),
  );
  printTable(
    `${name}: episodes found by their vector alone`,
    Object.entries({ "one constant": 0.6, episode }).map(([threshold, least]) => {
      const isNear = ([one = "", other = ""]: readonly string[]) => similarity(one, other) >= least;
      return {
        threshold,
        least,
        own: share(episodes, isNear),
        others: share(otherEpisodes, isNear),
      };
    }),
  );
}

/** Without vectors: the indexed words of each statement, and those that a search compares. */
async function printWords(): Promise<void> {
  const { pool, source, schema, close } = await openBenchDatabase();
  const memory = await openBenchMemory({ database: source, schema });
  await memory.memories.add(
    statements.map((text) => ({ text })),
    { scope: { userId: "pairs" } },
  );
  const { rows } = await pool.query<{ text: string; words: Record<string, number> }>(
    `select m.content as text, json_object_agg(t.lexeme, t.frequency) as words
     from "${schema}".memory m join "${schema}".memory_term t on t.memory_ref = m.ref group by m.ref`,
  );
  await memory.close();
  await close();
  const counts = new Map(rows.map(({ text, words }) => [text, new Map(Object.entries(words))]));
  const empty = new Map<string, number>();
  const indexed: Similarity = (one, other) =>
    shareOfCounts(counts.get(one) ?? empty, counts.get(other) ?? empty);
  const least = leastSimilarity(null, "asked");
  printTable("Words", [
    ...[0.4, 0.5, least, 0.75].map((each) => ({
      threshold: each === least ? "asked, linked" : "",
      least: each,
      ...passed(indexed, each),
    })),
    { threshold: "nearly equal, dated", least: 0.5, ...passed(sharedWords, 0.5) },
  ]);
}

await printWords();
const bgeFolder = localModelDir();
if (bgeFolder !== null) {
  usePackages();
  await printModel("bge-small-en-v1.5", bge, bgeFolder);
  for (const [name, model] of Object.entries(others)) {
    const folder = join(process.argv[2] ?? "", name);
    if (existsSync(folder)) await printModel(name, model, folder);
    else console.log(`\n${name} is skipped: there is no ${folder}.`);
  }
}
