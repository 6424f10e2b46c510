/** What a conversation's context is made of. `Item` is any message with an id. */
export interface ContextSources<Item> {
  /** Recorded messages after the summary's end, in order. */
  readonly gap: readonly Item[];
  /** Id of the last message the summary covers; null when there is no summary. */
  readonly summaryEndId: string | null;
  /** The messages in the graph's state, in order; the current one is the last. */
  readonly state: readonly Item[];
  readonly idOf: (item: Item) => string | undefined;
}

/**
 * The messages to show beside the summary: everything after its end, then what is not recorded yet.
 *
 * The state is believed where it overlaps the transcript (it holds edits, forks and the current message);
 * the transcript fills in what the state no longer or never held. In a conversation without forks nothing
 * after the summary's end is ever missing. After a fork, the abandoned branch's recorded tail is left out.
 */
export function conversationContext<Item>(sources: ContextSources<Item>): Item[] {
  const { gap, summaryEndId, state, idOf } = sources;
  const summaryEnd =
    summaryEndId === null ? -1 : state.findIndex((message) => idOf(message) === summaryEndId);
  if (summaryEnd >= 0) return state.slice(summaryEnd + 1);

  const gapIds = new Set(gap.map(idOf));
  // Two messages without an id are not the same one.
  gapIds.delete(undefined);
  const firstShared = state.findIndex((message) => gapIds.has(idOf(message)));
  if (firstShared < 0) return [...gap, ...state];

  const sharedId = idOf(state[firstShared] as Item);
  const before = gap.slice(
    0,
    gap.findIndex((message) => idOf(message) === sharedId),
  );
  return [...before, ...(summaryEndId === null ? state : state.slice(firstShared))];
}
