import { HumanMessage, SystemMessage } from "@langchain/core/messages";
import { expect, test } from "vitest";
import { z } from "zod";
import { OfflineChatModel } from "../../src/testing/index.js";

const schema = z.object({ reasoning: z.string(), summary: z.string() });

async function summaryOf(prompt: string): Promise<string> {
  const messages = [new SystemMessage("Summarise."), new HumanMessage(prompt)];
  const { summary, reasoning } = await new OfflineChatModel()
    .withStructuredOutput(schema, { name: "conversation_summary" })
    .invoke(messages);
  expect(reasoning).not.toBe("");
  return summary;
}

const message = (seq: number, role: string, text: string): string =>
  `<message seq="${seq}" role="${role}">${text}</message>`;
const newMessages = (...messages: string[]): string =>
  `<new_messages>\n${messages.join("\n")}\n</new_messages>`;

test("has a line for each round: the first sentences", async () => {
  const prompt = newMessages(
    message(0, "human", "My name is Ana. I bake."),
    message(1, "ai", "Hello Ana! How are you?"),
    message(2, "human", "Fine"),
    message(3, "ai", "Good"),
  );
  expect(await summaryOf(prompt)).toBe(
    "Round of seq 0: My name is Ana. → Hello Ana!\nRound of seq 2: Fine → Good",
  );
});

test("goes on from the previous summary and drops what left the window", async () => {
  const prompt = [
    `<previous_summary covers="0-5">Round of seq 0: a → b\nRound of seq 2: c → d\nRound of seq 4: e → f</previous_summary>`,
    newMessages(message(6, "human", "g"), message(7, "ai", "h")),
    `<drop before="2"> (messages no longer in the window) </drop>`,
  ].join("\n");
  expect(await summaryOf(prompt)).toBe("Round of seq 2: c → d\nRound of seq 4: e → f\nRound of seq 6: g → h");
});

test("keeps another author's lines for as long as anything they cover is in the window", async () => {
  const previous = `<previous_summary covers="0-5">Ana is a baker.</previous_summary>`;
  expect(await summaryOf(`${previous}<drop before="5">-</drop>`)).toBe("Ana is a baker.");
  expect(await summaryOf(`${previous}<drop before="6">-</drop>`)).toBe("");
  expect(await summaryOf(previous)).toBe("Ana is a baker.");
});

test("joins partial summaries in their order", async () => {
  const partials = ["Round of seq 0: a → b", "Round of seq 2: c → d\nRound of seq 4: e → f"].map(
    (text) => `<partial_summary covers="0-5">\n${text}\n</partial_summary>`,
  );
  expect(await summaryOf(partials.join("\n"))).toBe(
    "Round of seq 0: a → b\nRound of seq 2: c → d\nRound of seq 4: e → f",
  );
});

test("resolves entities once", async () => {
  const prompt = newMessages(
    message(0, "human", "Is 1 &lt; 2 &amp;&amp; 3 &gt; 2"),
    message(1, "ai", "&lt;/message&gt; &amp;lt;"),
  );
  expect(await summaryOf(prompt)).toBe("Round of seq 0: Is 1 < 2 && 3 > 2 → </message> &lt;");
});

test("cuts long sentences to 100 characters, whole characters", async () => {
  const [, said = "", answered = ""] =
    /: (.*) → (.*)$/.exec(
      await summaryOf(
        newMessages(message(0, "human", "word ".repeat(50)), message(1, "ai", "🙂".repeat(120))),
      ),
    ) ?? [];
  expect([...said].length).toBeLessThanOrEqual(100);
  expect(said.endsWith("…")).toBe(true);
  expect([...answered]).toHaveLength(100);
  expect(answered.isWellFormed?.() ?? true).toBe(true);
});

test("takes the last answer with text of a round with tools", async () => {
  const prompt = newMessages(
    message(0, "human", "Weather?"),
    message(1, "ai", "Looking."),
    message(2, "tool", "Sunny"),
    message(3, "ai", "It is sunny."),
    message(4, "ai", ""),
  );
  expect(await summaryOf(prompt)).toBe("Round of seq 0: Weather? → It is sunny.");
});

test("says so when a round has only one side", async () => {
  expect(await summaryOf(newMessages(message(3, "ai", "Welcome."), message(4, "human", "Hi")))).toBe(
    "Round of seq 3: (nothing) → Welcome.\nRound of seq 4: Hi → (no answer)",
  );
});

test("a summary made from its own output is stable", async () => {
  const first = await summaryOf(newMessages(message(0, "human", "A &amp; B"), message(1, "ai", "C")));
  expect(
    await summaryOf(`<previous_summary covers="0-1">${first.replaceAll("&", "&amp;")}</previous_summary>`),
  ).toBe(first);
});
