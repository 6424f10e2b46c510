import type { MemoryDraft } from "../domain/memory.js";
import type { Redactor } from "./redactor.js";

/**
 * `draft`, with all that it says redacted: text, key, value, tags, whose it is and who said it, and the quote it
 * rests on. The id of its thread is no text.
 */
export async function redactDraft(redactor: Redactor, draft: MemoryDraft): Promise<MemoryDraft> {
  const { text, key, value, tags, agentId, runId, actorId, role, source } = draft;
  const said = { text, key, value, tags, agentId, runId, actorId, role, quote: source?.quote };
  const { quote, ...fields } = await redactor.json(said);
  return { ...draft, ...fields, ...(source && { source: { ...source, quote } }) };
}
