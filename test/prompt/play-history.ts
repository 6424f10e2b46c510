import { randomUUID } from "node:crypto";
import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { expect } from "vitest";
import type { MemoryItem } from "../../src/index.js";
import { readPrompt } from "../../src/testing/index.js";
import type { Preset } from "../../src/transcript/context-options.js";
import { type AnyGraph, streamed } from "../langgraph/conversation.js";
import { agentIn } from "../langgraph/ways.js";
import { isAlwaysShown } from "../support/always-shown.js";
import type { TestDatabase } from "../support/test-database.js";
import { does, pickFact, textOf, wordIn, wordsIn } from "./deeds.js";
import type { Deed, History, Turn } from "./histories.js";
import { type Handed, handedIn, type Replays, replayed } from "./replays.js";
import { type Told, toldModel } from "./told-model.js";

/** Why a prompt did not begin with the one before, by design. */
export type Fold =
  | "the first one"
  | "every round"
  | "a newer summary"
  | "something shown has ended"
  | "something shown was replaced"
  | "something was forgotten"
  | "the budget";

export interface Played {
  readonly folds: Partial<Record<Fold, number>>;
  /** How many words of other conversations prompts had to quote, since no extraction had read them. */
  readonly quoted: number;
  readonly replays: Replays;
}

const states = ["active", "superseded", "merged", "soft_deleted", "quarantined"] as const;

/**
 * Plays `history` and checks each turn's last prompt: what is always shown now is in it, nothing
 * that has ended, no line twice; it begins with the prompt before, unless it was folded. Nothing of
 * memory is in what the graph keeps or streams.
 */
export async function playHistory(db: TestDatabase, history: History): Promise<Played> {
  const world = await begin(db, history);
  const folds: Partial<Record<Fold, number>> = {};
  try {
    for (const turn of history.turns) {
      for (const deed of turn.before) await world.act(deed, turn);
      const fold = await world.take(turn);
      if (fold) folds[fold] = (folds[fold] ?? 0) + 1;
    }
    await world.replayAll();
    await world.checkKept();
  } catch (error) {
    throw new Error(`${world.story.join("\n")}\n${error}`, { cause: error });
  } finally {
    await world.end();
  }
  return { folds, quoted: world.quoted(), replays: world.replays() };
}

async function begin(db: TestDatabase, history: History) {
  const { preset, budgetTokens, session, injectAs, tailTokens } = history;
  let now = new Date("2030-03-04T08:00:00Z").getTime();
  const told: Told[] = [];
  const model = toldModel(told);
  const memory = db.memory({
    model,
    jobs: "background",
    clock: () => new Date(now),
    config: {
      preset,
      context: { tailTokens },
      memories: { extract: true },
      retrieval: { budgetTokens },
      consent: { ask: "tool" },
      upkeep: { retryDelayMs: 0 },
      jobs: { sweepIntervalMs: 3_600_000 },
    },
  });
  const user = randomUUID();
  const apps = ["shop", "shop", "bank"].map((app) => `${app} of ${user}`);
  const threads = await Promise.all(
    apps.map(async (appId, index) => ({
      scope: { userId: user, appId },
      threadId: `${index} of ${user}`,
      graph: (await agentIn(history.ways[index] ?? "nodes", {
        memory,
        model,
        session,
        injectAs,
      })) as AnyGraph,
      isSupervisor: history.ways[index] === "supervisor",
      before: null as Prompt | null,
      isForgotten: false,
      own: new Set<string>(),
      streamed: [] as unknown[],
    })),
  );
  type Thread = (typeof threads)[number];
  /** What happened so far, for the message of a failure. */
  const story = [JSON.stringify({ ...history, turns: undefined })];
  const threadOf = ({ thread }: Turn) => threads[thread] as Thread;
  let [words, quoted] = [0, 0];
  const handed: (Handed & { readonly messageId: string })[] = [];
  const replays: Replays = { turns: 0, left: 0, whole: 0, gaps: {} };
  const newWord = () => `x${++words}q`;
  async function act(deed: Deed, turn: Turn): Promise<void> {
    const { scope, threadId } = threadOf(turn);
    const word = newWord();
    story.push(`${JSON.stringify(deed)} ${word}`);
    if (deed.does === "learn") now += 61_000;
    const other = threads.find((thread) => thread.threadId !== threadId && thread.before !== null);
    await does(deed, { memory, scope, now, word, other });
    await memory.idle();
    if (deed.does === "forget thread" && other) forgotten([other]);
    if (deed.does === "forget in app")
      forgotten(threads.filter(({ scope: { appId } }) => appId === scope.appId));
  }

  function forgotten(gone: readonly Thread[]): void {
    for (const thread of threads) thread.isForgotten = true;
    for (const thread of gone) {
      thread.before = null;
      for (const fact of told) if (threads[fact.thread] === thread) fact.isRead = true;
    }
  }

  async function take(turn: Turn): Promise<Fold | null> {
    now += turn.minutes * 60_000;
    const thread = threadOf(turn);
    const { scope, threadId, graph } = thread;
    const says = await wordsOf(turn, scope);
    for (const word of wordsIn(says)) thread.own.add(word);
    story.push(`Thread ${turn.thread}, ${turn.minutes} minutes later: ${says}`);
    const from = model.calls.length;
    const config = {
      configurable: { thread_id: threadId, user_id: user, app_id: scope.appId },
      streamMode: ["messages" as const, "values" as const, "custom" as const],
    };
    // What the prompt has to say is decided before the turn ends.
    const known = await memory.memories.list({ scope, states: [...states], limit: 1_000 });
    const notes = await memory.memories.list({
      scope: { appId: scope.appId },
      kinds: ["note"],
      limit: 10,
    });
    const unread = told.filter(
      ({ thread: index, isRead }) =>
        !isRead && index !== turn.thread && threads[index]?.scope.appId === scope.appId,
    );
    // Programs that keep the conversation themselves are given one text.
    const { text } = await memory.promptFor({ scope, threadId, query: says });
    const asText = [new HumanMessage(text ?? "")];
    check(promptOf(asText, [...known, ...notes], now), says, { budgetTokens, preset });
    const input = { messages: [new HumanMessage(says)] };
    const shown = turn.isStreamed
      ? await streamed(graph, input, config)
      : await graph.invoke(input, config);
    await memory.idle();
    thread.streamed.push(shown);
    const calls = model.calls.slice(from).filter(({ toolNames }) => isAgents(toolNames, thread));
    const messages = calls.at(-1)?.messages ?? [];
    await keepHanded(thread, calls[0]?.messages ?? []);
    const prompt = promptOf(messages, [...known, ...notes], now);
    check(prompt, says, { budgetTokens, preset });
    const fold = foldOf(preset, thread.before, prompt, thread.isForgotten);
    if (fold !== null && budgetTokens > 1_000) quoted += checkUnread(prompt, unread);
    thread.before = prompt;
    thread.isForgotten = false;
    return fold;
  }

  /** Replayed at once, and again at the end, when more has changed. */
  async function keepHanded({ scope, threadId }: Thread, messages: readonly BaseMessage[]) {
    const [shown] = await memory.threads.shown({ scope, threadId, limit: 1 });
    const { turn = 0, seq = 0, messageId = "" } = shown ?? {};
    const made = { scope, threadId, turn, seq, prompt: handedIn(messages) };
    handed.push({ ...made, messageId });
    replays.turns++;
    const { complete, gaps } = await replayed(memory, made);
    expect(complete, JSON.stringify(gaps)).toBe(true);
  }

  /** Of turns whose threads are left. */
  async function replayAll() {
    for (const each of handed) {
      const listed = await memory.threads.shown({ scope: each.scope, threadId: each.threadId });
      const { messageId, ...turn } = each;
      if (!listed.some((left) => left.messageId === messageId)) continue;
      replays.left++;
      const { complete, gaps } = await replayed(memory, turn);
      replays.whole += Number(complete);
      for (const { what, why } of gaps)
        replays.gaps[`${what} ${why}`] = (replays.gaps[`${what} ${why}`] ?? 0) + 1;
    }
  }

  async function wordsOf({ saying, thread }: Turn, scope: Thread["scope"]): Promise<string> {
    const of = { thread, isRead: false };
    if (saying.says === "talk") return "Nice weather.";
    if (saying.says === "tell") {
      const value = newWord();
      const quote = `I care for ${value}`;
      const { draft, extractionFails } = saying;
      told.push({
        ...of,
        quote,
        text: textOf(draft, value),
        draft,
        value,
        ends: null,
        extractionFails,
      });
      return `${quote}.`;
    }
    const found = await pickFact(memory, scope, "active", saying.nth);
    if (!found) return "What do you know?";
    const ends = wordIn(found.text);
    if (saying.says === "ask") return `What of ${found.key ?? ends}?`;
    const value = newWord();
    const quote = `I stopped ${value}`;
    const draft = { category: "knowledge", key: null, importance: 3 };
    const text = `The user stopped ${value}.`;
    told.push({ ...of, quote, text, draft, value, ends, extractionFails: false });
    return `${quote}.`;
  }

  /** State, checkpoints and streams hold no word of memory that the thread's own messages lack. */
  async function checkKept() {
    for (const { threadId, own, streamed: shown, scope, graph } of threads) {
      const config = { configurable: { thread_id: threadId, user_id: user, app_id: scope.appId } };
      const { values } = await graph.getState(config);
      const rows = await checkpointTexts(db, threadId);
      const kept = [JSON.stringify(values), JSON.stringify(shown), ...rows].join("\n");
      expect(wordsIn(kept).filter((word) => !own.has(word))).toEqual([]);
    }
  }
  async function end() {
    await memory.forget({ scope: { userId: user } });
    await memory.close();
  }
  return {
    act,
    take,
    replayAll,
    checkKept,
    end,
    story,
    quoted: () => quoted,
    replays: () => replays,
  };
}

const isAgents = (toolNames: readonly string[], { isSupervisor }: { isSupervisor: boolean }) =>
  isSupervisor ? toolNames.includes("planner") : toolNames.length === 0;

interface Prompt {
  readonly texts: readonly string[];
  readonly read: ReturnType<typeof readPrompt>;
  /** What memory holds for the reader at this moment, in all states, by word. */
  readonly holds: ReadonlyMap<string, Held>;
}

type Held = Pick<MemoryItem, "id" | "state" | "importance" | "pinned" | "text" | "kind"> & {
  readonly isAlways: boolean;
};

function promptOf(messages: readonly BaseMessage[], known: MemoryItem[], now: number): Prompt {
  const texts = messages.map((message) => `${message.getType()}: ${message.text}`);
  const holds = new Map<string, Held>();
  for (const memory of known) {
    const { id, importance, pinned, text, kind, expiresAt } = memory;
    const state = expiresAt && expiresAt.getTime() <= now ? "soft_deleted" : memory.state;
    const isAlways = isAlwaysShown({ ...memory, state });
    holds.set(wordIn(text), { id, state, importance, pinned, text, kind, isAlways });
  }
  return { texts, read: readPrompt(messages.map(({ text }) => text)), holds };
}

/** What the reader of the whole prompt believes. */
function check(
  { texts, read, holds }: Prompt,
  says: string,
  { budgetTokens, preset }: Pick<History, "budgetTokens" | "preset">,
): void {
  const shown = `${preset}, ${budgetTokens} tokens, for "${says}":\n${texts.join("\n")}`;
  const believed = new Set(read.believed.flatMap(wordsIn));
  const always = [...holds].filter(([, { isAlways }]) => isAlways);
  const missing = always.filter(([word]) => !believed.has(word));
  if (missing.length > 0) {
    expect(read.saysMore, `${JSON.stringify(missing)} is missing from\n${shown}`).toBe(true);
    const least = always
      .filter(
        ([word, { pinned, kind }]) =>
          believed.has(word) && !pinned && kind !== "note" && !says.includes(word),
      )
      .map(([, { importance }]) => importance);
    // Notes come after the profile.
    const most = missing.map(([, { kind, importance }]) => (kind === "note" ? 0 : importance));
    expect(
      Math.max(...most),
      `${JSON.stringify(missing)} is more important than what is shown in\n${shown}`,
    ).toBeLessThanOrEqual(Math.min(5, ...least));
  }
  const quoted = new Set(
    read.claims.flatMap(({ under, words }) => (under === unreadHeading ? wordsIn(words) : [])),
  );
  const ended = [...believed].flatMap((word) => {
    // What somebody just said is no memory yet.
    const state = holds.get(word)?.state ?? (quoted.has(word) ? "active" : "gone");
    // What was merged stands in another's words.
    return state === "active" || state === "merged" ? [] : `${word} is ${state}`;
  });
  expect(ended, `has ended, and is believed from\n${shown}`).toEqual([]);
  const claimed = read.claims.flatMap(({ under, words }) =>
    wordsIn(words).map((word) => `${word}${under === unreadHeading ? " as said" : ""}`),
  );
  const twice = claimed.filter((word, at) => claimed.indexOf(word) < at);
  expect(twice, `stands twice in\n${shown}`).toEqual([]);
}

const unreadHeading = "## Said by the User in Another Conversation";
/**
 * Where a prompt begins anew, it has what the user said elsewhere and no extraction has read.
 * Returns how many words that are.
 */
function checkUnread({ read, texts }: Prompt, unread: readonly Told[]): number {
  const quoted = read.claims.flatMap(({ under, words }) =>
    under === unreadHeading ? wordsIn(words) : [],
  );
  const expected = unread.map(({ value }) => value);
  expect(quoted, texts.join("\n")).toEqual(expect.arrayContaining(expected));
  return expected.length;
}

/** Null where the prompt begins with the one before. */
function foldOf(preset: Preset, before: Prompt | null, now: Prompt, isForgotten: boolean) {
  if (before === null) return "the first one";
  if (before.texts.every((text, at) => now.texts[at] === text)) return null;
  if (preset === "every-round") return "every round";
  if (isForgotten) return "something was forgotten";
  const stateOf = (word: string) => now.holds.get(word)?.state ?? "gone";
  const shown = before.read.claims.flatMap(({ words }) => wordsIn(words).map(stateOf));
  const isKept = (state: string) => ["active", "merged", "superseded"].includes(state);
  if (!shown.every(isKept)) return "something shown has ended";
  if (shown.includes("superseded")) return "something shown was replaced";
  if (summaryIn(before) !== summaryIn(now)) return "a newer summary";
  if (before.read.saysMore || now.read.saysMore) return "the budget";
  const prompts = [before, now].map(({ texts }) => texts.join("\n")).join("\n\nand now\n\n");
  throw new Error(`A prompt does not begin with the one before:\n${prompts}`);
}

const summaryIn = ({ texts }: Prompt) =>
  /\[Summary of Round [^\]]*\]|\[Previous context: They talked/.exec(texts.join("\n"))?.[0];

async function checkpointTexts({ pool, schema }: TestDatabase, threadId: string) {
  const { rows } = await pool.query<{ text: string }>(
    `select checkpoint::text as text from "${schema}".checkpoints where thread_id = $1
     union all select convert_from(blob, 'utf8') from "${schema}".checkpoint_blobs where thread_id = $1 and blob is not null
     union all select convert_from(blob, 'utf8') from "${schema}".checkpoint_writes where thread_id = $1 and blob is not null`,
    [threadId],
  );
  return rows.map(({ text }) => text);
}
