import type { Memory, MemoryConfig, RecordInput } from "mnemograph";
import { expectMemory, MemoryExpectationError } from "mnemograph/testing";
import {
  type Case,
  type ExpectationName,
  expectationNames,
  expectations,
  scopeOf,
  threadIdOf,
} from "./case-file.js";

export interface CaseSettings {
  readonly config?: MemoryConfig | undefined;
  /** What time it is in the case. */
  readonly clock: () => Date;
}

interface CheckedExpectation {
  readonly kind: ExpectationName;
  readonly words: string;
  readonly ok: boolean;
  /** What was there instead; empty if it is ok. */
  readonly instead: readonly string[];
}

export interface PlayedCase {
  readonly name: string;
  readonly line: number;
  /** Why it could not be played to its end. */
  readonly error: string | null;
  readonly expectations: readonly CheckedExpectation[];
}

/** Between two messages without times, and from the last one until what is due is done. */
const [minuteMs, restMs] = [60_000, 3_600_000];
/** Work that follows a conversation; what is due once a day is not part of a case. */
const kinds = ["facts", "summaries", "episodes", "notes"] as const;

/**
 * Plays a case on an empty memory: what is known before, then each turn as an agent takes it, so
 * that prompts are made and shown in their epochs; then asks, and compares.
 */
export async function playCase(
  given: Case,
  open: (settings: CaseSettings) => Memory | Promise<Memory>,
): Promise<PlayedCase> {
  const { name, line } = given;
  const clock = startClock(given);
  const checked: CheckedExpectation[] = [];
  let memory: Memory | undefined;
  let error: string | null = null;
  try {
    memory = await open({ clock: clock.now });
    await memory.setup();
    await tellCase(memory, given, clock);
    checked.push(...(await checkCase(memory, given)));
  } catch (cause) {
    error = cause instanceof Error ? cause.message : String(cause);
  } finally {
    await memory?.close();
  }
  return { name, line, error, expectations: checked };
}

type CaseClock = ReturnType<typeof startClock>;

/** Begins at the case's first time. It never goes back. */
function startClock({ threads, at }: Case) {
  const times = threads.flatMap(({ at: begun, messages }) => [begun, messages[0]?.at]);
  let now = [...times, at].find((time) => time !== undefined) ?? new Date();
  return {
    now: () => now,
    /** To `time`, or on by `ms`. */
    advance(time: Date | undefined, ms: number) {
      now = new Date(Math.max(now.getTime(), time?.getTime() ?? now.getTime() + ms));
    },
  };
}

async function tellCase(memory: Memory, given: Case, clock: CaseClock): Promise<void> {
  const scope = scopeOf(given);
  const { timeZone } = given;
  // One after the other: a later one may replace an earlier one.
  for (const known of given.memories) await memory.memories.add({ scope, memories: known });
  for (const [place, thread] of given.threads.entries()) {
    const threadId = threadIdOf(thread, place);
    clock.advance(thread.at, 0);
    for (const turn of turnsOf(thread.messages)) {
      clock.advance(turn.at, minuteMs);
      const address = { scope, threadId, timeZone };
      const prompt =
        turn.question === undefined
          ? undefined
          : await memory.promptFor({ ...address, query: turn.question, agent: given.agent });
      await memory.remember({
        ...address,
        messages: turn.messages,
        saidAt: clock.now(),
        ...(prompt && { shown: prompt.shown }),
      });
      await settle(memory);
    }
    if (thread.end) await memory.threads.end({ scope, threadId });
    await settle(memory);
  }
  clock.advance(given.at, restMs);
  await memory.upkeep({ kinds: [...kinds] });
  await settle(memory);
}

/** @throws Error for work that failed: what follows would be compared with less than was said. */
async function settle(memory: Memory): Promise<void> {
  await memory.idle();
  const [failed] = await memory.jobs.list({ state: "failed", limit: 1 });
  if (!failed) return;
  const { kind, error, detail } = failed;
  throw new Error(`the work "${kind}" failed: ${error}${detail === null ? "" : ` ${detail}`}`);
}

interface Turn {
  readonly at: Date | undefined;
  /** The user's words. */
  readonly question: string | undefined;
  readonly messages: RecordInput["messages"][number][];
}

/** Each begins with a message of the user. */
function turnsOf(messages: Case["threads"][number]["messages"]): Turn[] {
  const turns: Turn[] = [];
  for (const [index, { user, assistant, tool, at }] of messages.entries()) {
    if (user !== undefined || turns.length === 0) turns.push({ at, question: user, messages: [] });
    const said = turns.at(-1)?.messages;
    if (user !== undefined) said?.push({ role: "user", content: user });
    if (assistant !== undefined) said?.push({ role: "assistant", content: assistant });
    if (tool !== undefined)
      said?.push({ role: "tool", content: tool, tool_call_id: `call-${index}` });
  }
  return turns;
}

async function checkCase(memory: Memory, given: Case): Promise<CheckedExpectation[]> {
  const { question: query, thread: threadId, agent, timeZone, expect } = given;
  const asked = { scope: scopeOf(given), query, threadId, agent, timeZone };
  const checked: CheckedExpectation[] = [];
  for (const kind of expectationNames) {
    const { of, isWanted } = expectations[kind];
    const expecting = isWanted ? expectMemory(memory) : expectMemory(memory).not;
    for (const words of expect[kind] ?? []) {
      const instead = await expecting[of]({ ...asked, words }).then(() => null, otherwise);
      checked.push({ kind, words, ok: instead === null, instead: instead ?? [] });
    }
  }
  return checked;
}

function otherwise(error: unknown): readonly string[] {
  if (error instanceof MemoryExpectationError) return error.actual;
  throw error;
}
