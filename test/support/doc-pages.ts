import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const repository = resolve(import.meta.dirname, "../..");

export interface DocPage {
  readonly path: string;
  readonly text: string;
}

/** A complete example and what it prints. */
export interface DocExample {
  /** Page and line. */
  readonly at: string;
  readonly code: string;
  readonly output: string | null;
}

/** The pages in docs, and the documentation outside it. */
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
    [...text.matchAll(/^```ts run\n([\s\S]*?)^```\n(?:\n```text output\n([\s\S]*?)^```$)?/gm)].map(
      (block) => ({
        at: `${path}:${text.slice(0, block.index).split("\n").length}`,
        code: block[1] ?? "",
        output: block[2] ?? null,
      }),
    ),
  );
}
