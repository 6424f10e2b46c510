import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** The repository's root. */
export const repository = resolve(import.meta.dirname, "../..");

/** A page of the documentation. */
export interface DocPage {
  /** From the repository's root. */
  readonly path: string;
  readonly text: string;
}

/** An example that runs as it stands, and what it prints. */
export interface DocExample {
  /** The page and the line where it begins. */
  readonly at: string;
  readonly code: string;
  readonly output: string | null;
}

/** The pages of docs, and those beside it that are documentation too. */
export function docPages(): DocPage[] {
  const docs = readdirSync(join(repository, "docs")).filter((name) => name.endsWith(".md"));
  const paths = [
    ...docs.map((name) => `docs/${name}`),
    ...["README.md", "ARCHITECTURE.md", "SECURITY.md", "examples/README.md"],
  ];
  return paths.map((path) => ({ path, text: readFileSync(join(repository, path), "utf8") }));
}

/** The examples marked `ts run`, each with the block `text output` that follows it. */
export function docExamples(pages: readonly DocPage[]): DocExample[] {
  return pages.flatMap(({ path, text }) =>
    [...text.matchAll(/^```ts run\n([\s\S]*?)^```\n(?:\n```text output\n([\s\S]*?)^```$)?/gm)].map((block) => ({
      at: `${path}:${text.slice(0, block.index).split("\n").length}`,
      code: block[1] ?? "",
      output: block[2] ?? null,
    })),
  );
}
