import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Hono } from "hono";

/** A file of the page, as it is sent. */
interface PageFile {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly type: string;
  readonly etag: string;
}

/** The files that there are, and what they are: nothing else is ever read. */
const types: ReadonlyMap<string, string> = new Map([
  ["index.html", "text/html; charset=utf-8"],
  ["inspector.js", "text/javascript; charset=utf-8"],
  ["inspector.css", "text/css; charset=utf-8"],
]);

/** In a built package, beside `http/`; in a clone, what was built there. */
const places = ["../../inspector/", "../../../dist/inspector/"];

/** What the page may do: run its own script, look its own way, and ask where it came from. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/**
 * Adds the inspector's page under `/inspector/`. Its files are the same for everybody and hold nothing of anybody: what is
 * kept, the page asks the API for, as whoever looks at it.
 */
export function addInspectorPage(app: Hono): void {
  app.get("/inspector", ({ req }) => {
    // Relative, since nobody here knows where the app is mounted.
    const name = new URL(req.url).pathname.split("/").at(-1);
    return new Response(null, { status: 308, headers: { location: `${name}/` } });
  });
  app.on("GET", ["/inspector/", "/inspector/:file"], async ({ req }) => {
    const name = req.param("file") ?? "index.html";
    const type = types.get(name);
    if (type === undefined)
      return new Response("There is no such file.", { status: 404, headers: headersOf("text/plain") });
    const file = await readPageFile(name, type);
    if (file === null)
      return new Response(notBuilt, { status: 501, headers: headersOf("text/plain; charset=utf-8") });
    const headers = { ...headersOf(type), etag: file.etag, "cache-control": "no-cache" };
    if (req.header("if-none-match") === file.etag) return new Response(null, { status: 304, headers });
    return new Response(file.body, { headers });
  });
}

const notBuilt = "The inspector's page is not built here. In a clone, run: npm run build:inspector\n";

function headersOf(type: string): Record<string, string> {
  return {
    "content-type": type,
    "content-security-policy": pagePolicy,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  };
}

async function readPageFile(name: string, type: string): Promise<PageFile | null> {
  const path = placeOf(name);
  if (path === undefined) return null;
  const body = new Uint8Array(await readFile(path));
  const etag = `"${createHash("sha256").update(body).digest("hex").slice(0, 32)}"`;
  return { body, type, etag };
}

function placeOf(name: string): string | undefined {
  return places.map((place) => fileURLToPath(new URL(place + name, import.meta.url))).find(existsSync);
}
