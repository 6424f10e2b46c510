import { type MemoryItem, unverified } from "../memories/item/memory.js";
import { estimateTokens } from "../text/estimate-tokens.js";
import { readsAsInstruction } from "../text/reads-as-instruction.js";
import { clipped, mostThatFit, visibleText } from "../text/storable-text.js";
import type { MemoryHit } from "./rank-memories.rule.js";

export const answerForms = ["bullets", "full"] as const;

/** How hits are answered to a model: "bullets", a line each, or "full", with metadata. */
export type AnswerForm = (typeof answerForms)[number];

export interface AnswerShape {
  /** Null: as they are. */
  readonly form: AnswerForm | null;
  /** Null: no limit. */
  readonly budgetTokens: number | null;
}

/** A hit as a model reads it. One that is cut to fit a budget may have its text alone. */
export interface MemoryBullet {
  readonly id?: string;
  readonly category?: string;
  readonly text: string;
  readonly similarity?: number;
  readonly reason?: string;
  /** Says that nobody has confirmed it. */
  readonly caution?: string;
  /** Linked memories that are no hits themselves. */
  readonly related?: readonly string[];
  /** With "full". */
  readonly metadata?: object;
}

/** `hits` within the budget: the first is cut to fit, others that are too long are left out. */
export function fittingHits(hits: readonly MemoryHit[], budgetTokens: number | null): MemoryHit[] {
  let left = budgetTokens ?? Number.POSITIVE_INFINITY;
  return hits.flatMap((hit, index) => {
    const fits = (shorter: MemoryHit) => tokensOfHit(shorter) <= left;
    const { related: _, ...alone } = hit;
    const cut = () => (index === 0 ? cutHit(alone, left, fits) : null);
    const fitting = fits(hit) ? hit : fits(alone) ? alone : cut();
    if (fitting === null) return [];
    left -= tokensOfHit(fitting);
    return [fitting];
  });
}

function tokensOfHit({ memory, related = [] }: MemoryHit): number {
  return [memory, ...related]
    .flatMap(({ text, key, value }) => [text, key ?? "", value ?? ""])
    .reduce((tokens, text) => tokens + estimateTokens(text), 0);
}

/** A token has at most eight characters: longer cuts cannot fit. */
const longestOf = (budgetTokens: number) => budgetTokens * 8;

function cutHit(hit: MemoryHit, most: number, fits: (hit: MemoryHit) => boolean): MemoryHit | null {
  const { key, value } = hit.memory;
  for (const kept of [
    { key, value },
    { key, value: null },
    { key: null, value: null },
  ]) {
    const cut = (characters: number) => {
      const shorter = (text: string) => clipped(text, characters);
      const text = shorter(hit.memory.text);
      return { ...hit, memory: { ...hit.memory, ...kept, text, value: kept.value && shorter(kept.value) } };
    };
    const characters = mostThatFit(1, longestOf(most), (count) => fits(cut(count)));
    if (characters !== null) return cut(characters);
  }
  return null;
}

/** `hits` as JSON for a model, within the budget: the first is cut to fit, others are left out. */
export function bulletsOf(hits: readonly MemoryHit[], form: AnswerForm, budgetTokens: number | null): MemoryBullet[] {
  const written = hits.map(form === "full" ? full : bullet);
  const [first, ...others] = written;
  if (!first || budgetTokens === null) return written;
  const fits = (results: readonly object[]) => estimateTokens(JSON.stringify(results)) <= budgetTokens;
  const kept: MemoryBullet[] = [cutToFit(first, fits, budgetTokens)];
  for (const result of others) if (fits([...kept, result])) kept.push(result);
  return kept;
}

function bullet({ memory, similarity, reason, related = [] }: MemoryHit): MemoryBullet {
  const doubt = unverified(memory);
  return {
    id: memory.id,
    category: memory.category,
    text: labelled(memory),
    similarity: Math.round(similarity * 1_000) / 1_000,
    reason,
    ...(doubt !== null && { caution: doubt }),
    ...(related.length > 0 && { related: related.map(labelledWithDoubt) }),
  };
}

const labelled = ({ category, text }: MemoryItem) => `[${category}] ${visibleText(text)}`;

function labelledWithDoubt(memory: MemoryItem): string {
  const doubt = unverified(memory);
  return doubt === null ? labelled(memory) : `${labelled(memory)} (${doubt})`;
}

function full(hit: MemoryHit): MemoryBullet {
  const { kind, key, value, importance, confidence, pinned, tags, agentId, runId, actorId, role, turns } = hit.memory;
  const { validFrom, createdAt, updatedAt, origin, trust } = hit.memory;
  const source = hit.memory.source && { ...hit.memory.source };
  // The quote may hold an instruction that the memory does not.
  if (source?.quote !== undefined && readsAsInstruction(source.quote)) delete source.quote;
  return {
    ...bullet(hit),
    text: visibleText(hit.memory.text),
    metadata: {
      kind,
      key,
      value,
      importance,
      confidence,
      pinned,
      tags,
      agentId,
      runId,
      actorId,
      role,
      turns,
      validFrom,
      createdAt,
      updatedAt,
      origin,
      trust,
      source,
    },
  };
}

/** Shorter strings are ids and dates, which are of no use when they are cut. */
const shortestCut = 40;

/** Cuts the longest strings first; then drops links, metadata, all but id, category and text, and all but text. */
function cutToFit(
  result: MemoryBullet,
  fits: (results: readonly object[]) => boolean,
  budgetTokens: number,
): MemoryBullet {
  if (fits([result])) return result;
  const { related: _, ...alone } = result;
  if (fits([alone])) return alone;
  const { metadata: __, ...bare } = alone;
  const shapes = [
    { shape: alone, least: shortestCut },
    { shape: bare, least: shortestCut },
    { shape: { id: result.id, category: result.category, text: result.text }, least: shortestCut },
    { shape: { text: result.text }, least: 1 },
  ];
  for (const { shape, least } of shapes) {
    const cut = (characters: number) => [withStrings(shape, (text) => clipped(text, characters))];
    const characters = mostThatFit(least, longestOf(budgetTokens), (count) => fits(cut(count)));
    if (characters !== null) return cut(characters)[0] as MemoryBullet;
  }
  return { text: "" };
}

function withStrings(value: object, change: (text: string) => string): object {
  return JSON.parse(JSON.stringify(value, (_, each) => (typeof each === "string" ? change(each) : each)));
}
