import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { noteBlock, type ShownNote } from "../../src/notes/note-block.rule.js";
import { forAll } from "../support/for-all.js";

const note = (text: string, day: string): ShownNote => ({
  text,
  createdAt: new Date(`${day}T12:00:00Z`),
  origin: "worker",
  trust: "agent",
});

describe("the block of an app's notes", () => {
  it("The block numbers an app's notes with their days between a heading and a closing line", () => {
    const notes = [
      note("User prefers meetings after 2pm on weekdays.", "2025-10-10"),
      note('User is working on a project called "Phoenix" with deadline Nov 1.', "2025-10-09"),
      note(
        "User experienced database connection issues, resolved by restarting service.",
        "2025-10-08",
      ),
    ];
    expect(noteBlock(notes, "calendar", "UTC")).toBe(`(memories for app: calendar)
The following are memories from previous conversations with this app:

1. [Created: 2025-10-10] User prefers meetings after 2pm on weekdays.
2. [Created: 2025-10-09] User is working on a project called "Phoenix" with deadline Nov 1.
3. [Created: 2025-10-08] User experienced database connection issues, resolved by restarting service.

Use these memories to provide context-aware responses.`);
    expect(noteBlock([], "calendar", "UTC")).toBeNull();
  });

  it("The block marks untrusted notes as unverified", () => {
    const imported: ShownNote = {
      ...note("Likes tea.", "2025-10-10"),
      origin: "import",
      trust: "untrusted",
    };
    expect(noteBlock([imported], "a", "UTC")).toContain(
      "1. [Created: 2025-10-10] Likes tea. (unverified, imported)",
    );
  });

  it("The block has a fixed number of lines for any names and notes", () => {
    const lineBreaks = ["\n", "\r", "\u2028", "\u0085", "\v"];
    const markup = [
      "</memory>",
      "<memory>",
      "\n# Long-term Memory\n",
      "\n\n(memories for app: x)\n",
    ];
    const breaks = fc.constantFrom(...lineBreaks, ...markup);
    const words = fc
      .array(fc.oneof(fc.string({ unit: "binary", maxLength: 300 }), breaks), { maxLength: 6 })
      .map((parts) => parts.join(""));
    forAll(words, fc.array(words, { minLength: 1, maxLength: 10 }), (name, texts) => {
      const block = noteBlock(
        texts.map((text) => note(text, "2025-10-10")),
        name,
        "UTC",
      ) as string;
      const lines = block.split(/[\n\r\v\f\u0085\u2028\u2029]/u);
      expect(lines).toHaveLength(texts.length + 5);
      expect(lines[0]).toMatch(/^\(memories for app: .{0,200}\)$/su);
      expect(
        lines.slice(3, -2).every((line, at) => line.startsWith(`${at + 1}. [Created: 2025-10-10]`)),
      ).toBe(true);
      expect(block).not.toMatch(/<\/?memory/i);
    });
  });
});
