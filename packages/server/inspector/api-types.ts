import type { JSONParsed } from "hono/utils/types";
import type { z } from "zod";
import type { operations } from "../src/operations/operations.js";

type Operation = (typeof operations)[keyof typeof operations];
export type Method = Operation["method"];
export type Path = Operation["path"];

/** The JSON that the API answers, by its own contract. Times are ISO 8601. */
export type Answer<To extends Path, By extends Method = "get"> = JSONParsed<
  z.output<Extract<Operation, { path: To; method: By }>["answer"]>
>;

export type Memory = Answer<"/memories/:id">;
/** The messages of a conversation that something rests on, and the words in them. */
export type Source = NonNullable<Memory["source"]>;
type Event = Answer<"/memory/:id/history">["events"][number];
export type HistoryEntry = Omit<Event, "old" | "new"> &
  Readonly<Record<"old" | "new", EntryState | null>>;
/** A memory as an entry of its history has it, and what the entry says besides. */
type EntryState = Partial<Memory> &
  Readonly<Record<string, unknown>> & {
    readonly reason?: string;
    readonly evidence?: { readonly quote?: string };
    readonly links?: readonly { readonly to: string }[];
    /** A model's verdict on two memories, and why rules left both as they were. */
    readonly verdict?: string;
    readonly left?: string;
    /** What was said and not believed. */
    readonly refused?: string;
    /** The entry whose content came back. */
    readonly revertOf?: number;
  };
/** A memory with its audit trail, newest first. */
export interface Trailed {
  readonly memory: Memory;
  readonly events: readonly HistoryEntry[];
}
export type Consent = Answer<"/consents">["consents"][number];
export type Consolidation = Answer<"/consolidations">["consolidations"][number];
export type Job = Answer<"/jobs">["jobs"][number];
export type Thread = Answer<"/threads">["threads"][number];
export type Message = Answer<"/threads/:threadId/messages">["messages"][number];
export type Summary = Answer<"/threads/:threadId/summaries">["summaries"][number];
export type Stats = Answer<"/stats">;
export type Removed = Answer<"/forget", "post">;
export type Receipt = Answer<"/erasures/:id/receipt">;
export type Erasure = Answer<"/erasures">["erasures"][number];
export type ForgetRequest = Answer<"/forget-requests">["requests"][number];
/** What calls of models took, for a kind of work, a user or an app. */
export type Cost = Answer<"/costs">["costs"][number];
export type TurnCost = Answer<"/threads/:threadId/cost">["turns"][number];

export type ShownTurn = Answer<"/threads/:threadId/shown">["turns"][number];
export type ShownMemory = ShownTurn["memories"][number];
export type Replayed = Answer<"/threads/:threadId/replay", "post">;

/** Words of a memory that a question and an answer have too. */
export interface SharedWords {
  readonly question: readonly string[];
  readonly answer: readonly string[];
}

export type Explained = Extract<Answer<"/query", "post">, { question: unknown }>;
export type ExplainedHit = Explained["hits"][number];

/** A user or an app, with what there is of them. */
export type Owner = Answer<"/users">["users"][number];
