import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { OfflineChatModel } from "../../src/testing/index.js";

const model = new OfflineChatModel();
const human = (text: string): BaseMessage => new HumanMessage(text);
const ai = (text: string): BaseMessage => new AIMessage(text);
const answerTo = async (...messages: BaseMessage[]): Promise<string> =>
  (await model.invoke(messages)).text;

const said = "[offline stand-in]";

describe("the answer", () => {
  const aboutMe = human(
    "I work in a bank. I'm allergic to peanuts, badly. The file name is wrong. My name is Ana!",
  );
  const tea = "- Preferred name is Ana\n- Prefers tea &amp; biscuits to A &lt; B";
  const memory = new SystemMessage(`<memory>\n<profile>\n${tea}\n</profile>\n</memory>`);
  const summary =
    "Round of seq 0: My dog [the old one] is Rex. → [offline stand-in] Noted: My dog is Rex.\nRound of seq 2: I like tea → Good";
  const invoice = new ToolMessage({ content: "The invoice number is 42.", tool_call_id: "c1" });

  test.each<[string, BaseMessage[], string]>([
    [
      "is the one sentence that fits, in any form of its words",
      [aboutMe, human("Which allergies do I have? Am I allergic?")],
      "You said: I'm allergic to peanuts, badly.",
    ],
    [
      "is a sentence of a longer message",
      [aboutMe, human("what's my name?")],
      "You said: My name is Ana!",
    ],
    ["needs no question mark", [aboutMe, human("Where do I work")], "You said: I work in a bank."],
    [
      "is the latest of equally good sentences",
      [
        human("My city is Rome."),
        ai("Ok."),
        human("My city is Oslo."),
        ai("Ok."),
        human("What is my city?"),
      ],
      "You said: My city is Oslo.",
    ],
    [
      "is neither the same question asked before, nor an earlier answer of its own",
      [
        ...[human("My name is Ana."), ai(`${said} Noted: My name is Ana.`)],
        ...[human("What is my name?"), ai(`${said} You said: My name is Ana.`)],
        human("What is my name?"),
      ],
      "You said: My name is Ana.",
    ],
    [
      "may be in the message that asks",
      [human("I live in Porto. Where do I live?")],
      "You said: I live in Porto.",
    ],
    [
      "is in the memory block of a system message",
      [memory, human("What name do I prefer?")],
      "From memory: Preferred name is Ana",
    ],
    [
      "has no entities",
      [memory, human("Do I like tea?")],
      "From memory: Prefers tea & biscuits to A < B",
    ],
    [
      "is in a prefix with the previous context",
      [human(`[Previous context: ${summary}]\n\nWho is my dog?`)],
      "From memory: My dog [the old one] is Rex.",
    ],
    [
      "is what an assistant said",
      [ai("Your flight leaves at nine."), human("When does my flight leave?")],
      "I said: Your flight leaves at nine.",
    ],
    [
      "is what a tool said",
      [human("Look."), ai(""), invoice, ai("Done."), human("What is the invoice number?")],
      "A tool said: The invoice number is 42.",
    ],
    [
      "to a question that nothing fits is that it is noted",
      [human("My name is Ana."), human("What is the capital of Peru? Please.")],
      "Noted: What is the capital of Peru?",
    ],
    [
      "to a statement is that it is noted",
      [human("My name is Ana."), human("My name is Anna. I am a baker.")],
      "Noted: My name is Anna.",
    ],
    [
      "notes no previous context",
      [human("[Previous context: old things]\n\nI like tea.")],
      "Noted: I like tea.",
    ],
    [
      "is what memory put in front of a message, which is nobody's word",
      [human("<memory>\n## Recent Context\n- My dog is Rex.\n</memory>\n\nWho is my dog?")],
      "From memory: My dog is Rex.",
    ],
    [
      "to nobody is that nothing was said",
      [new SystemMessage("Be kind.")],
      "Noted: nothing was said.",
    ],
  ])("The answer %s", async (_, messages, answer) => {
    // It is the same every time.
    for (const _time of [1, 2]) expect(await answerTo(...messages)).toBe(`${said} ${answer}`);
  });
});

describe("the answer to a question about all memories", () => {
  const block = `You are kind.

<memory>
# Long-term Memory
These notes are data from earlier conversations.

Memory updates since rev 2 (1 change):
- +created: [Goals] The user's goal is to sail (imp=3)

## User Profile
- name: Ana &amp; Bo
- The user prefers short answers.

## Recent Context
- [goals] The user's goal is to sail.

(memories for app: shop)
The following are memories from previous conversations with this app:

1. [Created: 2026-01-02] Returns take 14 days.

## Waiting for the User's Consent
None of this is known until the user agrees.
- 0c4f2a10: city: Porto

# Recent Conversation
[Summary of Round 1-3]:
- The user was in Rome.
</memory>`;
  const known =
    "name: Ana & Bo; The user prefers short answers; The user's goal is to sail; Returns take 14 days.";

  test.each([
    "What do you know about me?",
    "what do you know about me",
    "Tell me everything you remember about me.",
    "What have you learned about me so far?",
    "Do you remember anything of me?",
    "Who am I?",
  ])("A question about all memories is answered with what memory lists: %s", async (asked) => {
    const answer = `[offline stand-in] From memory: ${known}`;
    expect(await answerTo(new SystemMessage(block), human(asked))).toBe(answer);
    const context = block
      .replace(/^[\s\S]*<memory>\n|\n<\/memory>$/g, "")
      .replace(/\]\s*\n\s*/g, "]\n");
    expect(await answerTo(human(`[Previous context: ${context}]\n\n${asked}`))).toBe(answer);
  });

  test("The answer about all memories omits those that wait for consent", async () => {
    expect(await answerTo(new SystemMessage(block), human("Which city is mine?"))).toBe(
      "[offline stand-in] Noted: Which city is mine?",
    );
  });

  test("The answer about all memories is what the user said if memory lists nothing", async () => {
    expect(
      await answerTo(human("My name is Ana."), ai("Ok."), human("What do you know about me?")),
    ).toBe("[offline stand-in] You said: My name is Ana.");
    expect(await answerTo(human("What do you know about me?"))).toBe(
      "[offline stand-in] Nothing yet.",
    );
  });

  test.each([
    "Do you know the way?",
    "What do you know about my dog?",
    "What do you know about Messina?",
  ])("The list of all memories is not the answer to: %s", async (asked) => {
    expect(await answerTo(new SystemMessage(block), human(asked))).not.toContain("name: Ana");
  });
});

describe("handing over", () => {
  const delegate = (name: string) =>
    tool(({ task }) => `${name} did: ${task}`, {
      name,
      description: name,
      schema: z.object({ task: z.string() }),
    });
  const callsFor = async (text: string, names: string[]): Promise<unknown> => {
    const { tool_calls } = await model
      .bindTools(names.map(delegate))
      .invoke([new SystemMessage("You plan."), human(text)]);
    return tool_calls?.map(({ name, args }) => ({ name, args }));
  };

  test.each([
    ["Plan my week", "planner"],
    ["How should we test this?", "planner"],
    ["Please design a logo and build it", "planner"],
    ["Build the thing", "executor"],
    ["deploy it now", "executor"],
  ])("The offline model hands %j over to %s", async (text, name) => {
    expect(await callsFor(text, ["planner", "executor"])).toEqual([{ name, args: { task: text } }]);
  });

  test("Nothing is handed over for a word that merely contains the letters, or to a tool that is not bound", async () => {
    expect(await callsFor("The plane was late and I was running", ["planner", "executor"])).toEqual(
      [],
    );
    expect(await callsFor("Plan my week", ["executor", "memory_query"])).toEqual([]);
  });

  test("A task that is handed over leaves out the previous context", async () => {
    expect(
      await callsFor("[Previous context: they plan to build]\n\nHello", ["planner", "executor"]),
    ).toEqual([]);
    expect(
      await callsFor("[Previous context: they like tea]\n\nRun it", ["planner", "executor"]),
    ).toEqual([{ name: "executor", args: { task: "Run it" } }]);
  });
});

describe("structured output", () => {
  const facts = z.object({ facts: z.array(z.string()) });

  test("Structured output without a rule is plain text, which is malformed", async () => {
    await expect(model.withStructuredOutput(facts, { name: "facts" }).invoke("a")).rejects.toThrow(
      "No tool calls found",
    );
    expect(
      (await model.withStructuredOutput(facts, { name: "facts", includeRaw: true }).invoke("a"))
        .parsed,
    ).toBeNull();
  });
});
