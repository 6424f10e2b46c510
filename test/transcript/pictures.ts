import { createHash } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";

/** The bytes of a picture in base64, and how a reference names them. */
export const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const digest = createHash("sha256").update(Buffer.from(png, "base64")).digest("hex");
export const bytes = `70 bytes, sha256:${digest}`;

/** A picture's address with secrets, and the part of it that a reference shows. */
export const url = "https://ana:pass@example.org/boat.png?signature=secret#part";
export const shown = "https://example.org/boat.png";

export const dataUrl = `data:image/png;base64,${png}`;

export const picture = {
  type: "image",
  mimeType: "image/png",
  data: png,
  metadata: { name: "boat.png" },
} as const;

let users = 0;

/** A new user's thread. */
export function address() {
  const userId = `painter ${users++}`;
  return { scope: { userId }, threadId: `pictures of ${userId}` };
}

/** A user's message with these parts. */
export const shows = (...content: object[]) =>
  new HumanMessage({ id: "m", content: content as never });
