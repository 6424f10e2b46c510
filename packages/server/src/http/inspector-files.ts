import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Hono } from "hono";
import { etag } from "hono/etag";

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
  // Relative: the app may be mounted anywhere.
  app.get("/inspector", (context) => context.redirect("inspector/", 308));
  app.use("/inspector/*", etag());
  app.on("GET", ["/inspector/", "/inspector/:file"], async (context) => {
    const name = context.req.param("file") ?? "index.html";
    const type = mediaTypes.get(name);
    const place = pagePlaces
      .map((folder) => fileURLToPath(new URL(folder + name, import.meta.url)))
      .find(existsSync);
    if (type === undefined) return context.text("There is no such file.", 404, security);
    if (place === undefined)
      return context.text(
        "The inspector's page is not built here. In a clone, run: npm run build:inspector\n",
        501,
        security,
      );
    const headers = { ...security, "content-type": type, "cache-control": "no-cache" };
    return new Response(new Uint8Array(await readFile(place)), { headers });
  });
}

const security = {
  "content-security-policy": pagePolicy,
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};
