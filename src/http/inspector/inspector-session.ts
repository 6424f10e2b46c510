import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { OperatorCaller } from "../route/caller.js";

/** A person at the inspector's page, who has shown the token that was printed for them. */
export interface InspectorSession {
  /** What the page is opened with, once: it goes into the part of an address that browsers send to nobody. */
  readonly token: string;
  /** An operator of everything, for whoever has the session's cookie. */
  readonly authenticate: (request: Request) => OperatorCaller | null;
  /** `serve`, before which `POST /inspector/session` gives a cookie for the token; that is good for nothing from then on. */
  before(serve: Serve): Serve;
}

/** Answers a request, as an app's `fetch`. */
type Serve = (request: Request, env?: unknown) => Response | Promise<Response>;

/** Longest body with a token in it. */
const mostBodyBytes = 1_000;

/**
 * A session for one person.
 *
 * @param operator who they are, for the audit trail.
 */
export function createInspectorSession(operator: string): InspectorSession {
  const key = randomBytes(32);
  const digest = (text: string) => createHmac("sha256", key).update(text).digest();
  const token = randomBytes(32).toString("base64url");
  let expected: Buffer | null = digest(token);
  let session: Buffer | null = null;
  const exchange = async (request: Request): Promise<Response> => {
    if (!isFromPage(request)) return refusal(403, "This comes from another site.");
    const given = await readToken(request);
    if (expected === null || given === null || !timingSafeEqual(digest(given), expected)) {
      return refusal(401, "This token was used already, or is none: start `mnemograph inspect` again.");
    }
    expected = null;
    const secret = randomBytes(32).toString("base64url");
    session = digest(secret);
    const cookie = `${cookieName(request)}=${secret}; HttpOnly; SameSite=Strict; Path=/`;
    return new Response(null, {
      status: 204,
      headers: { "set-cookie": cookie, "cache-control": "no-store" },
    });
  };
  return {
    token,
    authenticate(request) {
      const given = cookieOf(request, cookieName(request));
      if (session === null || given === null || !timingSafeEqual(digest(given), session)) return null;
      return { role: "operator", actor: operator };
    },
    before: (serve) => (request, env) => {
      const isExchange = request.method === "POST" && new URL(request.url).pathname === "/inspector/session";
      return isExchange ? exchange(request) : serve(request, env);
    },
  };
}

/** Cookies are a host's, whatever the port: each port of this machine has one of its own. */
function cookieName(request: Request): string {
  return `mnemograph-inspector-${new URL(request.url).port || "80"}`;
}

function cookieOf(request: Request, name: string): string | null {
  const pairs = (request.headers.get("cookie") ?? "").split(/; */);
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? null;
}

async function readToken(request: Request): Promise<string | null> {
  if (!/^application\/json\b/i.test(request.headers.get("content-type") ?? "")) return null;
  if (Number(request.headers.get("content-length") ?? 0) > mostBodyBytes) return null;
  try {
    const { token } = (await request.json()) as { readonly token?: unknown };
    return typeof token === "string" ? token : null;
  } catch {
    return null;
  }
}

function refusal(status: number, detail: string): Response {
  return Response.json(
    {
      type: "about:blank",
      title: "Refused",
      status,
      detail,
      code: status === 403 ? "FORBIDDEN" : "UNAUTHENTICATED",
    },
    { status, headers: { "content-type": "application/problem+json", "cache-control": "no-store" } },
  );
}

/**
 * Whether no other site is behind a request. A browser says by itself where a request comes from; programs say nothing,
 * and have no cookies that somebody else could use.
 */
export function isFromPage(request: Request): boolean {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") return false;
  const origin = request.headers.get("origin");
  return origin === null || (URL.canParse(origin) && new URL(origin).host === new URL(request.url).host);
}
