import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { migrationFiles } from "../src/postgres/migration-files.js";
import { packageVersion } from "../src/postgres/package-version.js";

// Bundles the ways into a package, with what they share: `tsx scripts/bundle.ts [PACKAGE] [FOLDER]`,
// by default that of the current folder, into its dist. Three hundred modules of its own would take a process as long to load as
// LangGraph does. What it depends on stays outside.

/** Package → its ways in, without those that `exports` and `bin` name. */
const others: Readonly<Record<string, readonly string[]>> = {
  mnemograph: ["local-embeddings/embedding-child"],
};

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  readonly bin?: Readonly<Record<string, string>>;
}

const [, , home = ".", folder = join(home, "dist")] = process.argv;
const manifest: Manifest = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
const { name, exports, bin = {} } = manifest;
const built = [...Object.values(exports), ...Object.values(bin)].flatMap((way) => {
  const path = typeof way === "string" ? way : way.default;
  return /dist\/(.+)\.js$/.exec(path)?.[1] ?? [];
});

await build({
  entryPoints: [...built, ...(others[name] ?? [])].map((way) => ({
    in: resolve(home, "src", `${way}.ts`),
    out: way,
  })),
  outdir: folder,
  bundle: true,
  splitting: true,
  packages: "external",
  platform: "node",
  target: "node20.19",
  format: "esm",
  // Without the paths of tsconfig.json: a package imports the others as they are published.
  tsconfigRaw: {},
  logLevel: "warning",
  plugins: [
    {
      // Bundlers of those who use the package leave files behind: the migrations' texts are part of
      // it, and its version.
      name: "files",
      setup({ onLoad }) {
        onLoad({ filter: /\/postgres\/migration-files\.ts$/ }, () => ({
          contents: `const files = ${JSON.stringify(migrationFiles())};
            export const migrationFiles = () => files;`,
        }));
        onLoad({ filter: /\/postgres\/package-version\.ts$/ }, () => ({
          contents: `export const packageVersion = ${JSON.stringify(packageVersion)};`,
        }));
      },
    },
  ],
});

// A program that TypeScript compiles to CommonJS gets LangChain's declarations for it, whose classes
// are others. So it gets ours for it too, which lead to the same.
for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
  if (!file.endsWith(".d.ts")) continue;
  const declared = readFileSync(join(folder, file), "utf8");
  const required = declared.replace(/((?:from |import\()"\.[^"]*\.)js"/g, '$1cjs"');
  writeFileSync(join(folder, file.replace(/ts$/, "cts")), required);
}
