import { MemoryError } from "../errors.js";
import type { ImportedStore, ImportStore } from "../store/import-store.js";
import { type CliCommand, type MemoryFlags, wholeNumber, withMemory } from "./flags.js";
import { print, progressBar } from "./output.js";
import { useMemory } from "./use-memory.js";

/** `mnemograph import-store`: what LangGraph's `PostgresStore` holds; what `memory.importStore()` does. */
export const importStoreCommand: CliCommand = {
  name: "import-store",
  description: "take over what LangGraph's PostgresStore holds; interrupted, it goes on where it was",
  examples: [
    ["import-store --user-label 2 --dry-run", 'what it would do, with namespaces such as ["memories", user]'],
    ["import-store --from-schema public --app notes", "all of it becomes the app's"],
  ],
  flags: (command) =>
    withMemory(command, "make vectors, with the embeddings a file or package exports")
      .option("--from-schema <name>", "the schema that PostgresStore was given (default: public)")
      .option("--from <url>", "connection string of the database that it is in (default: this one)")
      .option(
        "--user-label <n>",
        "the label of a namespace that names its user, counted from 1",
        wholeNumber(1_000),
      )
      .option("--user <id>", "make all of it this user's")
      .option("--app <id>", "make it this app's")
      .option("--tenant <id>", "the tenant of either")
      .option("--copy-vectors", "take its vectors over: only if --embeddings is the model that made them")
      .option("--batch-size <count>", "items at once (default: 100)", wholeNumber(1_000))
      .option("--dry-run", "only count"),
  run: importStore,
};

type ImportStoreFlags = MemoryFlags & {
  readonly fromSchema?: string;
  readonly from?: string;
  readonly userLabel?: number;
  readonly copyVectors?: true;
  readonly batchSize?: number;
  readonly dryRun?: true;
};

/** @throws MemoryError as `memory.importStore()` does. */
async function importStore(flags: ImportStoreFlags): Promise<void> {
  const { userLabel, tenant, user, app, ...others } = flags;
  if (userLabel !== undefined && user !== undefined) {
    throw new MemoryError("INVALID_INPUT", "--user and --user-label both say whose it is: give one of them.");
  }
  const ids = { ...(tenant !== undefined && { tenantId: tenant }), ...(app !== undefined && { appId: app }) };
  const scopeOf = (namespace: readonly string[]) => ({ ...ids, userId: labelOf(namespace, userLabel ?? 1) });
  const named = userLabel === undefined ? flags : others;
  const bar = progressBar(flags);
  const result = await useMemory(named, async (memory, scope) => {
    const whose: Pick<ImportStore, "scope"> =
      userLabel === undefined ? (scope ? { scope } : {}) : { scope: scopeOf };
    try {
      return await memory.importStore({
        ...whose,
        ...{ schema: flags.fromSchema, from: flags.from, batchSize: flags.batchSize, dryRun: flags.dryRun },
        vectors: flags.copyVectors ? "copy" : "embed",
        onProgress: bar.update,
      });
    } finally {
      bar.stop();
    }
  });
  print(flags, result, () => describe(result, flags));
}

/** @throws MemoryError `INVALID_INPUT` for a namespace without such a label */
function labelOf(namespace: readonly string[], place: number): string {
  const label = namespace[place - 1];
  if (label !== undefined && label.trim() !== "") return label;
  throw new MemoryError(
    "INVALID_INPUT",
    `The namespace ${JSON.stringify(namespace)} has no label ${place} that names a user. Its batch was not taken over.`,
  );
}

function describe({ imported, present, withVectors }: ImportedStore, flags: ImportStoreFlags): string {
  const there = `${present} were there already`;
  if (flags.dryRun) return `Would take over ${imported} items; ${there}.`;
  const missing = imported - withVectors;
  const vectors = missing > 0 ? ` ${missing} have no vectors: they are found by words.` : "";
  return `Took over ${imported} items; ${there}.${vectors}`;
}
