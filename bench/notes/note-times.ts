import { createMemory, type Memory } from "../../src/index.js";
import type { AppScope } from "../../src/scope/scope.js";
import { OfflineChatModel } from "../../src/testing/index.js";
import { type BenchDatabase, vacuumSchema } from "../bench-database.js";
import { addMemories, messagesOf, openBenchMemory } from "../bench-memory.js";
import { fixedName, sentences } from "../data/corpus.js";
import { line } from "../data/sentences.js";
import { printTimings, timed, timeInTurns } from "../timing.js";

/** How much is measured. */
export interface NoteSizes {
  readonly apps: number;
  readonly notesEach: number;
  readonly rounds: number;
  readonly warmUps: number;
}

/** What was measured, for the line of JSON. */
export interface NoteTimes {
  /**
   * From the end of a conversation until its note is there and the app has no more than its limit
   * again.
   */
  readonly createP95Ms: number;
  /** Of the block of an app's notes, one of many apps'. */
  readonly contextP95Ms: number;
}

/**
 * How long a note takes with a model that answers at once, and how long a prompt waits for an app's
 * notes.
 */
export async function noteTimes(
  database: BenchDatabase,
  { apps, notesEach, rounds, warmUps }: NoteSizes,
): Promise<NoteTimes> {
  const { source, schema, pool } = database;
  const reader = await openBenchMemory({ database: source, schema });
  for (let app = 0; app < apps; app++) await fill(reader, appAt(app), notesEach, app);
  await vacuumSchema(pool, schema);
  const config = { memories: { extract: false, episodes: false } };
  const memory = createMemory({ database: source, schema, model: new OfflineChatModel(), config });
  const talkAt = (round: number) => ({
    scope: { ...appAt(round % apps), userId: "ana" },
    threadId: fixedName("talk", round),
  });
  const timings = await timeInTurns(
    {
      create: async (round) => {
        const talk = talkAt(round);
        await memory.remember({ ...talk, messages: conversation(round) });
        await memory.idle();
        return timed(
          async () => {
            await memory.threads.end(talk);
            await memory.idle();
          },
          () => requireNote(memory, talk.scope, notesEach),
        )(round);
      },
      context: timed(
        (round) => reader.notes.context({ scope: appAt((round * 7) % apps) }),
        (context) => {
          if (context?.match(/^\d+\. /gm)?.length !== notesEach)
            throw new Error(`No notes: ${context}`);
        },
      ),
    },
    { rounds, warmUps },
  );
  await memory.close();
  await reader.close();
  printTimings(`Notes: ${apps} apps with ${notesEach} each, which is the limit`, timings);
  return { createP95Ms: timings.create.p95, contextP95Ms: timings.context.p95 };
}

const appAt = (number: number): AppScope => ({ appId: fixedName("app", number) });

async function fill(memory: Memory, scope: AppScope, count: number, seed: number): Promise<void> {
  const notes = sentences(count, seed).map((text) => ({
    kind: "note" as const,
    text,
    origin: "worker" as const,
  }));
  await addMemories(memory, scope, notes);
}

/** Ten rounds, each about something else. */
function conversation(round: number) {
  return Array.from({ length: 10 }, (_, at) =>
    messagesOf([
      line(`In talk ${round} the user says of subject ${at}`, round + at, 160),
      line("The agent answers", at, 400),
    ]),
  ).flat();
}

/**
 * @throws Error unless the conversation left the app's latest note, and the app has as many as its
 * limit.
 */
async function requireNote(memory: Memory, { appId }: AppScope, limit: number): Promise<void> {
  const scope = { appId };
  const [latest] = await memory.notes.list({ scope, limit: 1 });
  const count = await memory.notes.count({ scope });
  if (latest?.origin === "worker" && count === limit) return;
  throw new Error(`${appId} has ${count} notes, the latest "${latest?.text}".`);
}
