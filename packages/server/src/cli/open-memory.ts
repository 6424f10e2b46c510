import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { isAbsolute, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { EmbeddingsInterface } from "@langchain/core/embeddings";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { DatabaseOption, Memory, QueueOption, Scope } from "mnemograph";
import {
  askOf,
  createMemory,
  type Database,
  defaultDataDir,
  defaultLogger,
  defined,
  findIsolation,
  MemoryError,
  messageOf,
  migrateCommandLine,
  type OpenSettings,
  openDatabase,
  parseScope,
  toMemoryError,
} from "mnemograph/contract";
import type { DatabaseFlags, MemoryFlags } from "./flags.js";

/** @throws MemoryError `SETUP_REQUIRED` without a database, `INVALID_INPUT` */
export async function openMemory(flags: MemoryFlags, jobs?: QueueOption): Promise<Memory> {
  const { schema, config } = flags;
  const { option: database } = existingDatabase(flags);
  return createMemory({
    database,
    schema,
    ...(await isolationOf(database, schema)),
    ...defined({ jobs, config }),
    ...(await loadModels(flags)),
  });
}

/** What `--model` and `--embeddings` name. @throws MemoryError `INVALID_INPUT` */
export async function loadModels({
  model,
  embeddings,
}: Pick<MemoryFlags, "model" | "embeddings">): Promise<Models> {
  return {
    ...(model && { model: await loadExport<BaseChatModel>(model, "model") }),
    ...(embeddings && {
      embeddings:
        embeddings === "local"
          ? embeddings
          : await loadExport<EmbeddingsInterface>(embeddings, "embeddings"),
    }),
  };
}

export interface Models {
  readonly model?: BaseChatModel;
  readonly embeddings?: EmbeddingsInterface | "local";
}

/** @throws MemoryError `SCOPE_REQUIRED` */
export function scopeOfFlags({ tenant: tenantId, user: userId, app: appId }: MemoryFlags): Scope {
  if (userId !== undefined || appId !== undefined)
    return parseScope(defined({ tenantId, userId, appId }));
  throw new MemoryError(
    "SCOPE_REQUIRED",
    "Say whose memory: --user ID, --app ID, or both (of --tenant ID).",
  );
}

/** `place` is printed: it has no user and no password. */
type ChosenDatabase = { readonly option: DatabaseOption; readonly place: string };

/**
 * The flags' database, else `DATABASE_URL`, else `.mnemograph`.
 * @throws MemoryError `INVALID_INPUT` for both flags
 */
export function chooseDatabase(flags: DatabaseFlags): ChosenDatabase {
  if (flags.database !== undefined && flags.dataDir !== undefined) {
    throw new MemoryError(
      "INVALID_INPUT",
      "--database and --data-dir name two databases: give one of them.",
    );
  }
  const url = flags.dataDir === undefined ? flags.database || process.env.DATABASE_URL : undefined;
  if (url) return { option: url, place: serverPlace(url) };
  const dataDir = resolve(flags.dataDir ?? defaultDataDir);
  return { option: { dataDir }, place: dataDir };
}

function serverPlace(url: string): string {
  if (!URL.canParse(url)) return "PostgreSQL";
  const { host, pathname } = new URL(url);
  return `PostgreSQL ${host}${pathname}`;
}

/**
 * Opening a missing embedded database would create it.
 * @throws MemoryError `SETUP_REQUIRED`, `INVALID_INPUT`
 */
export function existingDatabase(flags: DatabaseFlags): ChosenDatabase {
  const chosen = chooseDatabase(flags);
  const { option } = chosen;
  if (typeof option !== "object" || !("dataDir" in option)) return chosen;
  if (existsSync(join(option.dataDir, "PG_VERSION"))) return chosen;
  const { dataDir } = option;
  const command = migrateCommandLine({ schemaName: flags.schema, dataDir });
  throw new MemoryError(
    "SETUP_REQUIRED",
    `There is no database in ${dataDir}. Run \`${command}\` once.`,
  );
}

/** Opens a database without prepared statements, runs `work`, and closes it. */
export async function onDatabase<Result>(
  option: DatabaseOption,
  settings: Pick<OpenSettings, "schemaName" | "isolation">,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  const commands = { prepare: false, applicationName: "mnemograph command" };
  const db = openDatabase(option, { ...settings, ...commands }, defaultLogger);
  return work(db).finally(() => db.close());
}

/** @throws MemoryError `DATABASE_UNAVAILABLE` */
export async function isolationOf(
  option: DatabaseOption,
  schemaName: string,
): Promise<{ isolation?: "rls" }> {
  // The embedded database has superusers only.
  if (typeof option !== "string") return {};
  const find = (db: Database) =>
    db.withClient((client) => findIsolation(askOf(client), schemaName));
  const found = await onDatabase(option, { schemaName }, find).catch((error: unknown) => {
    throw toMemoryError(error, schemaName);
  });
  return found.enforced && !found.exempt ? { isolation: "rls" } : {};
}

/** Exports are recognised by their methods. */
const exportKinds = {
  embeddings: {
    methods: ["embedDocuments", "embedQuery"],
    description: "an instance of LangChain's Embeddings",
  },
  model: { methods: ["invoke", "_generate"], description: "an instance of a LangChain chat model" },
  authenticate: { methods: ["call"], description: "a function that finds the caller of a request" },
} as const;

/**
 * @param name a file, relative to the current folder, or a package.
 * @throws MemoryError `INVALID_INPUT`
 */
export async function loadExport<Found>(
  name: string,
  kind: keyof typeof exportKinds,
): Promise<Found> {
  let module: Record<string, unknown>;
  try {
    module = await import(locate(name));
  } catch (cause) {
    throw new MemoryError(
      "INVALID_INPUT",
      `The ${kind} ${name} cannot be loaded: ${messageOf(cause)}`,
      { cause },
    );
  }
  // CommonJS modules are the default export.
  const inner = (module.default ?? {}) as Readonly<Record<string, unknown>>;
  const { methods, description } = exportKinds[kind];
  const found = [module.default, module[kind], inner.default, inner[kind]].find((value) =>
    methods.every(
      (method) => typeof (value as Record<string, unknown> | undefined)?.[method] === "function",
    ),
  );
  if (found) return found as Found;
  const message = `${name} exports no ${kind}: export ${description}, as default or as \`${kind}\`.`;
  throw new MemoryError("INVALID_INPUT", message);
}

/** Resolves packages from the current folder. */
function locate(name: string): string {
  const file = resolve(name);
  if (isAbsolute(name) || name.startsWith(".") || existsSync(file)) return pathToFileURL(file).href;
  try {
    return pathToFileURL(createRequire(resolve("from-here.js")).resolve(name)).href;
  } catch {
    // Not installed, or without an entry for `require`.
    return name;
  }
}
