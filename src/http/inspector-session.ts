import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { OperatorCaller } from "../operations/caller.js";
import { isFromPage } from "./authenticate.js";
import { HttpProblem, problemResponse } from "./problem.js";
import { readBytes } from "./read-request.js";

type Serve = (request: Request, env?: unknown) => Response | Promise<Response>;

const mostBodyBytes = 1_000;

/** @param operator who looks and changes, for the audit trail. */
export function createInspectorSession(operator: string) {
  const key = randomBytes(32);
  const digest = (text: string) => createHmac("sha256", key).update(text).digest();
  const isThat = (expected: Buffer | null, given: string | null) =>
    expected !== null && given !== null && timingSafeEqual(digest(given), expected);
  const token = randomBytes(32).toString("base64url");
  let expected: Buffer | null = digest(token);
  let session: Buffer | null = null;
  const exchange = async (request: Request): Promise<Response> => {
    if (!isFromPage(request))
      return problemResponse(new HttpProblem("FORBIDDEN", "This comes from another site."));
    if (!isThat(expected, await readToken(request))) {
      const detail = "This token was used already, or is none: start `mnemograph inspect` again.";
      return problemResponse(new HttpProblem("UNAUTHENTICATED", detail));
    }
    expected = null;
    const secret = randomBytes(32).toString("base64url");
    session = digest(secret);
    const cookie = `${cookieName(request)}=${secret}; HttpOnly; SameSite=Strict; Path=/`;
    const headers = { "set-cookie": cookie, "cache-control": "no-store" };
    return new Response(null, { status: 204, headers });
  };
  return {
    /** Opens the page, once. It goes into the fragment of the address, which browsers send to nobody. */
    token,
    authenticate: (request: Request): OperatorCaller | null =>
      isThat(session, cookieOf(request)) ? { role: "operator", actor: operator } : null,
    /** Wraps `serve`: `POST /inspector/session` exchanges the token for a cookie, once. */
    before:
      (serve: Serve): Serve =>
      (request, env) => {
        const isExchange =
          request.method === "POST" && new URL(request.url).pathname === "/inspector/session";
        return isExchange ? exchange(request) : serve(request, env);
      },
  };
}

/** Cookies ignore ports, so each port has a name of its own. */
function cookieName(request: Request): string {
  return `mnemograph-inspector-${new URL(request.url).port || "80"}`;
}

function cookieOf(request: Request): string | null {
  const name = cookieName(request);
  const pairs = (request.headers.get("cookie") ?? "").split(/; */);
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? null;
}

async function readToken(request: Request): Promise<string | null> {
  if (!/^application\/json\b/i.test(request.headers.get("content-type") ?? "")) return null;
  try {
    const { token } = JSON.parse(new TextDecoder().decode(await readBytes(request, mostBodyBytes)));
    return typeof token === "string" ? token : null;
  } catch {
    return null;
  }
}
