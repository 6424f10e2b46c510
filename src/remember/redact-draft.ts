import type { MemoryDraft } from "../domain/memory.js";
import type { Redactor } from "./redactor.js";

/** `draft`, with all that it says redacted: text, key, value, tags, who said it, and the quote it rests on. */
export async function redactDraft(redactor: Redactor, draft: MemoryDraft): Promise<MemoryDraft> {
  const { text, key, value, tags, actorId, source } = draft;
  const said = await redactor.json({ text, key, value, tags, actorId, quote: source?.quote });
  const { quote, ...fields } = said;
  return { ...draft, ...fields, ...(source && { source: { ...source, quote } }) };
}
