import { MemoryError } from "../errors.js";
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
