import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Hono } from "hono";

/** No other file is read. */
const mediaTypes: ReadonlyMap<string, string> = new Map([
  ["index.html", "text/html; charset=utf-8"],
  ["inspector.js", "text/javascript; charset=utf-8"],
  ["inspector.css", "text/css; charset=utf-8"],
]);

/** Of a built package, then of a clone. */
const pagePlaces = ["./inspector/", "../inspector/", "../../dist/inspector/"];

const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The files hold no user data: the page asks the API for it. */
export function addInspectorPage(app: Hono): void {
  app.get("/inspector", ({ req }) => {
    // Relative: the app may be mounted anywhere.
    const name = new URL(req.url).pathname.split("/").at(-1);
    return new Response(null, { status: 308, headers: { location: `${name}/` } });
  });
  app.on("GET", ["/inspector/", "/inspector/:file"], async ({ req }) => {
    const name = req.param("file") ?? "index.html";
    const type = mediaTypes.get(name);
    const place = pagePlaces
      .map((folder) => fileURLToPath(new URL(folder + name, import.meta.url)))
      .find(existsSync);
    if (type === undefined) return textResponse("There is no such file.", 404);
    if (place === undefined)
      return textResponse(
        "The inspector's page is not built here. In a clone, run: npm run build:inspector\n",
        501,
      );
    const body = new Uint8Array(await readFile(place));
    const etag = `"${createHash("sha256").update(body).digest("hex").slice(0, 32)}"`;
    const headers = { ...security, "content-type": type, etag, "cache-control": "no-cache" };
    const isCached = req.header("if-none-match") === etag;
    return new Response(isCached ? null : body, { status: isCached ? 304 : 200, headers });
  });
}

const security = {
  "content-security-policy": pagePolicy,
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

function textResponse(text: string, status: number): Response {
  const headers = { ...security, "content-type": "text/plain; charset=utf-8" };
  return new Response(text, { status, headers });
}
