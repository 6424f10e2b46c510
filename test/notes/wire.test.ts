import { describe, expect, it } from "vitest";
import { useOpenAI } from "../support/openai-stub.js";
import { useTestDatabase } from "../support/test-database.js";
import { addNotes } from "./note-facts.js";
import { appOf, notesOf, openTalk, talkAndEnd } from "./note-model.js";

const db = useTestDatabase();
const openai = useOpenAI();

const note = {
  reasoning: "…",
  note: "The user wants aisle seats.",
  importance: 4,
  tags: ["seats"],
};
const noSummary = { config: { memories: { extract: false, episodes: false } } };
const wireOf = (index: number) => JSON.stringify(openai.requests[index]?.body.response_format);

describe("notes from an OpenAI endpoint", () => {
  it("An OpenAI endpoint is asked for a note by schema, in one call, and the note is kept", async () => {
    const { memory, talk } = openTalk(db, {
      model: await openai.model([{ structured: note }]),
      ...noSummary,
    });
    await talkAndEnd(memory, talk);
    expect(openai.requests).toHaveLength(1);
    const { body } = openai.requests[0]!;
    expect(body.messages.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(body.stream ?? false).toBe(false);
    expect(wireOf(0)).toContain('"name":"app_note"');
    expect(wireOf(0)).toContain('"required":["reasoning","note","importance","tags"]');
    expect(await notesOf(memory, talk)).toEqual([note.note]);
  });

  it("An OpenAI endpoint is asked for a decision about notes by schema, and to repair it once", async () => {
    const decision = {
      reasoning: "",
      action: "delete",
      target: 1,
      with: null,
      text: null,
      reason: "Old.",
    };
    const chat = await openai.model([
      { structured: note },
      { structured: { action: "purge" } },
      { structured: decision },
    ]);
    const { memory, talk } = openTalk(db, {
      model: chat,
      config: { ...noSummary.config, notes: { limit: 1 } },
    });
    await addNotes(memory, appOf(talk), ["The user wants a window seat."]);
    await talkAndEnd(memory, talk);
    expect(openai.requests).toHaveLength(3);
    expect(wireOf(1)).toContain('"name":"note_compaction"');
    expect(wireOf(1)).toContain('"enum":["delete","edit"]');
    expect(await notesOf(memory, talk)).toEqual([note.note]);
  });
});
