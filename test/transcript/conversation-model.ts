import type { BaseMessage } from "@langchain/core/messages";
import { conversationContext } from "../../src/transcript/conversation-context.rule.js";

/**
 * Where messages are besides the transcript: in the graph's state, whole or bounded, or nowhere.
 */
export type Session = "full" | "bounded" | "stateless";

type Ending = "finished" | "crashBeforeAnswer" | "crashBeforeRecord" | "crashAfterRecord";

type Summary = { readonly endSeq: number; status: "processing" | "completed" | "failed" };

/** `conversationContext` of messages by their ids. */
export function contextOfIds(
  sources: Readonly<Record<"gap" | "recent" | "lastTurn" | "state", readonly string[]>> & {
    readonly endId: string | null;
  },
  isUsers: (id: string) => boolean,
): string[] {
  const messagesOf = (ids: readonly string[]) =>
    ids.map((id) => ({ id, getType: () => (isUsers(id) ? "human" : "ai") }) as BaseMessage);
  const { gap, recent, lastTurn, state, endId } = sources;
  const shown = conversationContext({
    gap: messagesOf(gap),
    recent: messagesOf(recent),
    lastTurn: messagesOf(lastTurn),
    state: messagesOf(state),
    endId,
  });
  return shown.map(({ id }) => id ?? "");
}

export const isUser = (id: string) => id.startsWith("user") || id === "current";

/** A model of a thread in LangGraph and the tables, with ids for messages. */
export class Conversation {
  readonly #session: Session;
  readonly #transcript: string[] = [];
  #state: string[] = [];
  #summaries: Summary[] = [];
  #next = 0;
  #lastUser: string | undefined;

  /** Summarised messages that are shown verbatim, counted back to the start of a turn. */
  readonly #keep: number;

  constructor(session: Session, keep: number) {
    this.#session = session;
    this.#keep = keep;
  }

  /** A user message and its `answers`; a crash keeps what was checkpointed before it. */
  round(answers: number, ending: Ending): void {
    this.#run(this.#fresh("user"), answers, ending);
  }

  /** The last user message again under the same id, as from a job queue. Stateless runs only. */
  retryRound(): void {
    if (this.#session === "stateless" && this.#lastUser !== undefined)
      this.#run(this.#lastUser, 1, "finished");
  }

  claim(): void {
    const endSeq = this.#transcript.length - 1;
    if (endSeq < 0 || this.#summaries.some((summary) => summary.status === "processing")) return;
    if ((this.#latest()?.endSeq ?? -1) < endSeq)
      this.#summaries.push({ endSeq, status: "processing" });
  }

  complete(): void {
    this.#settle("completed");
  }

  fail(): void {
    this.#settle("failed");
  }

  /** Restores the completed summary `back` versions ago. */
  rollback(back: number): void {
    const target = this.#summaries
      .filter((summary) => summary.status === "completed")
      .at(-1 - back);
    if (target) this.#summaries = this.#summaries.slice(0, this.#summaries.indexOf(target) + 1);
  }

  /** The next turn's context, and the expected one. */
  ask(): { context: string[]; expected: string[]; current: string } {
    const current = "current";
    const endSeq = this.#latest()?.endSeq ?? -1;
    const unrecorded = this.#state.filter((id) => !this.#transcript.includes(id));
    return {
      context: this.#contextOf([...this.#state, current]),
      expected: [...this.#recent(), ...this.#transcript.slice(endSeq + 1), ...unrecorded, current],
      current,
    };
  }

  /** The same for a run that brings `others` and no user message. */
  askNothing(others: readonly string[]) {
    return {
      context: this.#contextOf([...this.#state, ...others]),
      said: [...this.#transcript, ...this.#state].filter(isUser),
      after: this.#transcript.slice((this.#latest()?.endSeq ?? -1) + 1),
    };
  }

  /** Messages in the state that the summary covers and that are not recent. */
  readonly coveredInState = (): string[] => {
    const covered = new Set(this.#transcript.slice(0, (this.#latest()?.endSeq ?? -1) + 1));
    const recent = this.#recent();
    return this.#state.filter((id) => covered.has(id) && !recent.includes(id));
  };

  #run(user: string, answers: number, ending: Ending): void {
    this.#lastUser = user;
    const kept = this.#session !== "stateless";
    const recalled = {
      endId: this.#endId(),
      lastId: this.#transcript.at(-1),
      recent: this.#recent(),
    };
    let state = [...this.#state, user];
    if (kept) this.#state = state;
    if (ending === "crashBeforeAnswer") return;

    state = [...state, ...Array.from({ length: answers }, () => this.#fresh("answer"))];
    if (kept) this.#state = state;
    if (ending === "crashBeforeRecord") return;

    for (const id of state.slice(state.lastIndexOf(recalled.lastId ?? "") + 1)) {
      if (!this.#transcript.includes(id)) this.#transcript.push(id);
    }
    if (ending === "crashAfterRecord" || this.#session !== "bounded" || recalled.endId === null)
      return;
    const end = state.indexOf(recalled.endId);
    const [first] = recalled.recent;
    if (first !== undefined && !state.includes(first)) return;
    this.#state = state.filter((id, index) => index > end || recalled.recent.includes(id));
  }

  #contextOf(state: string[]): string[] {
    const endSeq = this.#latest()?.endSeq ?? -1;
    const gap = this.#transcript.slice(endSeq + 1);
    const covered = this.#transcript.slice(0, endSeq + 1);
    const asked = gap.some(isUser) ? covered.length : covered.findLastIndex(isUser);
    const lastTurn = asked < 0 ? [] : covered.slice(asked);
    const sources = { gap, state, lastTurn, endId: this.#endId(), recent: this.#recent() };
    return contextOfIds(sources, isUser);
  }

  #recent(): string[] {
    const covered = this.#transcript.slice(0, (this.#latest()?.endSeq ?? -1) + 1);
    if (this.#keep === 0 || covered.length === 0) return [];
    const kept = Math.max(0, covered.length - this.#keep);
    return covered.slice(Math.max(0, covered.slice(0, kept + 1).findLastIndex(isUser)));
  }

  #endId(): string | null {
    return this.#transcript[this.#latest()?.endSeq ?? -1] ?? null;
  }

  #latest(): Summary | undefined {
    return this.#summaries.findLast((summary) => summary.status === "completed");
  }

  #settle(status: "completed" | "failed"): void {
    const processing = this.#summaries.find((summary) => summary.status === "processing");
    if (processing) processing.status = status;
  }

  #fresh(kind: string): string {
    return `${kind}${this.#next++}`;
  }
}
