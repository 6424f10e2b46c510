import type { Memory, MemoryItem, Scope } from "../src/index.js";
import { HashingEmbeddings } from "../src/testing/index.js";
import { openBenchDatabase } from "./bench-database.js";
import { openBenchMemory } from "./bench-memory.js";
import { type PlantedMemory, plantMemories } from "./consolidate/planted.js";
import { scriptedJudge } from "./consolidate/scripted-judge.js";
import { printEnvironment, printLoad, printResult, printTable } from "./report.js";

/** `npm run bench:consolidate -- 7` plants by another seed; `-- 7 words` has no embeddings. */
const seed = Number(process.argv[2] ?? 1);
const embeddings = process.argv[3] === "words" ? {} : { embeddings: new HashingEmbeddings() };

/** The share of verdicts that are right. */
const right = 0.9;

/** Most that may be left of the doubles. */
const maxLeft = 0.15;

const database = await openBenchDatabase();
try {
  printEnvironment(database);
  const result = await consolidatePlanted();
  printLoad();
  printResult(result);
  const { duplicatesBefore, duplicatesAfter, wrongMerges, secondRunCalls } = result;
  if (duplicatesAfter > maxLeft * duplicatesBefore || wrongMerges > 0 || secondRunCalls > 0)
    process.exitCode = 1;
} finally {
  await database.close();
}

/**
 * One owner's 500 memories, consolidated at once by a judge that is sometimes wrong, and once more.
 */
async function consolidatePlanted() {
  const memories = plantMemories(seed);
  const { model, asked } = scriptedJudge(memories, { right, seed });
  const scope: Scope = { userId: "planted" };
  const memory = await openBenchMemory({
    database: database.source,
    schema: database.schema,
    model,
    ...embeddings,
  });
  try {
    await memory.memories.add({ scope, memories: memories.map(({ text }) => ({ text })) });
    const duplicatesBefore = doubles(memories, await all(memory, scope, "active"));
    const startedMs = performance.now();
    const done = { calls: 0, tokens: 0, pairs: 0 };
    // A run takes the most alike pairs: until one asks nothing.
    for (;;) {
      const run = await memory.graphs().consolidation.invoke({ scope });
      done.calls += run.calls;
      done.tokens += run.tokens;
      done.pairs += run.settled.length;
      if (run.calls === 0) break;
    }
    const runMs = performance.now() - startedMs;
    const duplicatesAfter = doubles(memories, await all(memory, scope, "active"));
    const wrongMerges = await wronglyHidden(memory, scope, memories);
    const second = await memory.graphs().consolidation.invoke({ scope });
    printTable("What the judge was asked, each vote counted", [
      { about: "doubles", votes: asked.doubles },
      { about: "strangers", votes: asked.strangers },
      { about: "of these wrong", votes: asked.wrong },
    ]);
    return {
      duplicatesBefore,
      duplicatesAfter,
      wrongMerges,
      ...done,
      secondRunCalls: second.calls,
      runMs,
    };
  } finally {
    await memory.close();
  }
}

/** All memories of `scope` in one state. */
async function all(
  memory: Memory,
  scope: Scope,
  state: MemoryItem["state"],
): Promise<MemoryItem[]> {
  return memory.memories.list({ scope, states: [state], limit: 1_000 });
}

/** How many of `active` tell a fact that another one tells. */
function doubles(memories: readonly PlantedMemory[], active: readonly MemoryItem[]): number {
  const factOf = new Map(memories.map(({ text, fact }) => [text, fact]));
  return active.length - new Set(active.map(({ text }) => factOf.get(text))).size;
}

/** How many memories were hidden for one that tells another fact. */
async function wronglyHidden(
  memory: Memory,
  scope: Scope,
  memories: readonly PlantedMemory[],
): Promise<number> {
  const factOf = new Map(memories.map(({ text, fact }) => [text, fact]));
  const states = ["active", "merged", "superseded"] as const;
  const known = (await Promise.all(states.map((state) => all(memory, scope, state)))).flat();
  const byId = new Map(known.map((each) => [each.id, each]));
  return known.filter(({ text, supersededBy }) => {
    if (supersededBy === null) return false;
    return factOf.get(text) !== factOf.get(byId.get(supersededBy)?.text ?? "");
  }).length;
}
