import { randomUUID } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, inject } from "vitest";
import { normalStatement } from "../lint/statement-rules.js";

// Records the statements that each test file sent, for the check at the end of the run.
const texts = new Set<string>();
const add = (text: unknown) => texts.add(String(text));
subscribe("mnemograph:statement", add);
afterAll(() => {
  unsubscribe("mnemograph:statement", add);
  const normal = new Set([...texts].map(normalStatement));
  writeFileSync(join(inject("statements"), randomUUID()), [...normal].join("\n"));
});
