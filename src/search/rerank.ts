import { withDeadline } from "../deadline.js";
import { MemoryError } from "../errors.js";
import { errorLine } from "../logger.js";
import { headOf } from "../text/storable-text.js";
import { laterFirst } from "./near-statements.rule.js";
import type { MemoryHit } from "./rank-memories.rule.js";
import type { EmbeddedQuestion } from "./read-question.js";
import type { SearchRuntime } from "./retrieval-options.js";

/** Cross-encoders read 512 tokens, of the question and a text together. */
const maxRerankedCharacters = 2_000;

/**
 * Reorders the best of `hits` by the user's reranker. All others keep their places, and so do those
 * whose ids are `fixed`. What fits was decided before: nothing is added or dropped. Scores stay,
 * which compare between questions. When the reranker fails, every hit keeps its place.
 */
export async function rerank<Hit extends MemoryHit>(
  { config, logger, record }: SearchRuntime,
  { text: question, spans }: EmbeddedQuestion,
  hits: readonly Hit[],
  fixed?: ReadonlySet<string>,
): Promise<readonly Hit[]> {
  const { rerank: by } = config.retrieval;
  const head = hits.filter(({ memory }) => !fixed?.has(memory.id)).slice(0, by?.limit);
  if (!by || question === "" || head.length < 2) return hits;
  const texts = head.map(({ memory: { text, key, value } }) =>
    headOf(key === null ? text : `${text} (${key}: ${value})`, maxRerankedCharacters),
  );
  try {
    const scores = await withDeadline(by.timeoutMs, async (signal) =>
      Array.from(await by.with(headOf(question, maxRerankedCharacters), texts, { signal })),
    );
    if (scores.length !== head.length || !scores.every(Number.isFinite)) {
      const given = `${scores.length} scores for ${head.length} texts`;
      const problem = `The reranker gave ${given}, or one that is not finite.`;
      throw new MemoryError("MODEL_OUTPUT_INVALID", problem);
    }
    const scoreOf = (hit: Hit) => scores[head.indexOf(hit)] ?? 0;
    const sorted = head.toSorted((first, second) => scoreOf(second) - scoreOf(first));
    const ranked = laterFirst(sorted, spans).map((hit) => ({
      ...hit,
      reason: `${hit.reason}, reranked`,
    }));
    return hits.map((hit) => (head.includes(hit) ? (ranked.shift() as Hit) : hit));
  } catch (error) {
    const detail = errorLine(error);
    logger.warn(`hits keep their order: ${detail}`);
    void record({ step: "rerank", op: "search", status: "error", detail });
    return hits;
  }
}
