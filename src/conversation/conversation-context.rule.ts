import type { MessageRole } from "../text/message-text.js";

/**
 * The seqs at which a round starts, ascending: every user message opens one, with all that answers it.
 *
 * What comes before the first user message (a system prompt, a greeting) belongs to no round.
 */
export function roundStarts(messages: readonly { seq: number; role: MessageRole }[]): number[] {
  return messages.filter((message) => message.role === "user").map((message) => message.seq);
}

/** Longest round that is shown again after it was summarised; of a longer one, which an agent alone made, the question. */
export const mostRoundMessages = 50;

/** What a conversation's context is made of. `Item` is any message with an id. */
export interface ContextSources<Item> {
  /** Recorded messages after the summary's end, in order. */
  readonly gap: readonly Item[];
  /** Id of the last message the summary covers; null when there is no summary. */
  readonly summaryEndId: string | null;
  /** The round that the summary ends with, where no later one is recorded. */
  readonly lastRound: readonly Item[];
  /** The messages in the graph's state, in order; the current one is the last. */
  readonly state: readonly Item[];
  readonly idOf: (item: Item) => string | undefined;
  /** Whether it is a user's message. */
  readonly opensRound: (item: Item) => boolean;
}

/**
 * The messages to show beside the summary: everything after its end, then what is not recorded yet. Where no user's
 * message is among them, the last round before them as well: models are not asked without one.
 *
 * The state is believed where it overlaps the transcript (it holds edits, forks and the current message);
 * the transcript fills in what the state no longer or never held, and says in which order things were said. In a
 * conversation without forks nothing after the summary's end is ever missing. After a fork, the abandoned branch's
 * recorded tail is left out.
 */
export function conversationContext<Item>(sources: ContextSources<Item>): Item[] {
  const { lastRound, idOf, opensRound } = sources;
  const state = inOrder(sources.gap, distinct(sources.state, idOf), idOf);
  const shown = afterSummary({ ...sources, state });
  if (shown.some(opensRound)) return shown;
  const held = new Set(shown.map(idOf));
  held.delete(undefined);
  const before = state.filter((item) => !shown.includes(item));
  const asked = before.findLastIndex(opensRound);
  const round = asked < 0 ? lastRound.filter((item) => !held.has(idOf(item))) : before.slice(asked);
  if (!round.some(opensRound)) return shown;
  return [...(round.length > mostRoundMessages ? round.slice(0, 1) : round), ...shown];
}

function afterSummary<Item>({ gap, summaryEndId, state, idOf }: ContextSources<Item>): Item[] {
  const gapIds = new Set(gap.map(idOf));
  // Two messages without an id are not the same one.
  gapIds.delete(undefined);
  const summaryEnd =
    summaryEndId === null ? -1 : state.findIndex((message) => idOf(message) === summaryEndId);
  if (summaryEnd >= 0)
    return state.filter((message, index) => index > summaryEnd || gapIds.has(idOf(message)));

  const firstShared = state.findIndex((message) => gapIds.has(idOf(message)));
  if (firstShared < 0) return [...gap, ...state];

  const sharedId = idOf(state[firstShared] as Item);
  const before = gap.slice(
    0,
    gap.findIndex((message) => idOf(message) === sharedId),
  );
  return [...before, ...(summaryEndId === null ? state : state.slice(firstShared))];
}

/** `state` without what stands there twice, as it was said last. */
function distinct<Item>(state: readonly Item[], idOf: (item: Item) => string | undefined): readonly Item[] {
  const latest = new Map(state.map((message) => [idOf(message) ?? message, message]));
  return latest.size === state.length ? state : [...latest.values()];
}

/** `state`, in which what is recorded stands in the order of the transcript: a node may have put it back in another. */
function inOrder<Item>(
  gap: readonly Item[],
  state: readonly Item[],
  idOf: (item: Item) => string | undefined,
): readonly Item[] {
  const places = new Map(gap.map((message, place) => [idOf(message), place]));
  places.delete(undefined);
  const placeOf = (message: Item) => places.get(idOf(message));
  const shared = state.filter((message) => placeOf(message) !== undefined);
  const ordered = shared.toSorted((first, second) => Number(placeOf(first)) - Number(placeOf(second)));
  const next = ordered.values();
  return state.map((message) => (placeOf(message) === undefined ? message : (next.next().value as Item)));
}
