import { type MemoryItem, unverified, withCaution } from "../memories/item/memory.js";
import { estimateTokens } from "../text/estimate-tokens.js";
import { readsAsInstruction } from "../text/reads-as-instruction.js";
import { clipped, mostThatFit, visibleText } from "../text/storable-text.js";
import { dayIn, momentIn } from "../text/time-zone.js";
import { nearStatements } from "./near-statements.rule.js";
import type { MemoryHit } from "./rank-memories.rule.js";

export const answerForms = ["bullets", "full"] as const;

/** The format of hits for a model: "bullets", a line each, or "full", with metadata. */
export type AnswerForm = (typeof answerForms)[number];

/** Null `form`: hits unchanged; null `budgetTokens`: no limit. */
export interface AnswerShape {
  readonly form: AnswerForm | null;
  readonly budgetTokens: number | null;
  readonly timeZone: string;
}

/** A hit as a model reads it. A hit that was cut to fit a budget may have only its text. */
export interface MemoryBullet {
  readonly id?: string;
  readonly category?: string;
  readonly text: string;
  readonly similarity?: number;
  readonly reason?: string;
  /** The day from which it holds, as "2026-11-28": only beside a nearly equal statement. */
  readonly since?: string;
  /** Warns that nobody has confirmed it. */
  readonly caution?: string;
  /** Linked memories that are not hits themselves. */
  readonly related?: readonly string[];
  /** Only with "full". */
  readonly metadata?: object;
}

/** Keeps the hits within the budget: cuts the first to fit, and omits others that are too long. */
export function fittingHits(hits: readonly MemoryHit[], budgetTokens: number | null): MemoryHit[] {
  let remaining = budgetTokens ?? Number.POSITIVE_INFINITY;
  return hits.flatMap((hit, index) => {
    const fits = (shorter: MemoryHit) => tokensOfHit(shorter) <= remaining;
    const { related: _, ...unlinked } = hit;
    const cut = () => (index === 0 ? cutHit(unlinked, remaining, fits) : null);
    const fitting = fits(hit) ? hit : fits(unlinked) ? unlinked : cut();
    if (fitting === null) return [];
    remaining -= tokensOfHit(fitting);
    return [fitting];
  });
}

function tokensOfHit({ memory, related = [] }: MemoryHit): number {
  return [memory, ...related]
    .flatMap(({ text, key, value }) => [text, key ?? "", value ?? ""])
    .reduce((tokens, text) => tokens + estimateTokens(text), 0);
}

/** A token has at most eight characters: longer cuts cannot fit. */
const maxCharacters = (budgetTokens: number) => budgetTokens * 8;

function cutHit(
  hit: MemoryHit,
  budgetTokens: number,
  fits: (hit: MemoryHit) => boolean,
): MemoryHit | null {
  const { text } = hit.memory;
  const withoutValue = { ...hit.memory, value: null };
  for (const memory of [hit.memory, withoutValue, { ...withoutValue, key: null }]) {
    const { value } = memory;
    const cut = (characters: number) => ({
      ...hit,
      memory: {
        ...memory,
        text: clipped(text, characters),
        value: value && clipped(value, characters),
      },
    });
    const characters = mostThatFit(1, maxCharacters(budgetTokens), (count) => fits(cut(count)));
    if (characters !== null) return cut(characters);
  }
  return null;
}

/**
 * Formats `hits` as JSON for a model, within the budget: cuts the first to fit, and omits others.
 */
export function bulletsOf(
  hits: readonly MemoryHit[],
  form: AnswerForm,
  { budgetTokens, timeZone }: Pick<AnswerShape, "budgetTokens" | "timeZone">,
): MemoryBullet[] {
  const near = nearStatements(hits.map(({ memory }) => memory));
  const bullets = hits.map((hit) => {
    const { id, validFrom } = hit.memory;
    const since = near.has(id) ? dayIn(validFrom, timeZone) : undefined;
    return form === "full" ? fullBullet(hit, timeZone) : bullet(hit, since);
  });
  const [first, ...others] = bullets;
  if (!first || budgetTokens === null) return bullets;
  const fits = (results: readonly object[]) =>
    estimateTokens(JSON.stringify(results)) <= budgetTokens;
  const kept: MemoryBullet[] = [cutToFit(first, fits, budgetTokens)];
  for (const result of others) if (fits([...kept, result])) kept.push(result);
  return kept;
}

function bullet(
  { memory, similarity, reason, related = [] }: MemoryHit,
  since?: string,
): MemoryBullet {
  const { id, category } = memory;
  const caution = unverified(memory);
  return {
    id,
    category,
    text: labelled(memory),
    similarity: Math.round(similarity * 1_000) / 1_000,
    reason,
    ...(since !== undefined && { since }),
    ...(caution !== null && { caution }),
    ...(related.length > 0 && { related: related.map(labelledWithCaution) }),
  };
}

const labelled = ({ category, text }: MemoryItem) => `[${category}] ${visibleText(text)}`;

const labelledWithCaution = (memory: MemoryItem) => withCaution(memory, labelled(memory));

function fullBullet(hit: MemoryHit, timeZone: string): MemoryBullet {
  const { kind, key, value, importance, confidence, pinned, tags } = hit.memory;
  const { agentId, runId, actorId, role, turns, origin, trust } = hit.memory;
  const { validFrom, createdAt, updatedAt } = hit.memory;
  const source = hit.memory.source && { ...hit.memory.source };
  // The quote may hold an instruction that the memory does not.
  if (source?.quote !== undefined && readsAsInstruction(source.quote)) delete source.quote;
  return {
    ...bullet(hit),
    text: visibleText(hit.memory.text),
    metadata: {
      ...{ kind, key, value, importance, confidence, pinned, tags },
      ...{ agentId, runId, actorId, role, turns },
      validFrom: momentIn(validFrom, timeZone),
      createdAt: momentIn(createdAt, timeZone),
      updatedAt: momentIn(updatedAt, timeZone),
      ...{ origin, trust, source },
    },
  };
}

/** Shorter strings are ids and dates, which are useless when cut. */
const shortestCut = 40;

/**
 * Drops links, then metadata, then all but id, category and text, then all but text; cuts the
 * longest strings.
 */
function cutToFit(
  result: MemoryBullet,
  fits: (results: readonly object[]) => boolean,
  budgetTokens: number,
): MemoryBullet {
  if (fits([result])) return result;
  const { related: _, ...unlinked } = result;
  if (fits([unlinked])) return unlinked;
  const { metadata: __, ...bare } = unlinked;
  const { id, category, text } = result;
  for (const shape of [unlinked, bare, { id, category, text }, { text }]) {
    const cut = (characters: number) => [withStrings(shape, (each) => clipped(each, characters))];
    const least = "id" in shape ? shortestCut : 1;
    const characters = mostThatFit(least, maxCharacters(budgetTokens), (count) => fits(cut(count)));
    if (characters !== null) return cut(characters)[0] as MemoryBullet;
  }
  return { text: "" };
}

function withStrings(value: object, change: (text: string) => string): object {
  return JSON.parse(
    JSON.stringify(value, (_, each) => (typeof each === "string" ? change(each) : each)),
  );
}
