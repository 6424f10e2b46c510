import { existsSync } from "node:fs";
import { join } from "node:path";
import { embedInChild } from "../src/local-embeddings/embedding-process.js";
import type { TextKind } from "../src/local-embeddings/local-model.js";
import { type LocalModel, localModels } from "../src/local-embeddings/local-models.js";
import { type Measure, similarity } from "../src/memories/write/prepare-drafts.js";
import { measureSpace } from "../src/models/embedder.js";
import {
  minSimilarity,
  type UnrelatedSimilarity,
} from "../src/models/unrelated-similarity.rule.js";
import { localModelDir, usePackages } from "../test/support/local-model.js";
import { openBenchDatabase } from "./bench-database.js";
import { openBenchMemory } from "./bench-memory.js";
import labelled from "./data/statement-pairs.json" with { type: "json" };
import { printTable } from "./report.js";

// What each threshold on similarity lets through, of pairs labelled by hand. FOLDER has the folders
// of further models, in the hub's form: what is not there is skipped.
//   npm run bench:thresholds -- [FOLDER]

type Pairs = readonly (readonly string[])[];

const { episodes, ...statementPairs } = labelled;
const statements = [...new Set(Object.values(statementPairs).flat(2))];
const questions = episodes.map(([question = ""]) => question);
const told = episodes.map(([, episode = ""]) => episode);
const otherEpisodes = questions.flatMap((question, own) =>
  told.filter((_, at) => at !== own).map((episode) => [question, episode]),
);

const bge = localModels["bge-small-en-v1.5"];
const others: Record<string, LocalModel> = {
  "all-minilm-l6-v2": {
    ...bge,
    files: {
      "tokenizer.json": "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0",
      "onnx/model_quantized.onnx":
        "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
    },
    pooling: "mean",
    prefixes: { question: "", statement: "" },
  },
  "e5-small-v2": {
    ...localModels["multilingual-e5-small"],
    files: {
      ...bge.files,
      "onnx/model_quantized.onnx":
        "7d9092cb25f2bd1c023b7e8d2aa459044a02030ac880e5a59fdaf27af69f1ded",
    },
  },
};

/** Prints what passes each of `levels`, by label. */
function printPassed(
  title: string,
  levels: Record<string, number>,
  measures: ReadonlyMap<string, Measure>,
  groups: Record<string, Pairs>,
): void {
  const rows = Object.entries(levels).map(([threshold, least]) => {
    const shares = Object.entries(groups).map(([label, pairs]) => {
      const passed = pairs.filter(([one = "", other = ""]) => {
        return similarity(measures.get(one) ?? null, measures.get(other) ?? null) >= least;
      });
      return [label, `${Math.round((100 * passed.length) / pairs.length)} %`];
    });
    return { threshold, least, ...Object.fromEntries(shares) };
  });
  printTable(title, rows);
}

async function printModel(name: string, model: LocalModel, folder: string): Promise<void> {
  const source = { model, folder, mayDownload: false };
  const embed = async (kind: TextKind, texts: readonly string[]) =>
    (await embedInChild({ source, kind, texts })).map((vector) => Array.from(vector));
  const unrelated = (await measureSpace({
    embedDocuments: (texts) => embed("statement", texts),
    embedQuery: async (text) => (await embed("question", [text]))[0] ?? [],
  })) as UnrelatedSimilarity;
  const stated = [...statements, ...told];
  const embedded = [...(await embed("question", questions)), ...(await embed("statement", stated))];
  const vectors = new Map(
    [...questions, ...stated].map((text, at) => [text, embedded[at] ?? []] as const),
  );
  const least = (level: "asked" | "linked" | "episode") => minSimilarity({ unrelated }, level);
  printPassed(
    `${name}: unrelated texts ${unrelated.mean.toFixed(3)} ± ${unrelated.spread.toFixed(3)}`,
    {
      "asked: one constant": 0.75,
      "asked: by the space": least("asked"),
      "asked, guarded: one constant": 0.875,
      "asked, guarded: by the space": (1 + least("asked")) / 2,
      "linked, episodes: one constant": 0.6,
      "linked: by the space": least("linked"),
      "episodes: by the space": least("episode"),
    },
    vectors,
    { ...statementPairs, "own episode": episodes, others: otherEpisodes },
  );
}

/** Without vectors: the indexed words of each statement. */
async function printWords(): Promise<void> {
  const { pool, source, schema, close } = await openBenchDatabase();
  const memory = await openBenchMemory({ database: source, schema });
  await memory.memories.add({
    scope: { userId: "pairs" },
    memories: statements.map((text) => ({ text })),
  });
  const { rows } = await pool.query<{ text: string; words: Record<string, number> }>(
    `select m.content as text, json_object_agg(t.lexeme, t.frequency) as words
     from "${schema}".memory m join "${schema}".memory_term t on t.memory_ref = m.ref group by m.ref`,
  );
  await memory.close();
  await close();
  const counts = new Map(rows.map(({ text, words }) => [text, new Map(Object.entries(words))]));
  printPassed(
    "Words",
    { "three in five": 0.6, "asked, linked": minSimilarity(null, "asked") },
    counts,
    statementPairs,
  );
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
