import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/** Longest that the page may be on its way, compressed. */
const maxBytes = 200_000;

const root = fileURLToPath(new URL("../packages/server", import.meta.url));

/** The page's sources. */
export const inspectorSources: string = join(root, "inspector");

/**
 * Bundles the inspector's page: one script, one stylesheet, one document, with nothing to fetch
 * from elsewhere.
 *
 * @param folder where they are put.
 * @returns their size together, compressed, in bytes.
 */
export async function buildInspector(folder: string): Promise<number> {
  // Beside it first: whoever serves the page meanwhile has all of one build.
  const fresh = `${folder}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  mkdirSync(folder, { recursive: true });
  await build({
    absWorkingDir: root,
    outdir: fresh,
    bundle: true,
    minify: true,
    logLevel: "warning",
    entryPoints: ["inspector/main.tsx", "inspector/inspector.css"],
    entryNames: "inspector",
    format: "esm",
    target: "es2022",
    legalComments: "inline",
    jsx: "automatic",
    jsxImportSource: "preact",
  });
  copyFileSync(join(inspectorSources, "index.html"), join(fresh, "index.html"));
  for (const name of readdirSync(fresh)) renameSync(join(fresh, name), join(folder, name));
  rmdirSync(fresh);
  return readdirSync(folder).reduce(
    (sum, name) => sum + gzipSync(readFileSync(join(folder, name))).length,
    0,
  );
}

/** When any of the page's sources was changed last, in ms. */
export function newestSource(folder = inspectorSources): number {
  const times = readdirSync(folder, { recursive: true, withFileTypes: true }).map(
    (entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs,
  );
  return Math.max(...times);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const bytes = await buildInspector(join(root, "dist/inspector"));
  console.log(`The inspector's page takes ${bytes} bytes compressed.`);
  if (bytes > maxBytes)
    throw new Error(`The inspector's page takes more than ${maxBytes} bytes compressed.`);
}
