import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import wabt from "wabt";

const folder = join(import.meta.dirname, "../src/search/held");
const source = join(folder, "dot-products.wat");

/** Where the module lies that `npm run kernel` makes. */
export const kernelPath = join(folder, "dot-products.ts");

/** `dot-products.wat`, compiled, as a module of TypeScript: a bundler takes it along, and no file is read at run time. */
export async function compileKernel(): Promise<string> {
  const { parseWat } = await wabt();
  const parsed = parseWat(source, readFileSync(source, "utf8"), { simd: true });
  parsed.validate();
  const { buffer } = parsed.toBinary({});
  parsed.destroy();
  const base64 = Buffer.from(buffer).toString("base64");
  return `// Made of dot-products.wat by scripts/compile-dot-products.ts.

/** WebAssembly with SIMD, in base64: \`dot-products.wat\` says what it does. */
export const dotProducts =
  "${base64}";
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(kernelPath, await compileKernel());
