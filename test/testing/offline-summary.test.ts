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

test("The offline summary has a line for each turn with its first sentences", async () => {
  const prompt = newMessages(
    message(0, "user", "My name is Ana. I bake."),
    message(1, "assistant", "Hello Ana! How are you?"),
    message(2, "user", "Fine"),
    message(3, "assistant", "Good"),
  );
  expect(await summaryOf(prompt)).toBe(
    "Round of seq 0: My name is Ana. → Hello Ana!\nRound of seq 2: Fine → Good",
  );
});

test("The offline summary goes on from the previous one and drops what left the window", async () => {
  const prompt = [
    `<previous_summary covers="0-5">Round of seq 0: a → b\nRound of seq 2: c → d\nRound of seq 4: e → f</previous_summary>`,
    newMessages(message(6, "user", "g"), message(7, "assistant", "h")),
    `<drop before="2"> (messages no longer in the window) </drop>`,
  ].join("\n");
  expect(await summaryOf(prompt)).toBe(
    "Round of seq 2: c → d\nRound of seq 4: e → f\nRound of seq 6: g → h",
  );
});

test("The offline summary keeps another author's lines while anything they cover is in the window", async () => {
  const previous = `<previous_summary covers="0-5">Ana is a baker.</previous_summary>`;
  expect(await summaryOf(`${previous}<drop before="5">-</drop>`)).toBe("Ana is a baker.");
  expect(await summaryOf(`${previous}<drop before="6">-</drop>`)).toBe("");
  expect(await summaryOf(previous)).toBe("Ana is a baker.");
});

test("The offline summary does not take up again what the drop block shows", async () => {
  const dropped = `<drop before="2">\n${message(0, "user", "old")}\n${message(1, "assistant", "gone")}\n</drop>`;
  const added = newMessages(message(6, "user", "g"), message(7, "assistant", "h"));
  expect(await summaryOf(`${added}\n${dropped}`)).toBe("Round of seq 6: g → h");
});

test("The offline summary cuts long sentences to 100 whole characters", async () => {
  const [, said = "", answered = ""] =
    /: (.*) → (.*)$/.exec(
      await summaryOf(
        newMessages(
          message(0, "user", "word ".repeat(50)),
          message(1, "assistant", "🙂".repeat(120)),
        ),
      ),
    ) ?? [];
  expect([...said].length).toBeLessThanOrEqual(100);
  expect(said.endsWith("…")).toBe(true);
  expect([...answered]).toHaveLength(100);
  expect(Buffer.from(answered).toString()).toBe(answered);
});

test("The offline summary takes the last answer with text of a turn with tools", async () => {
  const prompt = newMessages(
    message(0, "user", "Weather?"),
    message(1, "assistant", "Looking."),
    message(2, "tool", "Sunny"),
    message(3, "assistant", "It is sunny."),
    message(4, "assistant", ""),
  );
  expect(await summaryOf(prompt)).toBe("Round of seq 0: Weather? → It is sunny.");
});

test("The offline summary says so when a turn has only one side", async () => {
  expect(
    await summaryOf(newMessages(message(3, "assistant", "Welcome."), message(4, "user", "Hi"))),
  ).toBe("Round of seq 3: (nothing) → Welcome.\nRound of seq 4: Hi → (no answer)");
});
