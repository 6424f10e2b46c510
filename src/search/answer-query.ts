import { doubtNote } from "../memories/item/doubt.rule.js";
import { type MemoryItem, unverified, withCaution } from "../memories/item/memory.js";
import { readsAsInstruction } from "../screening/reads-as-instruction.js";
import { estimateTokens } from "../text/estimate-tokens.js";
import { clipped, largestThatFits, visibleText } from "../text/storable-text.js";
import { dayIn, momentIn } from "../text/time-zone.js";
import { nearStatements } from "./near-statements.rule.js";
import type { MemoryHit } from "./rank-memories.rule.js";

export const answerForms = ["bullets", "full"] as const;

/** How a model reads hits: "bullets", with id, category and one line of text; "full", with metadata too. */
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
  /** Warns that nobody has confirmed it, or that it may no longer hold. */
  readonly caution?: string;
  /** Linked memories that are not hits themselves. */
  readonly related?: readonly string[];
  /** Only with "full". */
  readonly metadata?: object;
}

/**
 * Keeps the hits within the budget, for callers that asked for no form: cuts the first to fit, and
 * omits others that are too long. `bulletsOf` does the same for a model.
 */
export function hitsWithinBudget(
  hits: readonly MemoryHit[],
  budgetTokens: number | null,
): MemoryHit[] {
  if (budgetTokens === null) return [...hits];
  let remaining = budgetTokens;
  const fits = (hit: MemoryHit) => tokensOfHit(hit) <= remaining;
  const kept: MemoryHit[] = [];
  for (const [index, hit] of hits.entries()) {
    const { related: _, ...unlinked } = hit;
    let fitting = [hit, unlinked].find(fits) ?? null;
    if (index === 0) fitting ??= cutToFit(shorterHits(unlinked), cutHit, fits, budgetTokens);
    if (fitting === null) continue;
    remaining -= tokensOfHit(fitting);
    kept.push(fitting);
  }
  return kept;
}

function tokensOfHit({ memory, related = [] }: MemoryHit): number {
  return [memory, ...related]
    .flatMap(({ text, key, value }) => [text, key ?? "", value ?? ""])
    .reduce((tokens, text) => tokens + estimateTokens(text), 0);
}

function shorterHits(hit: MemoryHit): MemoryHit[] {
  const withoutValue = { ...hit.memory, value: null };
  const memories = [hit.memory, withoutValue, { ...withoutValue, key: null }];
  return memories.map((memory) => ({ ...hit, memory }));
}

function cutHit({ memory, ...hit }: MemoryHit, characters: number): MemoryHit {
  const { text, value } = memory;
  const cut = { text: clipped(text, characters), value: value && clipped(value, characters) };
  return { ...hit, memory: { ...memory, ...cut } };
}

/** Cuts the first of `shapes` that fits when it is cut, no more than it must; null if none fits. */
function cutToFit<Shape extends object>(
  shapes: readonly Shape[],
  cut: (shape: Shape, characters: number) => Shape,
  fits: (shape: Shape) => boolean,
  budgetTokens: number,
): Shape | null {
  // A token has at most eight characters: longer cuts cannot fit.
  const longest = budgetTokens * 8;
  for (const shape of shapes) {
    const least = "id" in shape ? minCharactersWithId : 1;
    const characters = largestThatFits(least, longest, (count) => fits(cut(shape, count)));
    if (characters !== null) return cut(shape, characters);
  }
  return null;
}

/** Shorter strings are ids and dates, which are useless when cut. */
const minCharactersWithId = 40;

/**
 * Writes `hits` as objects that a model reads as JSON, within the budget: cuts the first to fit,
 * and omits others.
 */
export function bulletsOf(
  hits: readonly MemoryHit[],
  form: AnswerForm,
  { budgetTokens, timeZone }: Pick<AnswerShape, "budgetTokens" | "timeZone">,
): MemoryBullet[] {
  // Nearly equal statements are told apart by their days.
  const near = nearStatements(hits.map(({ memory }) => memory));
  const bullets = hits.map((hit) => {
    const { id, validFrom } = hit.memory;
    const since = near.has(id) ? dayIn(validFrom, timeZone) : undefined;
    return form === "full" ? fullBullet(hit, timeZone) : bullet(hit, timeZone, since);
  });
  const [first, ...others] = bullets;
  if (!first || budgetTokens === null) return bullets;
  const fits = (results: readonly object[]) =>
    estimateTokens(JSON.stringify(results)) <= budgetTokens;
  // The best is cut until it fits; each other fits as it is, or is left out.
  const kept = [shortened(first, (shape) => fits([shape]), budgetTokens)];
  for (const result of others) if (fits([...kept, result])) kept.push(result);
  return kept;
}

function bullet(
  { memory, similarity, reason, related = [] }: MemoryHit,
  timeZone: string,
  since?: string,
): MemoryBullet {
  const { id, category } = memory;
  const doubt = doubtNote(memory.doubtedAt, timeZone).slice(" (".length, -1);
  const cautions = [unverified(memory), doubt].filter(Boolean);
  return {
    id,
    category,
    text: labelled(memory),
    similarity: Math.round(similarity * 1_000) / 1_000,
    reason,
    ...(since !== undefined && { since }),
    ...(cautions.length > 0 && { caution: cautions.join("; ") }),
    ...(related.length > 0 && { related: related.map((each) => cautioned(each, timeZone)) }),
  };
}

const labelled = ({ category, text }: MemoryItem) => `[${category}] ${visibleText(text)}`;

const cautioned = (memory: MemoryItem, timeZone: string) =>
  `${withCaution(memory, labelled(memory))}${doubtNote(memory.doubtedAt, timeZone)}`;

/** What the form "full" says besides, in this order. */
const metadataNames = [
  "kind",
  "key",
  "value",
  "importance",
  "confidence",
  "pinned",
  "tags",
  "agentId",
  "runId",
  "actorId",
  "role",
  "turns",
  "validFrom",
  "createdAt",
  "updatedAt",
  "origin",
  "trust",
  "source",
] as const satisfies readonly (keyof MemoryItem)[];

function fullBullet(hit: MemoryHit, timeZone: string): MemoryBullet {
  const { memory } = hit;
  const source = memory.source && { ...memory.source };
  // The quote may hold an instruction that the memory does not.
  if (source?.quote !== undefined && readsAsInstruction(source.quote)) delete source.quote;
  return {
    ...bullet(hit, timeZone),
    text: visibleText(memory.text),
    metadata: {
      ...Object.fromEntries(metadataNames.map((name) => [name, memory[name]])),
      validFrom: momentIn(memory.validFrom, timeZone),
      createdAt: momentIn(memory.createdAt, timeZone),
      updatedAt: momentIn(memory.updatedAt, timeZone),
      source,
    },
  };
}

/**
 * Drops links, then metadata, then all but id, category and text, then all but text; cuts the
 * longest strings.
 */
function shortened(
  result: MemoryBullet,
  fits: (result: MemoryBullet) => boolean,
  budgetTokens: number,
): MemoryBullet {
  const { related: _, ...unlinked } = result;
  const whole = [result, unlinked].find(fits);
  if (whole) return whole;
  const { metadata: __, ...bare } = unlinked;
  const { id = "", category = "", text } = result;
  const shapes: MemoryBullet[] = [unlinked, bare, { id, category, text }, { text }];
  return cutToFit(shapes, withShortStrings, fits, budgetTokens) ?? { text: "" };
}

const withShortStrings = (bullet: MemoryBullet, characters: number): MemoryBullet =>
  JSON.parse(
    JSON.stringify(bullet, (_, value) =>
      typeof value === "string" ? clipped(value, characters) : value,
    ),
  );
