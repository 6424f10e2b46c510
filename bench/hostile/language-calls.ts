import { createMemory } from "../../src/index.js";
import type { BenchDatabase } from "../bench-database.js";
import { addMemories } from "../bench-memory.js";
import type { HostileCall } from "./calls.js";
import type { HostileInput } from "./inputs.js";
import { durationInputs, searchLanguages } from "./search-languages.js";

/** A question in one search language, and the inputs that are hostile to its dates. */
interface LanguageCall extends HostileCall {
  readonly inputs: readonly HostileInput[];
}

/** `recall` in each search language, with a memory of its own, and how to close them. */
export async function languageCalls(database: BenchDatabase) {
  const made = searchLanguages.map(({ language, locale }) => {
    const memory = createMemory({
      database: database.pool,
      schema: `${database.schema}_${language}`,
      jobs: "inline",
      logger: { debug() {}, info() {}, warn() {}, error() {} },
      config: { retrieval: { language } },
    });
    const known = { scope: { userId: "known" }, threadId: "known" };
    const call: LanguageCall = {
      name: `recall: question in ${language}`,
      async run(text) {
        const { memories } = await memory.recall({ ...known, query: `7391 ${text}` });
        return memories.relevant.length === 1;
      },
      inputs: durationInputs(locale).filter(({ name }) => /hour|day/.test(name)),
    };
    return { memory, call, known };
  });
  const { rows } = await database.pool.query<{ cfgname: string }>(
    "select cfgname from pg_ts_config",
  );
  const configured = new Set(rows.map(({ cfgname }) => cfgname));
  const missing = searchLanguages.filter(({ language }) => !configured.has(language));
  for (const { language } of missing)
    await database.pool.query(`create text search configuration ${language} (copy = simple)`);
  for (const { memory, known } of made) {
    await memory.setup();
    await addMemories(memory, known.scope, { text: "Tatu 7391." });
  }
  return {
    calls: made.map(({ call }) => call),
    async close() {
      for (const { memory } of made) await memory.close();
      for (const { language } of missing)
        await database.pool.query(`drop text search configuration ${language} cascade`);
    },
  };
}
