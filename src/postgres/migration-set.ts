import { createHash } from "node:crypto";
import { identifier } from "./connection.js";
import { migrationFiles } from "./migration-files.js";

export const migrationSets = ["core", "vector", "isolation"] as const;

export type MigrationSet = (typeof migrationSets)[number];

export const setVersionColumns = {
  core: "version",
  vector: "vector_version",
  isolation: "isolation_version",
} as const satisfies Record<MigrationSet, string>;

/** The version of the baseline, the files `0001_*`. */
const firstVersion = 1;

/**
 * The oldest version whose package works on this schema. Raise it when removing what that package
 * uses.
 */
export const compatibleFrom = firstVersion;

export interface Migration {
  readonly name: string;
  readonly set: MigrationSet;
  readonly version: number;
  statementsFor(schemaName: string): string[];
}

export interface ShippedSchema {
  readonly migrations: readonly Migration[];
  /** The digest of the baseline's SQL without comments and white space. */
  readonly baseline: string;
  readonly functions: {
    readonly version: number;
    statementsFor(schemaName: string, vectorSchema: string): string[];
  };
}

/**
 * The files `NNNN_what.sql`, `NNNN_vector_what.sql` and `NNNN_isolation_what.sql`, numbered
 * together.
 */
export function shippedSchema(files = migrationFiles()): ShippedSchema {
  const named = new Map(files.map(({ name, text }) => [name, text]));
  const textOf = (name: string) => named.get(name) ?? "";
  const migrations = files
    .flatMap(({ name, text }): Migration[] => {
      const [, number, set = "core"] = /^(\d{4})_(?:(vector|isolation)(?:_|$))?/.exec(name) ?? [];
      if (number === undefined) return [];
      const statementsFor = (schemaName: string) => splitStatements(text, schemaName);
      return [{ name, set: set as MigrationSet, version: Number(number), statementsFor }];
    })
    .sort(
      (a, b) =>
        a.version - b.version || migrationSets.indexOf(a.set) - migrationSets.indexOf(b.set),
    );
  const baseline = migrations.filter(({ version }) => version === firstVersion);
  const functions = textOf("functions");
  return {
    migrations,
    baseline: sqlDigest(baseline.map(({ name }) => textOf(name))),
    functions: {
      version: Number(/^-- Version: (\d+)\n/.exec(functions)?.[1]),
      statementsFor: (schemaName, vectorSchema) =>
        [functions, ...ownFunctions.map(textOf), textOf("plans")]
          .flatMap((text) => splitStatements(text, schemaName))
          .map((statement) =>
            statement.replace(/\bvectors(?=\.)/g, () => identifier(vectorSchema).text),
          ),
    },
  };
}

const ownFunctions = [
  "conversation",
  "words",
  "search-messages",
  "search-memories",
  "known-memories",
];

function sqlDigest(texts: readonly string[]): string {
  const sql = texts.join("").replace(/--.*|\s+/g, "");
  return createHash("sha256").update(sql).digest("hex");
}

// Splits at semicolons before unindented lines: distributed tables require single statements.
function splitStatements(text: string, schemaName: string): string[] {
  const schema = identifier(schemaName).text;
  return text
    .replace(/^--.*\n/gm, "")
    .split(/;\n(?![ \t])/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "")
    .map((statement) =>
      statement.replace(/\bmnemograph(?=\.(?!tenant_id)|, pg_temp)/g, () => schema),
    );
}
