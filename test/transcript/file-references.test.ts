import { ToolMessage } from "@langchain/core/messages";
import fc from "fast-check";
import { expect, it } from "vitest";
import {
  attachmentOf,
  filesIn,
  referenceTo,
  withReferences,
} from "../../src/messages/attachments.js";
import { decodeMessage, encodeMessage } from "../../src/messages/message-codec.js";
import { forAll } from "../support/for-all.js";
import { processorMs } from "../support/timing.js";
import { dataUrl, png, shown, shows } from "./pictures.js";

it.each<[string, object]>([
  ["reasoning", { type: "reasoning", reasoning: "hm", signature: png }],
  ["hidden reasoning", { type: "redacted_thinking", data: png }],
  [
    "a call",
    { type: "tool_use", id: "1", name: "file", input: { data: png, mimeType: "image/png" } },
  ],
  ["a search in files", { type: "file_search_call", id: "fs", queries: ["boat"], results: null }],
  [
    "a hit",
    {
      type: "search_result",
      source: shown,
      title: "Boats",
      content: [{ type: "text", text: "x" }],
    },
  ],
  ["what nobody knows", { type: "custom", body: { a: 1 } }],
])("A part that is no file stays as it is: %s", (_, part) => {
  const message = shows({ type: "text", text: "look" }, part);
  expect(withReferences(message)).toBe(message);
});

it("A data URL that never ends is recognised within a second of processor time", () => {
  const url = `data:${"A".repeat(4_000_000)}`;
  const read = () => attachmentOf({ type: "image_url", image_url: url })?.type;
  expect(read()).toBe("image");
  expect(processorMs(read, 1_000)).toBeLessThan(1_000);
});

const secret = "zzSECRETzz";
const someUrl = fc
  .tuple(fc.webUrl(), fc.string({ maxLength: 5 }))
  .map(([address, tail]) => `${address}?${encodeURIComponent(tail)}=${secret}#${secret}`);
const somePart = fc.letrec<{ part: object; value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    someUrl,
    fc.constantFrom(dataUrl, null, 1),
    fc.string({ unit: "binary", maxLength: 2_000 }),
    tie("part"),
  ),
  part: fc.dictionary(
    fc.constantFrom(
      ..."type url data image_url source source_type id file_id file file_data mimeType media_type format name".split(
        " ",
      ),
      ..."metadata input_audio image inlineData fileUri text content title".split(" "),
    ),
    fc.oneof(
      fc.constantFrom("image", "image_url", "file", "document", "base64", "url", "id", "text"),
      tie("value"),
    ),
    { maxKeys: 6 },
  ),
})).part;

it("A reference to any part is one bounded line without base64 and query strings, or there is none", () => {
  forAll(somePart, fc.string({ unit: "binary", maxLength: 3_000 }), (part, caption) => {
    const file = attachmentOf(part);
    if (file === null) return;
    const line = referenceTo(file, caption);
    expect(line).toMatch(/^\[(?:image|audio|video|file)(?:: [^\n[\]]+)?\]$/u);
    expect(line.length).toBeLessThan(1_300);
    expect(line.replace(caption, "")).not.toMatch(new RegExp(png.slice(0, 40)));
    if (file.url !== undefined) expect(line).not.toContain(secret);
  });
});

it.each([
  ["https:ana:zzSECRETzz@files.example/x.png?sig=zzSECRETzz", "https://files.example/x.png"],
  ["HTTP:\\\\ana:zzSECRETzz@files.example/x.png#zzSECRETzz", "http://files.example/x.png"],
  ["javascript:send('zzSECRETzz')", "javascript:"],
  ["Report: final, v2.pdf", "Report: final, v2.pdf"],
])("A file's name or address %j is kept as %j", (name, kept) => {
  const named = referenceTo({ type: "file", fileId: "f", metadata: { name } });
  expect(named).toBe(`[file: ${kept}, f]`);
});

it("withReferences accepts any message and leaves no file's data in it", () => {
  forAll(
    fc.array(fc.oneof(somePart, fc.anything()), { maxLength: 4 }),
    fc.anything(),
    (content, artifact) => {
      const message = new ToolMessage({ tool_call_id: "c", content: "", artifact });
      message.content = content as never;
      const once = withReferences(message);
      expect(
        filesIn(decodeMessage(encodeMessage(once))).filter(({ data }) => data !== undefined),
      ).toEqual([]);
    },
  );
});
