import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./compiler.js";

/** The examples in docstrings of `src`, in the order of files and lines. */
export const docExamples = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .toSorted()
  .flatMap((file) => {
    const text = readFileSync(join(root, "src", file), "utf8");
    const blocks = text.matchAll(/@example\n\s*\* ```ts\n([\s\S]*?)\n\s*\* ```/g);
    return [...blocks].map(([, code = ""]) => ({ file, code: code.replace(/^\s*\* ?/gm, "") }));
  });
