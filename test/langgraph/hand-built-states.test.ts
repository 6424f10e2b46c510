import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import {
  Annotation,
  entrypoint,
  MessagesAnnotation,
  MessagesValue,
  MessagesZodMeta,
  MessagesZodState,
  messagesStateReducer,
  START,
  StateGraph,
  StateSchema,
} from "@langchain/langgraph";
import { registry } from "@langchain/langgraph/zod";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  MemoryError,
  memoryAnnotation,
  modelView,
  recallNode,
  rememberNode,
  withMemory,
} from "../../src/index.js";
import { useTestDatabase } from "../support/test-database.js";
import { answering, knownThread, lines, newThread, say, transcript } from "./conversation.js";
import { states } from "./ways.js";

const database = useTestDatabase();
async function start() {
  const memory = database.memory();
  return { memory, thread: await knownThread(memory), model: answering() };
}

describe("a state without memory's key", () => {
  const bare: Record<string, object> = {
    Annotation: MessagesAnnotation,
    StateSchema: new StateSchema({ messages: MessagesValue }),
    MessagesZodState,
  };

  it.each(Object.entries(bare))(
    "A state of %s without memory's key is refused with the line to add",
    async (_, state) => {
      const model = answering();
      const graph = new StateGraph(state as typeof states.Annotation)
        .addNode("recall", recallNode(database.memory()))
        .addEdge(START, "recall")
        .compile();
      const failed = await say(graph, "hello", newThread()).catch((error: unknown) => error);
      expect(MemoryError.is(failed, "INVALID_INPUT")).toBe(true);
      const { message } = failed as Error;
      for (const line of [
        "...memoryAnnotation.spec",
        "...memoryStateFields",
        "MessagesZodState.extend(memoryFields)",
      ])
        expect(message).toContain(line);
      expect(model.calls).toEqual([]);
    },
  );

  it("A state without memory's key does not compile", () => {
    const memory = database.memory();
    const recall = () => recallNode(memory);
    const zod = z.object({
      messages: z.custom<BaseMessage[]>().register(registry, MessagesZodMeta as never),
    });
    void (() => {
      // @ts-expect-error: the state lacks memory's key
      new StateGraph(MessagesAnnotation).addNode("recall", recall());
      // @ts-expect-error: the same
      new StateGraph(MessagesAnnotation).addNode({ recall: recall() });
      // @ts-expect-error: the same
      new StateGraph(MessagesAnnotation).addNode([["recall", recall()]]);
      // @ts-expect-error: the same of a StateSchema
      new StateGraph(new StateSchema({ messages: MessagesValue })).addNode("recall", recall());
      // @ts-expect-error: the same of zod 4
      new StateGraph(zod).addNode("recall", recall());
      // @ts-expect-error: the state has no messages
      new StateGraph(memoryAnnotation).addNode("recall", recall());
      const otherKey = recallNode(memory, { messagesKey: "talk" });
      // @ts-expect-error: the messages have another key
      new StateGraph(states.Annotation).addNode("recall", otherKey);
      // @ts-expect-error: the state has no messages
      new StateGraph(memoryAnnotation).addNode("remember", rememberNode(memory));
    });
  });

  it("A state with memory's key compiles, however the nodes are given", () => {
    const memory = database.memory();
    void (() => {
      new StateGraph(states.Annotation).addNode({
        recall: recallNode(memory),
        end: rememberNode(memory),
      });
      new StateGraph(states.StateSchema).addNode([
        ["recall", recallNode(memory, { onError: "throw" })],
      ]);
      new StateGraph(states["an object of zod 4"]).addNode("recall", recallNode(memory));
      // Who calls it has what it returns.
      return recallNode(memory)({ messages: [] }, newThread()).then(
        ({ mnemograph }) => mnemograph?.gap,
      );
    });
  });

  it("A state without memory's key is accepted when nodes are called in a functional workflow", async () => {
    const { memory, thread, model } = await start();
    const workflow = entrypoint("chat", async (text: string, config) => {
      const messages = [new HumanMessage(text)];
      const { mnemograph } = await recallNode(memory)({ messages }, config);
      const answer = await model.invoke(modelView(messages, mnemograph));
      await rememberNode(memory)({ messages: [...messages, answer], mnemograph }, config);
      return answer.text;
    });
    expect(await workflow.invoke("What do I like?", thread)).toBe("answer 1");
    expect(lines(model.calls[0]!.messages).join()).toContain("zanzibar");
    expect(await transcript(database, thread)).toHaveLength(2);
  });
});

describe("messages under another key", () => {
  const talkSpec = {
    talk: Annotation<BaseMessage[]>({ reducer: messagesStateReducer, default: () => [] }),
  };

  it("The nodes find messages under the key that they are given", async () => {
    const { memory, thread, model } = await start();
    const graph = new StateGraph(Annotation.Root({ ...talkSpec, ...memoryAnnotation.spec }))
      .addNode("recall", recallNode(memory, { messagesKey: "talk" }))
      .addNode("chat", async ({ talk, mnemograph }) => ({
        talk: [await model.invoke(modelView(talk, mnemograph))],
      }))
      .addNode("remember", rememberNode(memory, { messagesKey: "talk" }))
      .addEdge(START, "recall")
      .addEdge("recall", "chat")
      .addEdge("chat", "remember")
      .compile({ checkpointer: memory.checkpointer() });
    const { talk } = await graph.invoke({ talk: [new HumanMessage("What do I like?")] }, thread);
    expect(lines(talk)).toEqual(["human: What do I like?", "ai: answer 1"]);
    expect(lines(model.calls[0]!.messages).join()).toContain("zanzibar");
    expect(await transcript(database, thread)).toEqual(["What do I like?", "answer 1"]);
  });

  it("withMemory finds messages under the key that it is given", async () => {
    const { memory, thread, model } = await start();
    const agent = new StateGraph(Annotation.Root(talkSpec))
      .addNode("chat", async ({ talk }) => ({ talk: [await model.invoke(talk)] }))
      .addEdge(START, "chat")
      .compile();
    const graph = withMemory(agent, memory, { messagesKey: "talk" }).compile({
      checkpointer: memory.checkpointer(),
    });
    for (const round of [1, 2]) {
      const { talk } = await graph.invoke(
        { talk: [new HumanMessage(`question ${round}`)] },
        thread,
      );
      expect(talk).toHaveLength(round * 2);
    }
    expect(lines(model.calls[1]!.messages).join()).toContain("zanzibar");
    expect(await transcript(database, thread)).toHaveLength(4);
    expect(() => withMemory(agent, memory)).toThrow(/`messages`.*messagesKey.*It has talk/s);
  });

  it("The nodes report where messages are not under the expected key", async () => {
    const memory = database.memory();
    const state = Annotation.Root({ ...talkSpec, ...memoryAnnotation.spec });
    for (const node of [recallNode(memory), rememberNode(memory)]) {
      const graph = new StateGraph(state)
        .addNode("node", node as never)
        .addEdge(START, "node")
        .compile();
      await expect(graph.invoke({ talk: [new AIMessage("hi")] }, newThread())).rejects.toThrow(
        /`messages` of the graph's state.*messagesKey/s,
      );
    }
  });
});
