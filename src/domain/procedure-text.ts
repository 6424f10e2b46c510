import { createHash } from "node:crypto";
import { MemoryError } from "../errors.js";
import { slotKey } from "./slot-key.js";
import { onOneLine } from "./storable-text.js";
import { writingProblems } from "./writing-constraints.js";

/** Most steps kept; more is no longer one procedure. */
const mostSteps = 20;

/**
 * A procedure as it is stored: its title, then numbered steps, one a line. Null when there are no steps.
 *
 * @throws MemoryError `MODEL_OUTPUT_INVALID` when they are too long.
 */
export function procedureText(procedure: { title: string; steps: readonly string[] }): string | null {
  const steps = procedure.steps
    .map((step) => onOneLine(step).replace(/^(?:\d{1,2}[.)]|[-*•])\s+/, ""))
    .filter((step) => /[\p{L}\p{N}]/u.test(step))
    .slice(0, mostSteps);
  if (steps.length === 0) return null;
  const title = onOneLine(procedure.title).replace(/:$/, "");
  const lines = [
    ...(title === "" ? [] : [`${title}:`]),
    ...steps.map((step, index) => `${index + 1}. ${step}`),
  ];
  const text = lines.join("\n");
  const [problem] = writingProblems("procedure", text);
  if (problem === undefined) return text;
  throw new MemoryError("MODEL_OUTPUT_INVALID", `The model's procedure cannot be kept: ${problem}.`, {
    cause: { output: text },
  });
}

/** Characters of agent and title that a key shows, where a digest says the rest. */
const shownCharacters = 80;

/** As the digest ends a key. */
const digestForm = /(?:^|_)[0-9a-f]{32}$/;

/**
 * The key under which the steps for `title` are kept; of an agent's steps, one that no other agent's and no other
 * title leads to, however the two are cut into words.
 */
export function procedureKey(title: string, agentId: string | undefined): string {
  const slot = slotKey("procedural", title) ?? "";
  if (agentId === undefined && !digestForm.test(slot)) return title;
  const digest = createHash("sha256")
    .update(JSON.stringify([agentId ?? null, slot]))
    .digest("hex");
  const shown = [...`${agentId ?? ""} ${title}`].slice(0, shownCharacters).join("");
  return `${shown} ${digest.slice(0, 32)}`;
}
