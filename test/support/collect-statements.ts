import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { writeFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { afterAll, expect, inject } from "vitest";
import { normalStatement } from "../lint/statement-rules.js";

// Records the statements that each test file sent, for the check at the end of the run, in a file named for it.
const tests = resolve(import.meta.dirname, "..");
const texts = new Set<string>();
const add = (text: unknown) => texts.add(String(text));
subscribe("mnemograph:statement", add);
afterAll(() => {
  unsubscribe("mnemograph:statement", add);
  const normal = new Set([...texts].map(normalStatement));
  const name = relative(tests, expect.getState().testPath ?? "").replaceAll(sep, "~");
  writeFileSync(join(inject("statements"), name), [...normal].join("\n"));
});
