/** Longest turn that is shown again after it was summarised; of a longer one, which an agent alone made, the question. */
export const mostTurnMessages = 50;

/** `Item` is any message with an id. */
export interface ContextSources<Item> {
  /** Recorded messages after `endId`, in order. */
  readonly gap: readonly Item[];
  /** Id of the last message that a summary covers or that is over the limit; null when the gap begins the thread. */
  readonly endId: string | null;
  /** The last messages before it, shown all the same. */
  readonly recent: readonly Item[];
  /** The turn that the summary ends with, where no later one is recorded. */
  readonly lastTurn: readonly Item[];
  /** The messages in the graph's state, in order; the current one is the last. */
  readonly state: readonly Item[];
  readonly idOf: (item: Item) => string | undefined;
  readonly opensTurn: (item: Item) => boolean;
}

/**
 * The messages to show beside the summary: recent ones that it covers, everything after its end, then what is not
 * recorded yet. Where they do not begin with a user's message, also the last turn before: models need one. The state
 * wins where it overlaps the transcript: it has edits, forks and the current message. The transcript adds what the state
 * lacks, and has the order. After a fork the abandoned branch's tail is omitted.
 */
export function conversationContext<Item>(sources: ContextSources<Item>): Item[] {
  const { gap, recent, lastTurn, idOf, opensTurn } = sources;
  const state = inOrder([...recent, ...gap], distinct(sources.state, idOf), idOf);
  const shown = shownOf({ ...sources, state });
  if (shown[0] && opensTurn(shown[0])) return shown;
  const shownIds = new Set(shown.map(idOf));
  shownIds.delete(undefined);
  const before = state.filter((item) => !shown.includes(item));
  const asked = before.findLastIndex(opensTurn);
  const turn = asked < 0 ? lastTurn.filter((item) => !shownIds.has(idOf(item))) : before.slice(asked);
  if (!turn.some(opensTurn)) return shown;
  return [...(turn.length > mostTurnMessages ? turn.slice(0, 1) : turn), ...shown];
}

function shownOf<Item>(sources: ContextSources<Item>): Item[] {
  const { recent, state, idOf } = sources;
  const after = afterEnd(sources);
  const ids = new Set(recent.map(idOf));
  ids.delete(undefined);
  const isRecent = (item: Item) => ids.has(idOf(item));
  const isShown = new Set(after);
  const covered = state.filter((item) => isRecent(item) || !isShown.has(item));
  return [...recentOf(recent, covered, isRecent, idOf), ...after.filter((item) => !isRecent(item))];
}

/** What the state lacks of `recent` at its end was removed, or is of an abandoned branch. */
function recentOf<Item>(
  recent: readonly Item[],
  covered: readonly Item[],
  isRecent: (item: Item) => boolean,
  idOf: (item: Item) => string | undefined,
): Item[] {
  const recentCovered = covered.filter(isRecent);
  if (covered.length === 0) return [...recent];
  const [first] = recentCovered;
  if (first === undefined || covered[0] !== first) return recentCovered;
  const place = recent.findIndex((item) => idOf(item) === idOf(first));
  return [...recent.slice(0, place), ...recentCovered];
}

function afterEnd<Item>({ gap, endId, state, idOf }: ContextSources<Item>): Item[] {
  const gapIds = new Set(gap.map(idOf));
  // Two messages without an id are not the same one.
  gapIds.delete(undefined);
  const end = endId === null ? -1 : state.findIndex((message) => idOf(message) === endId);
  if (end >= 0) return state.filter((message, index) => index > end || gapIds.has(idOf(message)));

  const firstShared = state.findIndex((message) => gapIds.has(idOf(message)));
  if (firstShared < 0) return [...gap, ...state];

  const sharedId = idOf(state[firstShared] as Item);
  const place = gap.findIndex((message) => idOf(message) === sharedId);
  return [...gap.slice(0, place), ...(endId === null ? state : state.slice(firstShared))];
}

/** Of duplicates the last version. */
function distinct<Item>(state: readonly Item[], idOf: (item: Item) => string | undefined): readonly Item[] {
  const latest = new Map(state.map((message) => [idOf(message) ?? message, message]));
  return latest.size === state.length ? state : [...latest.values()];
}

/** A node may have put recorded messages back in another order. */
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
