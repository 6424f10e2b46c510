import type { BaseMessage } from "@langchain/core/messages";

/** Longest summarised turn that is shown again; of a longer one, only the question. */
export const maxTurnMessages = 50;

export interface ContextSources {
  readonly gap: readonly BaseMessage[];
  /** Last summarised or omitted message; null when the gap begins the thread. */
  readonly endId: string | null;
  /** The last messages before `endId`, shown despite the summary. */
  readonly recent: readonly BaseMessage[];
  /** The turn at the summary's end, unless a later one is recorded. */
  readonly lastTurn: readonly BaseMessage[];
  /** The graph's messages, in order, the current one last. */
  readonly state: readonly BaseMessage[];
}

const opensTurn = (message: BaseMessage) => message.getType() === "human";

/** Messages without an id are distinct. */
const idsOf = (messages: readonly BaseMessage[]) =>
  new Set<string | undefined>(messages.flatMap(({ id }) => id ?? []));

/**
 * The messages to show beside the summary: recent covered ones, everything after its end, then
 * unrecorded ones. If they do not begin with a user's message, which models need, also the turn
 * before. The state wins over the transcript: it has edits, forks and the current message. The
 * transcript adds what the state lacks and fixes the order. After a fork the abandoned branch's
 * tail is omitted.
 */
export function conversationContext(sources: ContextSources): BaseMessage[] {
  const { gap, recent, lastTurn } = sources;
  const state = mergedInOrder([...recent, ...gap], distinct(sources.state));
  const shown = shownOf({ ...sources, state });
  if (shown[0] && opensTurn(shown[0])) return shown;
  const shownIds = idsOf(shown);
  const before = state.filter((item) => !shown.includes(item));
  const asked = before.findLastIndex(opensTurn);
  const turn = asked < 0 ? lastTurn.filter((item) => !shownIds.has(item.id)) : before.slice(asked);
  if (!turn.some(opensTurn)) return shown;
  return [...(turn.length > maxTurnMessages ? turn.slice(0, 1) : turn), ...shown];
}

function shownOf(sources: ContextSources): BaseMessage[] {
  const { recent, state } = sources;
  const after = afterEnd(sources);
  const ids = idsOf(recent);
  const isRecent = (item: BaseMessage) => ids.has(item.id);
  const isShown = new Set(after);
  const covered = state.filter((item) => isRecent(item) || !isShown.has(item));
  return [...recentOf(recent, covered, isRecent), ...after.filter((item) => !isRecent(item))];
}

/** What the state lacks at the end of `recent` was removed, or belongs to an abandoned branch. */
function recentOf(
  recent: readonly BaseMessage[],
  covered: readonly BaseMessage[],
  isRecent: (item: BaseMessage) => boolean,
): BaseMessage[] {
  const recentCovered = covered.filter(isRecent);
  if (covered.length === 0) return [...recent];
  const [first] = recentCovered;
  if (first === undefined || covered[0] !== first) return recentCovered;
  const place = recent.findIndex((item) => item.id === first.id);
  return [...recent.slice(0, place), ...recentCovered];
}

function afterEnd({ gap, endId, state }: ContextSources): BaseMessage[] {
  const gapIds = idsOf(gap);
  const end = endId === null ? -1 : state.findIndex((message) => message.id === endId);
  if (end >= 0) return state.filter((message, index) => index > end || gapIds.has(message.id));

  const firstShared = state.findIndex((message) => gapIds.has(message.id));
  if (firstShared < 0) return [...gap, ...state];

  const sharedId = state[firstShared]?.id;
  const place = gap.findIndex((message) => message.id === sharedId);
  return [...gap.slice(0, place), ...(endId === null ? state : state.slice(firstShared))];
}

/** Keeps the last version of duplicates. */
function distinct(state: readonly BaseMessage[]): readonly BaseMessage[] {
  const latest = new Map(state.map((message) => [message.id ?? message, message]));
  return latest.size === state.length ? state : [...latest.values()];
}

/** A node may have reordered recorded messages. */
function mergedInOrder(gap: readonly BaseMessage[], state: readonly BaseMessage[]) {
  const places = new Map(gap.map((message, place) => [message.id, place]));
  places.delete(undefined);
  const placeOf = (message: BaseMessage) => places.get(message.id);
  const shared = state.filter((message) => placeOf(message) !== undefined);
  const ordered = shared.toSorted(
    (first, second) => Number(placeOf(first)) - Number(placeOf(second)),
  );
  const next = ordered.values();
  return state.map((message) =>
    placeOf(message) === undefined ? message : (next.next().value as BaseMessage),
  );
}
