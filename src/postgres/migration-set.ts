import { identifier } from "./connection.js";
import { migrationFiles } from "./migration-files.js";

export const migrationSets = ["core", "vector", "isolation"] as const;

export type MigrationSet = (typeof migrationSets)[number];

export const versionColumns = {
  core: "version",
  vector: "vector_version",
  isolation: "isolation_version",
} as const satisfies Record<MigrationSet, string>;

/**
 * The oldest version whose package works on this schema. Raise it when removing what that package
 * uses.
 */
export const compatibleFrom = 1;

export interface Migration {
  readonly name: string;
  readonly set: MigrationSet;
  readonly version: number;
  statementsFor(schemaName: string): string[];
}

export interface ShippedSchema {
  readonly migrations: readonly Migration[];
  readonly functions: {
    readonly version: number;
    statementsFor(schemaName: string, vectorSchema: string): string[];
  };
  /** `aside` renames the tables from before version 1, `copy` copies their rows. */
  readonly upgrade: Readonly<Record<"aside" | "copy", (schemaName: string) => string[]>>;
}

/**
 * The files `NNNN_what.sql`, `NNNN_vector_what.sql` and `NNNN_isolation_what.sql`, numbered
 * together.
 */
export function shippedSchema(files = migrationFiles()): ShippedSchema {
  const named = new Map(files.map(({ name, text }) => [name, text]));
  const textOf = (name: string) => named.get(name) ?? "";
  const migrations = files
    .flatMap(({ name, text }) => {
      const [, number, topic] = /^(\d{4})_(vector_|isolation_)?/.exec(name) ?? [];
      if (number === undefined && name !== "vector" && name !== "isolation") return [];
      const set = number === undefined ? name : (topic?.slice(0, -1) ?? "core");
      return [{ name, text, set: set as MigrationSet, version: Number(number ?? 1) }];
    })
    .sort(
      (a, b) =>
        a.version - b.version || migrationSets.indexOf(a.set) - migrationSets.indexOf(b.set),
    )
    .map(({ text, ...migration }) => {
      return {
        ...migration,
        statementsFor: (schemaName: string) => statementsOf(text, schemaName),
      };
    });
  const functions = textOf("functions");
  return {
    migrations,
    functions: {
      version: Number(/^-- Version: (\d+)\n/.exec(functions)?.[1]),
      statementsFor: (schemaName, vectorSchema) =>
        [functions, ...ownFunctions.map(textOf), textOf("plans")]
          .flatMap((text) => statementsOf(text, schemaName))
          .map((statement) =>
            statement.replace(/\bvectors(?=\.)/g, () => identifier(vectorSchema).text),
          ),
    },
    upgrade: {
      aside: (schemaName) => statementsOf(textOf("aside"), schemaName),
      copy: (schemaName) => statementsOf(textOf("copy"), schemaName),
    },
  };
}

const ownFunctions = ["conversation", "search-messages", "search-memories", "known-memories"];

// Splits at semicolons before unindented lines: distributed tables require single statements.
function statementsOf(text: string, schemaName: string): string[] {
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
