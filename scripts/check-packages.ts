import { execFileSync } from "node:child_process";
import { join } from "node:path";

// What npm would publish of each package: `publint` reads its package.json, and `attw` resolves its
// entries as programs that install it do. After `npm run build`. "false-cjs": Node's `require` loads
// ES modules, so a CommonJS program has declarations of its own for the same file.
for (const home of [".", "packages/server", "packages/ai-sdk"]) {
  const cwd = join(import.meta.dirname, "..", home);
  execFileSync("npx", ["publint"], { cwd, stdio: "inherit" });
  const rules = ["--profile", "esm-only", "--ignore-rules", "false-cjs"];
  execFileSync("npx", ["attw", "--pack", ...rules], { cwd, stdio: "inherit" });
}
