import { retrievalWeights } from "../retrieval-options.js";
import {
  type AskedTerm,
  idealOf,
  normedFrequency,
  saturation,
  type WeightedTerm,
  weightedTerms,
} from "../word-weights.rule.js";
import type { HeldMessages } from "./held-messages.js";
import { frequencyIn, type Postings, slotIn } from "./posting-lists.rule.js";

/** An owner's messages, and what the owner counts of them (`owner.message_count`, `owner.message_length`). */
export interface OwnerMessages {
  readonly messages: HeldMessages;
  readonly count: number;
  readonly length: number;
}

/** The messages of an owner that have a term. */
export interface TermMatches {
  readonly term: WeightedTerm;
  readonly messages: HeldMessages;
  readonly lengths: Uint32Array;
  readonly postings: Postings;
  /** Places of the owner's slots begin here. */
  readonly base: number;
}

/** Messages that have any of the terms asked for, all owners' together. */
export interface MessageMatches {
  readonly byTerm: readonly TermMatches[];
  /** What a message would score that has all terms; 0 where there are none. */
  readonly ideal: number;
  /** Where each of them is: a number below `size`, its slot with those of the owners before it. */
  readonly places: readonly number[];
  /** What each of them scores by its own words, times `ideal`: of single precision, as they are compared. */
  readonly totals: Float32Array;
  readonly size: number;
  /** The thread and seq of the message at a place. */
  readonly messageAt: (place: number) => MessageAddress;
}

export interface MessageAddress {
  /** `thread.id`. */
  readonly thread: number;
  readonly seq: number;
}

const { k1, b } = retrievalWeights.message;

/** How often a message has the term of `posting`, for a message of average length. */
export function normedIn(posting: number, { term, lengths }: TermMatches): number {
  return normedFrequency(frequencyIn(posting), lengths[slotIn(posting)] as number, term.average, b);
}

/**
 * By place: what messages score by their own words. Reused, and cleared by what was touched: a new array for all messages
 * there are costs more than to look through those that match.
 */
let scores = new Float64Array(0);

/** The messages of the app that have any of `terms`. @param appId "" for those of all apps */
export function matchMessages(
  terms: readonly AskedTerm[],
  owners: readonly OwnerMessages[],
  appId: string,
): MessageMatches {
  const bases = owners.map((_, at) => slotsOf(owners.slice(0, at)));
  const size = slotsOf(owners);
  const texts = owners.map(({ messages, ...counted }) => ({ ...counted, found: messages.found }));
  const weighted = weightedTerms(terms, texts);
  const inApp = owners.map(({ messages }) => postingsInApp(messages, appId));
  const byTerm = weighted.map((term): TermMatches => {
    const { messages } = owners[term.owner] as OwnerMessages;
    const postings = (inApp[term.owner] as (all: Postings) => Postings)(messages.postings(term.lexeme));
    return { term, messages, lengths: messages.lengths, postings, base: bases[term.owner] as number };
  });
  return { byTerm, ideal: idealOf(weighted), size, ...scoredAlone(byTerm, size), messageAt };

  function messageAt(place: number): MessageAddress {
    const at = bases.findLastIndex((base) => base <= place);
    const { messages } = owners[at] as OwnerMessages;
    const slot = place - (bases[at] as number);
    return { thread: messages.threads[messages.threadAt(slot)]?.ref as number, seq: messages.seqAt(slot) };
  }
}

function slotsOf(owners: readonly OwnerMessages[]): number {
  return owners.reduce((sum, { messages }) => sum + messages.slots, 0);
}

/** What leaves of postings those in threads of the app. */
function postingsInApp(messages: HeldMessages, appId: string): (all: Postings) => Postings {
  if (appId === "") return (all) => all;
  const inApp = messages.threads.map(({ app }) => app === appId);
  if (!inApp.includes(false)) return (all) => all;
  return (all) => all.filter((posting) => inApp[messages.threadAt(slotIn(posting))]);
}

function scoredAlone(
  byTerm: readonly TermMatches[],
  size: number,
): Pick<MessageMatches, "places" | "totals"> {
  if (scores.length < size) scores = new Float64Array(size);
  const places: number[] = [];
  for (const matches of byTerm) {
    const { term, base, postings } = matches;
    for (let at = 0; at < postings.length; at++) {
      const posting = postings[at] as number;
      const place = base + slotIn(posting);
      const before = scores[place] as number;
      if (before === 0) places.push(place);
      scores[place] = before + term.gain * saturation(normedIn(posting, matches), k1);
    }
  }
  const totals = new Float32Array(places.length);
  for (const [at, place] of places.entries()) {
    totals[at] = scores[place] as number;
    scores[place] = 0;
  }
  return { places, totals };
}
