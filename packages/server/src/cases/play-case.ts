import type { Memory, RecordInput } from "mnemograph";
import { messageOf } from "mnemograph/contract";
import { expectMemory, MemoryExpectationError } from "mnemograph/testing";
import { type Case, type ExpectationName, scopeOf, threadIdOf } from "./case-file.js";

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
 * @param open makes the memory; `clock` says what time it is in the case.
 */
export async function playCase(
  given: Case,
  open: (clock: () => Date) => Memory,
): Promise<PlayedCase> {
  const { name, line } = given;
  let memory: Memory | undefined;
  try {
    const clock = startClock(given);
    memory = open(clock.now);
    await memory.setup();
    await tellCase(memory, given, clock);
    return { name, line, error: null, expectations: await checkCase(memory, given) };
  } catch (cause) {
    return { name, line, error: messageOf(cause), expectations: [] };
  } finally {
    await memory?.close();
  }
}

type CaseClock = ReturnType<typeof startClock>;

/** Begins at the case's first time. It never goes back. */
function startClock({ threads, at }: Case) {
  const times = threads.flatMap((thread) => [thread, ...thread.messages].map((said) => said.at));
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
  const { timeZone, agent } = given;
  // One after the other: a later one may replace an earlier one.
  for (const known of given.memories) await memory.memories.add({ scope, memories: known });
  for (const [place, thread] of given.threads.entries()) {
    const threadId = threadIdOf(thread, place);
    clock.advance(thread.at, 0);
    for (const turn of turnsOf(thread.messages)) {
      clock.advance(turn.at, minuteMs);
      const address = { scope, threadId, timeZone };
      const { question: query, messages } = turn;
      const prompt = query !== undefined && (await memory.promptFor({ ...address, query, agent }));
      const shown = prompt && { shown: prompt.shown };
      await memory.remember({ ...address, messages, saidAt: clock.now(), ...shown });
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
  for (const [index, { at, user, assistant, tool }] of messages.entries()) {
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
  const { not: isNot, ...is } = expectMemory(memory);
  const checks = {
    found: is.toFind,
    notFound: isNot.toFind,
    shown: is.toShow,
    notShown: isNot.toShow,
    believed: is.toBelieve,
    notBelieved: isNot.toBelieve,
  };
  const checked: CheckedExpectation[] = [];
  for (const kind of Object.keys(checks) as ExpectationName[]) {
    for (const words of expect[kind] ?? []) {
      const instead = await checks[kind]({ ...asked, words }).then(() => null, otherwise);
      checked.push({ kind, words, ok: instead === null, instead: instead ?? [] });
    }
  }
  return checked;
}

function otherwise(error: unknown): readonly string[] {
  if (error instanceof MemoryExpectationError) return error.actual;
  throw error;
}
