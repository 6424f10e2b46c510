import { build } from "esbuild";
import { migrationFiles } from "../src/postgres/migration-files.js";
import { packageVersion } from "../src/postgres/package-version.js";

// Bundles the package's ways in, with what they share, into a folder: `tsx scripts/bundle.ts dist`.
// Three hundred modules of its own would take a process as long to load as LangGraph does. What it
// depends on stays outside.

const [, , folder = "dist"] = process.argv;
const entries = [
  ...["index", "http/index", "mcp/index", "ai-sdk/index", "testing/index", "cli/main"],
  ...["local-embeddings/index", "local-embeddings/embedding-child"],
];

await build({
  entryPoints: entries.map((name) => ({ in: `src/${name}.ts`, out: name })),
  outdir: folder,
  bundle: true,
  splitting: true,
  packages: "external",
  platform: "node",
  target: "node20.19",
  format: "esm",
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
