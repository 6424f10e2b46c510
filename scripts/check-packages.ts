import { execFileSync } from "node:child_process";
import { join } from "node:path";

// What npm would publish of each package: `publint` reads its package.json, and `attw` resolves its
// entries as programs that install it do. After `npm run build`.
for (const home of [".", "packages/server", "packages/ai-sdk"]) {
  const cwd = join(import.meta.dirname, "..", home);
  execFileSync("npx", ["publint"], { cwd, stdio: "inherit" });
  execFileSync("npx", ["attw", "--pack", "--profile", "esm-only"], { cwd, stdio: "inherit" });
}
