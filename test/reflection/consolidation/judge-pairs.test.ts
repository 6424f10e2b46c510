import { describe, expect, it } from "vitest";
import { judgePairs, type ShownPair } from "../../../src/reflection/consolidation/judge-pairs.js";
import { nearByWords } from "../../../src/reflection/consolidation/near-words.rule.js";
import { useProviders } from "../../support/providers/clients.js";
import type { ChatBody } from "../../support/providers/openai-chat.js";
import { day, stored } from "./stored-memories.js";

const start = useProviders();

const pair: ShownPair = [
  stored({ ref: 1, text: "The user likes hiking.", validFrom: day(1) }),
  stored({ ref: 2, text: "The user <b>enjoys</b> hikes.", key: "hobby", value: "hikes" }),
];

describe("pairs for an OpenAI endpoint", () => {
  it("OpenAI receives pairs as numbered blocks, and a schema with the reason before the verdict", async () => {
    const verdicts = [
      { pair: 2, reason: "Both\n mention \u0000hikes.", verdict: "same" },
      { pair: 1, reason: "", verdict: "related" },
    ];
    const { model, exchanges } = await start("chat completions", () => ({
      structured: { verdicts },
    }));
    const { votes, tokens } = await judgePairs({ model, timeoutMs: 60_000 }, [pair, pair], "UTC");
    expect(votes).toEqual([
      { verdict: "related", reason: "" },
      { verdict: "same", reason: "Both mention hikes." },
    ]);
    // As the endpoint says.
    const { usage, body } = exchanges[0]!;
    expect(tokens).toBe(usage!.input + usage!.output);
    const { tools, messages } = body as ChatBody;
    const wire = JSON.stringify(tools);
    expect(wire).toContain("memory_pairs");
    expect(wire.indexOf('"reason"')).toBeLessThan(wire.indexOf('"verdict"'));
    const { content } = messages[1]!;
    expect(content).toContain(
      '<pair number="1"><memory category="knowledge" since="2026-01-02">The user likes hiking.</memory>',
    );
    expect(content).toContain('key="hobby" value="hikes"');
    expect(content).toContain("&lt;b&gt;enjoys&lt;/b&gt;");
  });
});

describe("nearness by words", () => {
  const words = (ref: number, ...said: string[]) => ({
    ref,
    group: "fact",
    words: Object.fromEntries(said.map((word) => [word, 1])),
  });

  it('nearByWords pairs memories that share most of their words, also with words like "constructor"', () => {
    const all = [
      words(1, "user", "constructor", "write"),
      words(2, "user", "constructor", "read"),
      words(3, "toString", "chess"),
      { ...words(4, "user", "constructor", "write"), group: "insight" },
    ];
    const near = nearByWords(all, { refs: new Set([1, 3]), least: 0.6, most: 5 });
    expect(near).toEqual([{ first: 1, second: 2, similarity: 2 / 3 }]);
  });
});
