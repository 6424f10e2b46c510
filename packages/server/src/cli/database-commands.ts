import type { MigrationStatus } from "mnemograph/contract";
import {
  type CliCommand,
  type DatabaseFlags,
  type MemoryFlags,
  withDatabase,
  withMemoryFlags,
  withModel,
} from "./flags.js";
import { aligned, counted, print, WrongUse } from "./output.js";
import { useMemory } from "./use-memory.js";

export const migrateCommand: CliCommand = {
  name: "migrate",
  description: "create or update the tables; safe to repeat",
  examples: [
    ["migrate", "embedded database in ./.mnemograph, or DATABASE_URL"],
    ["migrate --database postgresql://ana@db.example.org/app --schema memory"],
    ["migrate --vectors", "also what embeddings need (pgvector)"],
    ["migrate --plan", "which tables it would lock, and how; changes nothing"],
  ],
  flags: (command) =>
    withDatabase(command)
      .option("--vectors", "also create what embeddings need; requires pgvector")
      .option(
        "--isolation",
        "also keep tenants apart by row-level security; run it as the tables' owner",
      )
      .option("--plan", "print what is missing and which tables it locks; changes nothing"),
  async run(flags: DatabaseFlags & { vectors?: true; isolation?: true; plan?: true }) {
    const { schema, vectors = false, isolation = false } = flags;
    const { migrate, migrationStatus, setUpCheckpointer } = await import("mnemograph/contract");
    const { chooseDatabase, existingDatabase, onDatabase } = await import("./open-memory.js");
    if (flags.plan) {
      const { option } = existingDatabase(flags);
      const plan = await onDatabase(option, { schemaName: schema }, (db) =>
        migrationStatus(db, { vectors, isolation }),
      );
      return print(flags, { schema, ...plan }, () => planLines(plan).join("\n"));
    }
    const { option, place } = chooseDatabase(flags);
    const applied = await onDatabase(option, { schemaName: schema }, (db) =>
      migrate(db, { vectors, isolation, also: setUpCheckpointer }),
    );
    const done = applied.length > 0 ? `: ${applied.join(", ")}` : "";
    const where = `"${schema}" in ${place}`;
    print(flags, { schema, applied }, () =>
      done ? `Applied to ${where}${done}` : `${where} is up to date.`,
    );
  },
};

function planLines({ sets, functions, locks }: MigrationStatus): string[] {
  const pending = sets.flatMap(({ pending }) => pending);
  if (functions.version !== null && functions.version < functions.shipped)
    pending.push("functions");
  if (pending.length === 0) return ["Nothing to migrate."];
  const rows = locks.map(({ migration, table, lock, rows }) => {
    return [
      migration,
      table,
      lock,
      rows === null ? "rows not counted yet" : `some ${counted(rows, "row")}`,
    ];
  });
  const locked = rows.length === 0 ? ["It locks no table that is there already."] : aligned(rows);
  return [`To apply: ${pending.join(", ")}`, ...locked];
}

export const reembedCommand: CliCommand = {
  name: "reembed",
  description:
    "make the missing vectors of active memories and store items; run it again to continue after an interruption",
  examples: [["reembed --embeddings ./embeddings.js", "after a change of the embedding model"]],
  flags: withMemoryFlags,
  async run(flags: MemoryFlags) {
    if (flags.embeddings === undefined) throw new WrongUse("reembed needs --embeddings MODULE.");
    const showsProgress = !flags.json && process.stderr.isTTY;
    const onProgress = ({ done, total }: { readonly done: number; readonly total: number }) =>
      void (
        showsProgress && process.stderr.write(`\r${done}/${total}${done === total ? "\n" : ""}`)
      );
    const result = await useMemory(flags, (memory) => memory.reembed({ onProgress }));
    const { space, dimensions, embedded, remaining } = result;
    const left = remaining > 0 ? ` Others changed ${remaining} meanwhile: run it again.` : "";
    print(
      flags,
      result,
      () => `Embedded ${counted(embedded, "text")} in ${space} (${dimensions} dimensions).${left}`,
    );
  },
};

/** Each pass may make more work due. */
const maxReembedPasses = 100;

export const upkeepCommand: CliCommand = {
  name: "upkeep",
  description:
    "do the work that is due now, and end: ageing and expiry; with a model also summaries, facts and notes",
  examples: [["upkeep --model ./model.js", "from cron, where no process runs for long"]],
  flags: (command) => withModel(withMemoryFlags(command)),
  async run(flags: MemoryFlags) {
    let pieces = 0;
    await useMemory(flags, async (memory) => {
      for (let pass = 0; pass < maxReembedPasses; pass++) {
        const due = await memory.upkeep();
        await memory.idle();
        pieces += due;
        if (due === 0) return;
      }
    });
    print(flags, { pieces }, () =>
      pieces ? `Did ${counted(pieces, "piece")} of work.` : "Nothing was due.",
    );
  },
};
