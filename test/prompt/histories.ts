import fc from "fast-check";
import type { InjectAs } from "../../src/prompt/turn-messages.js";
import type { Preset } from "../../src/transcript/context-options.js";
import { type Way, ways } from "../langgraph/ways.js";

/** What somebody does between two turns. `nth` counts what there is of its kind, round and round. */
export type Deed =
  | { readonly does: "add"; readonly draft: Draft }
  | { readonly does: "change" | "remove" | "restore" | "pin" | "expire"; readonly nth: number }
  | { readonly does: "note" | "propose" | "learn" | "forget thread" | "forget in app" }
  | { readonly does: "decide"; readonly nth: number; readonly decision: "approve" | "refuse" };

export interface Draft {
  readonly category: string;
  readonly key: string | null;
  readonly importance: number;
}

/** What the user says: something new, that something has ended, a question, or small talk. */
export type Saying =
  | { readonly says: "talk" }
  | { readonly says: "ask" | "end"; readonly nth: number }
  | { readonly says: "tell"; readonly draft: Draft; readonly extractionFails: boolean };

export interface Turn {
  readonly before: readonly Deed[];
  readonly thread: 0 | 1 | 2;
  readonly saying: Saying;
  readonly minutes: number;
  readonly isStreamed: boolean;
}

/** Forty turns in three threads of two apps. */
export interface History {
  readonly preset: Preset;
  readonly ways: readonly [Way, Way, Way];
  readonly session: "full" | "bounded";
  readonly injectAs: InjectAs;
  readonly budgetTokens: number;
  readonly tailTokens: number;
  readonly turns: readonly Turn[];
}

export const turnsPerHistory = 40;

const nth = fc.nat({ max: 1_000 });

const draft: fc.Arbitrary<Draft> = fc.record({
  category: fc.constantFrom("profile", "preferences", "constraints", "instructions", "knowledge"),
  key: fc.option(fc.constantFrom("tea", "boat", "garden", "lamp"), { freq: 2 }),
  importance: fc.integer({ min: 1, max: 5 }),
});

const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ does: fc.constant("add" as const), draft }) },
  {
    weight: 10,
    arbitrary: fc.record({
      does: fc.constantFrom("change", "remove", "restore", "pin", "expire"),
      nth,
    }),
  },
  { weight: 6, arbitrary: fc.record({ does: fc.constantFrom("note", "propose", "learn") }) },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant("decide" as const),
      nth,
      decision: fc.constantFrom("approve" as const, "refuse" as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constantFrom("forget thread", "forget in app") }),
  },
);

const saying: fc.Arbitrary<Saying> = fc.oneof(
  fc.record({ says: fc.constant("talk" as const) }),
  fc.record({ says: fc.constantFrom("ask" as const, "end" as const), nth }),
  fc.record({ says: fc.constant("tell" as const), draft, extractionFails: fc.boolean() }),
);

const turn: fc.Arbitrary<Turn> = fc.record({
  before: fc.array(deed, { maxLength: 2 }),
  thread: fc.constantFrom(0, 1, 2),
  saying,
  minutes: fc.constantFrom(1, 1, 1, 3, 120),
  isStreamed: fc.boolean(),
});

const way = fc.constantFrom(...ways);

export const histories = (preset: Preset): fc.Arbitrary<History> =>
  fc.record({
    preset: fc.constant(preset),
    ways: fc.tuple(way, way, way),
    session: fc.constantFrom("full", "bounded"),
    injectAs: fc.constantFrom("message", "message", "system", "text"),
    budgetTokens: fc.constantFrom(1_500, 1_500, 400),
    tailTokens: fc.constantFrom(4_000, 400),
    turns: fc.array(turn, { minLength: turnsPerHistory, maxLength: turnsPerHistory }),
  });
