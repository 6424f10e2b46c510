import { beforeAll, describe, expect, it } from "vitest";
import { createInspectorSession } from "../../packages/server/src/http/inspector-session.js";
import { createMemoryApp } from "../../packages/server/src/http/memory-app.js";
import type { Memory } from "../../src/memory.js";
import { buildPageOnce } from "../support/inspected.js";
import { silentLogger } from "../support/silent-logger.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
let memory: Memory;
beforeAll(async () => {
  await buildPageOnce();
  memory = db.memory();
});

const origin = "http://127.0.0.1:8123";

/** A server with a session, like that of `mnemograph inspect`. */
function inspected() {
  const session = createInspectorSession("joe");
  const app = createMemoryApp(memory, {
    authenticate: session.authenticate,
    inspector: true,
    logger: silentLogger,
  });
  const serve = session.before((request) => app.fetch(request));
  const ask = async (path: string, init: RequestInit = {}) =>
    serve(new Request(origin + path, init));
  const exchange = (token: string, headers: Record<string, string> = {}, body?: ReadableStream) =>
    ask("/inspector/session", {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, ...headers },
      duplex: "half",
      ...(body && { body }),
    } as RequestInit);
  const opened = async (headers: Record<string, string> = {}) => {
    const answer = await exchange(session.token, headers);
    const set = answer.headers.get("set-cookie") ?? "";
    const { token } = (await answer.json()) as { token: string };
    return { set, cookie: set.split(";")[0] ?? "", authorization: `Bearer ${token}` };
  };
  return { session, ask, exchange, opened };
}

describe("the inspector's page", () => {
  it("The page's policy lets it run its own script and ask its own server, and nothing else", async () => {
    const { ask } = inspected();
    const answers = await Promise.all(
      ["/inspector/", "/inspector/inspector.js", "/inspector/inspector.css"].map((path) =>
        ask(path),
      ),
    );
    expect(answers.map(({ status, headers }) => [status, headers.get("content-type")])).toEqual(
      ["html", "javascript", "css"].map((type) => [200, `text/${type}; charset=utf-8`]),
    );
    for (const { headers } of answers) {
      expect(headers.get("content-security-policy")).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
    }
    expect(await answers[0]?.text()).not.toMatch(
      /https?:|style=|<script(?! type="module" src="inspector\.js")/,
    );
  });

  it("The page redirects into its folder wherever it is mounted, and has no other files", async () => {
    const { ask } = inspected();
    expect((await ask("/inspector")).headers.get("location")).toBe("inspector/");
    for (const name of [
      "package.json",
      "..%2f..%2fpackage.json",
      "inspector.js.map",
      "constructor",
    ])
      expect((await ask(`/inspector/${name}`)).status).toBe(404);
    const tag = (await ask("/inspector/inspector.js")).headers.get("etag") ?? "";
    expect(
      (await ask("/inspector/inspector.js", { headers: { "if-none-match": tag } })).status,
    ).toBe(304);
    expect((await createMemoryApp(memory).request("/inspector/")).status).toBe(404);
  });
});

describe("the session of `mnemograph inspect`", () => {
  it("A session exchanges its token once for an HttpOnly cookie and another token, of no use alone", async () => {
    const { session, ask, exchange, opened } = inspected();
    expect((await ask("/users")).status).toBe(401);
    expect((await exchange("a-guess")).status).toBe(401);
    const { set, cookie, authorization } = await opened();
    expect(set).toMatch(
      /^mnemograph-inspector-8123=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/$/,
    );
    const status = async (headers: Record<string, string>) =>
      (await ask("/users", { headers })).status;
    expect(await status({ cookie, authorization })).toBe(200);
    expect((await exchange(session.token)).status).toBe(401);
    expect(await status({ cookie, authorization })).toBe(200);
    expect(await status({ cookie: `${cookie}x`, authorization })).toBe(401);
    // Servers at other ports are sent the cookie, but not the token.
    expect([await status({ cookie }), await status({ authorization })]).toEqual([401, 401]);
    const printed = `Bearer ${session.token}`;
    for (const other of [printed, `${authorization}x`])
      expect(await status({ cookie, authorization: other })).toBe(401);
  });

  it("A session reads no body before the token is checked", async () => {
    const { exchange } = inspected();
    let sent = 0;
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(++sent)),
    });
    expect((await exchange("a-guess", {}, endless)).status).toBe(401);
    expect(sent).toBeLessThan(3);
  });

  it("A session refuses requests from pages of other sites, with the token or with the cookie", async () => {
    const { session, ask, exchange, opened } = inspected();
    const foreign: Record<string, string>[] = [
      ...["cross-site", "same-site"].map((site) => ({ "sec-fetch-site": site })),
      ...["https://evil.example", "http://127.0.0.1:9999", "null"].map((origin) => ({ origin })),
    ];
    for (const headers of foreign)
      expect((await exchange(session.token, headers)).status).toBe(403);
    const { cookie, authorization } = await opened({ origin, "sec-fetch-site": "same-origin" });
    for (const headers of foreign) {
      const sent = { method: "POST", headers: { ...headers, cookie, authorization } };
      const refused = await ask("/forget?userId=ana", sent);
      expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([
        403,
        "FORBIDDEN",
      ]);
    }
    const own = { cookie, authorization, origin, "sec-fetch-site": "same-origin" };
    expect((await ask("/users", { headers: own })).status).toBe(200);
  });
});
