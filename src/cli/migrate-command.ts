import { type CliCommand, type DatabaseFlags, withDatabase } from "./flags.js";
import { print } from "./output.js";

/** `mnemograph migrate`: what `memory.setup()` does. */
export const migrateCommand: CliCommand = {
  name: "migrate",
  description: "create or update the tables; harmless when done",
  examples: [
    ["migrate", "embedded database in ./.mnemograph, or DATABASE_URL"],
    ["migrate --database postgresql://ana@db.example.org/app --schema memory"],
    ["migrate --vectors", "also what embeddings need (pgvector)"],
  ],
  flags: (command) =>
    withDatabase(command)
      .option("--vectors", "also create what embeddings need; requires pgvector")
      .option("--isolation", "also keep tenants apart by row-level security; run it as the tables' owner"),
  run: migrate,
};

/** @throws MemoryError as `memory.setup()` does. */
async function migrate(flags: DatabaseFlags & { vectors?: true; isolation?: true }): Promise<void> {
  const { schema, vectors = false, isolation = false } = flags;
  const { migrateDatabase } = await import("./set-up.js");
  const { applied, place } = await migrateDatabase(flags, { vectors, isolation });
  print(flags, { schema, applied }, () => {
    if (applied.length === 0) return `"${schema}" in ${place} is up to date.`;
    return `Applied to "${schema}" in ${place}: ${applied.join(", ")}`;
  });
}
