/** Longest summarised turn that is shown again; of a longer one, only the question. */
export const maxTurnMessages = 50;

export interface ContextSources<Item> {
  readonly gap: readonly Item[];
  /** Last summarised or omitted message; null when the gap begins the thread. */
  readonly endId: string | null;
  /** The last messages before `endId`, shown despite the summary. */
  readonly recent: readonly Item[];
  /** The turn at the summary's end, unless a later one is recorded. */
  readonly lastTurn: readonly Item[];
  /** The graph's messages, in order, the current one last. */
  readonly state: readonly Item[];
  readonly idOf: (item: Item) => string | undefined;
  readonly opensTurn: (item: Item) => boolean;
}

/**
 * The messages to show beside the summary: recent covered ones, everything after its end, then
 * unrecorded ones. If they do not begin with a user's message, which models need, also the turn
 * before. The state wins over the transcript: it has edits, forks and the current message. The
 * transcript adds what the state lacks and fixes the order. After a fork the abandoned branch's
 * tail is omitted.
 */
export function conversationContext<Item>(sources: ContextSources<Item>): Item[] {
  const { gap, recent, lastTurn, idOf, opensTurn } = sources;
  const state = mergedInOrder([...recent, ...gap], distinct(sources.state, idOf), idOf);
  const shown = shownOf({ ...sources, state });
  if (shown[0] && opensTurn(shown[0])) return shown;
  const shownIds = new Set(shown.map(idOf));
  shownIds.delete(undefined);
  const before = state.filter((item) => !shown.includes(item));
  const asked = before.findLastIndex(opensTurn);
  const turn =
    asked < 0 ? lastTurn.filter((item) => !shownIds.has(idOf(item))) : before.slice(asked);
  if (!turn.some(opensTurn)) return shown;
  return [...(turn.length > maxTurnMessages ? turn.slice(0, 1) : turn), ...shown];
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

/** What the state lacks at the end of `recent` was removed, or belongs to an abandoned branch. */
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
  // Messages without an id are distinct.
  gapIds.delete(undefined);
  const end = endId === null ? -1 : state.findIndex((message) => idOf(message) === endId);
  if (end >= 0) return state.filter((message, index) => index > end || gapIds.has(idOf(message)));

  const firstShared = state.findIndex((message) => gapIds.has(idOf(message)));
  if (firstShared < 0) return [...gap, ...state];

  const sharedId = idOf(state[firstShared] as Item);
  const place = gap.findIndex((message) => idOf(message) === sharedId);
  return [...gap.slice(0, place), ...(endId === null ? state : state.slice(firstShared))];
}

/** Keeps the last version of duplicates. */
function distinct<Item>(
  state: readonly Item[],
  idOf: (item: Item) => string | undefined,
): readonly Item[] {
  const latest = new Map(state.map((message) => [idOf(message) ?? message, message]));
  return latest.size === state.length ? state : [...latest.values()];
}

/** A node may have reordered recorded messages. */
function mergedInOrder<Item>(
  gap: readonly Item[],
  state: readonly Item[],
  idOf: (item: Item) => string | undefined,
) {
  const places = new Map(gap.map((message, place) => [idOf(message), place]));
  places.delete(undefined);
  const placeOf = (message: Item) => places.get(idOf(message));
  const shared = state.filter((message) => placeOf(message) !== undefined);
  const ordered = shared.toSorted(
    (first, second) => Number(placeOf(first)) - Number(placeOf(second)),
  );
  const next = ordered.values();
  return state.map((message) =>
    placeOf(message) === undefined ? message : (next.next().value as Item),
  );
}
