import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { Recalled } from "../../../src/index.js";
import { HashingEmbeddings } from "../../../src/testing/index.js";
import { notHeld, recallHeld, recallUntilHeld, textsOf } from "../../support/held.js";
import { expectSame } from "../../support/same-recall.js";
import { useTestDatabase } from "../../support/test-database.js";

const db = useTestDatabase();

/** Embeds one question only once it is told to; all else at once. */
class WaitingEmbeddings extends HashingEmbeddings {
  #asked = "";
  #answer: Promise<void> = Promise.resolve();

  /** @returns lets the embeddings of `question` answer; with an error, fail. */
  holdBack(question: string): (error?: Error) => void {
    let answer: (error?: Error) => void = () => {};
    this.#asked = question;
    this.#answer = new Promise((resolve, reject) => {
      answer = (error) => (error ? reject(error) : resolve());
    });
    return answer;
  }

  override async embedQuery(text: string): Promise<number[]> {
    if (text === this.#asked) await this.#answer;
    return super.embedQuery(text);
  }
}

const embeddings = new HashingEmbeddings({ dimensions: 16 });
const query = "What does Ana do with bees in Oslo?";
const texts = ["Ana flies to Oslo in May.", "Ana keeps bees.", "Ana reads novels on trains."];

beforeAll(() => db.memory({ embeddings }).setup());

/** A user who is held by a memory whose embeddings wait, and a fact that it does not know yet. */
async function waitingUser() {
  const scope = { userId: `ana ${randomUUID()}` };
  const waiting = new WaitingEmbeddings({ dimensions: 16 });
  const [holding, other] = [db.memory({ embeddings: waiting }), db.memory({ embeddings })];
  const cold = db.memory({ embeddings, config: notHeld });
  const drafts = texts.map((text) => ({ text }));
  const ids = (await other.memories.add(drafts, { scope })).map(({ id }) => id as string);
  const input = { scope, threadId: `thread of ${scope.userId}`, query };
  await recallUntilHeld(holding, input);
  await other.memories.add({ text: "Ana sells honey in Oslo." }, { scope });
  const held = () => holding.held().list.find((each) => each.scope.userId === scope.userId)?.memories;
  /** A recall that waits for its question's vector, once the database has told it what there is. */
  const begin = async () => {
    const answer = waiting.holdBack(query);
    const recalling = holding.recall(input);
    await vi.waitFor(() => expect(held()).toBe(texts.length + 1));
    return { answer, recalling };
  };
  return { scope, input, ids, holding, other, cold, begin };
}

const similarities = ({ memories }: Recalled) =>
  new Map(memories.relevant.map(({ memory, similarity }) => [memory.id, similarity.toFixed(5)]));

describe("a recall of a held user whose question is still embedded", () => {
  it("has asked the database meanwhile, and gives what the statement gives", async () => {
    const { input, cold, begin } = await waitingUser();
    const { answer, recalling } = await begin();
    answer();
    expectSame(await recalling, await cold.recall(input));
  });

  it("gives what another recall brought in meanwhile, each memory with its own similarity", async () => {
    const { scope, input, ids, holding, other, cold, begin } = await waitingUser();
    const { answer, recalling } = await begin();
    await other.memories.remove(ids[0] as string, { scope });
    await other.memories.update(ids[1] as string, { text: "Ana keeps ducks in Bergen." }, { scope });
    await other.memories.add({ text: "Ana dances with bees." }, { scope });
    await recallHeld(holding, { ...input, query: "Who dances?" });
    answer();
    const [recalled, now] = [await recalling, await cold.recall(input)];
    expect(textsOf(recalled)).toEqual(textsOf(now));
    expect(similarities(recalled)).toEqual(similarities(now));
  });

  it("is answered by the statement where the user was forgotten meanwhile", async () => {
    const { scope, input, holding, other, begin } = await waitingUser();
    const { answer, recalling } = await begin();
    await other.forget(scope);
    await holding.recall({ ...input, query: "Who dances?" });
    answer();
    expect(textsOf(await recalling)).toEqual([]);
  });

  it("goes by words where the embeddings fail in the end", async () => {
    const { input, holding, begin } = await waitingUser();
    const { answer, recalling } = await begin();
    const failing = db.memory({ config: notHeld });
    answer(new Error("the model is down"));
    expect(textsOf(await recalling)).toEqual(textsOf(await failing.recall(input)));
    expect(holding.held().served.held).toBeGreaterThan(1);
  });
});
