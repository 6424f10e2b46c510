import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, inject, it } from "vitest";
import { withMemory } from "../../src/langgraph/wrap/with-memory.js";
import { OfflineChatModel } from "../../src/testing/index.js";
import { summaryMemory } from "../support/summary-memory.js";
import { useTestDatabase } from "../support/test-database.js";

// Not in this repository: its licence is CC BY-NC 4.0.
const file =
  process.env.LOCOMO_FILE || fileURLToPath(new URL("../../../shared/data/locomo-dev.json", import.meta.url));
const missing = !existsSync(file);
if (missing) console.log(`${file} is not there (LOCOMO_FILE): the replay of a long conversation is skipped.`);

const db = useTestDatabase();
const windowMessages = 14;

interface Turn {
  readonly id: string;
  readonly speaker: string;
  readonly text: string;
}

/** The first speaker is the user; what the other says after is the answer. */
interface Round {
  readonly said: Turn[];
  readonly answers: Turn[];
}

function readConversation(id: string): Turn[] {
  const { conversations } = JSON.parse(readFileSync(file, "utf8")) as {
    conversations: { id: string; turns: Turn[] }[];
  };
  return conversations.find((conversation) => conversation.id === id)?.turns ?? [];
}

function roundsOf(turns: readonly Turn[]): Round[] {
  const rounds: Round[] = [];
  for (const turn of turns) {
    const isUser = turn.speaker === turns[0]?.speaker;
    if (isUser && (rounds.at(-1)?.answers.length ?? 1) > 0) rounds.push({ said: [], answers: [] });
    rounds.at(-1)?.[isUser ? "said" : "answers"].push(turn);
  }
  return rounds;
}

describe.skipIf(missing)("a real conversation of 419 turns in a bounded session (LoCoMo conv-26)", () => {
  it("loses nothing, stays small, and cuts no round", async () => {
    const turns = readConversation("conv-26");
    const rounds = roundsOf(turns);
    const answersTo = new Map(rounds.map(({ said, answers }) => [said.at(-1)?.id, answers]));
    expect(turns).toHaveLength(419);

    const views: string[][] = [];
    const agent = new StateGraph(MessagesAnnotation)
      .addNode("answer", ({ messages }) => {
        views.push(idsOf(messages.filter((message) => message.getType() !== "system")));
        const answers = answersTo.get(messages.at(-1)?.id) ?? [];
        return {
          messages: answers.map(
            ({ id, speaker, text }) => new AIMessage({ id, name: speaker, content: text }),
          ),
        };
      })
      .addEdge(START, "answer")
      .compile();
    // A pool of the package's own where there is a server: it keeps plans, which a caller's pool may not.
    const memory = summaryMemory(db, {
      database: inject("databaseUrl") ?? db.pool,
      model: new OfflineChatModel(),
    });
    const graph = withMemory(agent, memory, { session: "bounded" }).compile({
      checkpointer: memory.checkpointer(),
    });
    const thread = { scope: { userId: "caroline" }, threadId: "conv-26" };
    const config = { configurable: { thread_id: thread.threadId, user_id: thread.scope.userId } };

    let recorded = 0;
    let largestState = 0;
    for (const { said, answers } of rounds) {
      const { summary, recent } = await memory.recall(thread);
      const messages = said.map(
        ({ id, speaker, text }) => new HumanMessage({ id, name: speaker, content: text }),
      );
      const state = await graph.invoke({ messages }, config);
      largestState = Math.max(largestState, state.messages.length);
      // The agent saw what the summary covers last and everything from there to the present, once, and nothing else.
      const end = (summary?.endSeq ?? -1) + 1;
      const from = end - recent.length;
      expect(recent.length > 0).toBe(summary !== null);
      expect(views.at(-1)).toEqual(turns.slice(from, recorded + said.length).map((turn) => turn.id));
      recorded += said.length + answers.length;
    }

    const longestRound = Math.max(...rounds.map(({ said, answers }) => said.length + answers.length));
    // Six recent messages, moved back to the start of their round, and what no summary has.
    expect(largestState).toBeLessThanOrEqual(6 + 8 + 3 * longestRound);

    const { rows } = await db.pool.query(
      `select m.seq, m.message_id, m.role, m.actor, m.content from "${db.schema}".message m
       join "${db.schema}".thread t on t.id = m.thread_ref where t.thread_id = $1 order by m.seq`,
      [thread.threadId],
    );
    const user = turns[0]?.speaker;
    expect(rows).toEqual(
      turns.map(({ id, speaker, text }, seq) => ({
        seq,
        message_id: id,
        role: speaker === user ? "user" : "assistant",
        actor: speaker,
        content: text,
      })),
    );

    const chain = await memory.summaries.list(thread);
    expect(chain.length).toBeGreaterThan(150);
    const roundStarts = new Set<number>([0]);
    for (const [seq, row] of rows.entries()) if (row.role === "user") roundStarts.add(seq);
    for (const [index, { startSeq, endSeq, baseId, status }] of chain.entries()) {
      expect(status).toBe("completed");
      expect(baseId).toBe(chain[index - 1]?.id ?? null);
      expect(roundStarts).toContain(startSeq);
      expect(endSeq - startSeq + 1).toBeLessThanOrEqual(Math.max(windowMessages, longestRound));
    }
    // The last round is one message, and the next summary starts with two.
    expect(chain.at(-1)?.endSeq).toBe(417);
  });
});

const idsOf = (messages: readonly BaseMessage[]) => messages.map((message) => message.id ?? "");
