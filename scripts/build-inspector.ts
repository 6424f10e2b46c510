import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/** Longest that the page may be on its way, compressed. */
const mostBytes = 200_000;

const root = fileURLToPath(new URL("..", import.meta.url));

/** The page's sources. */
export const inspectorSources: string = join(root, "inspector");

/**
 * Bundles the inspector's page: one script, one stylesheet, one document, with nothing to fetch from elsewhere.
 *
 * @param folder where they are put.
 * @returns their size together, compressed, in bytes.
 */
export async function buildInspector(folder: string): Promise<number> {
  mkdirSync(folder, { recursive: true });
  await build({
    absWorkingDir: root,
    entryPoints: { inspector: "inspector/main.tsx" },
    outdir: folder,
    ...{
      bundle: true,
      minify: true,
      format: "esm",
      target: "es2022",
      legalComments: "inline",
      logLevel: "warning",
    },
    ...{ jsx: "automatic", jsxImportSource: "preact" },
  });
  await build({
    absWorkingDir: root,
    entryPoints: { inspector: "inspector/inspector.css" },
    outdir: folder,
    ...{ bundle: true, minify: true, logLevel: "warning" },
  });
  copyFileSync(join(inspectorSources, "index.html"), join(folder, "index.html"));
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
  if (bytes > mostBytes)
    throw new Error(`The inspector's page takes more than ${mostBytes} bytes compressed.`);
}
