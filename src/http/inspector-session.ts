import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { OperatorCaller } from "../operations/caller.js";
import { bearerTokenOf, isFromPage } from "./authenticate.js";
import { HttpProblem, problemResponse } from "./problem.js";

type Serve = (request: Request, env?: unknown) => Response | Promise<Response>;

/** @param operator who looks and changes, for the audit trail. */
export function createInspectorSession(operator: string) {
  const key = randomBytes(32);
  const digest = (text: string) => createHmac("sha256", key).update(text).digest();
  const isThat = (expected: Buffer | undefined, given: string | null) =>
    expected !== undefined && given !== null && timingSafeEqual(digest(given), expected);
  const newSecret = () => randomBytes(32).toString("base64url");
  const token = newSecret();
  let expected: Buffer | undefined = digest(token);
  let session: { readonly cookie: Buffer; readonly token: Buffer } | undefined;
  // It reads no body: anybody on this machine may send one.
  const exchange = (request: Request): Response => {
    if (!isFromPage(request)) return problemResponse(new HttpProblem("FORBIDDEN", "This comes from another site."));
    if (!isThat(expected, bearerTokenOf(request))) {
      const detail = "This token was used already, or is none: start `mnemograph inspect` again.";
      return problemResponse(new HttpProblem("UNAUTHENTICATED", detail));
    }
    expected = undefined;
    const [cookie, pageToken] = [newSecret(), newSecret()];
    session = { cookie: digest(cookie), token: digest(pageToken) };
    const set = `${cookieName(request)}=${cookie}; HttpOnly; SameSite=Strict; Path=/`;
    return Response.json({ token: pageToken }, { headers: { "set-cookie": set, "cache-control": "no-store" } });
  };
  return {
    /** Opens the page, once. It goes into the fragment of the address, which browsers send to nobody. */
    token,
    // Cookies ignore ports, so servers at other ports are sent the cookie; the token only this page has.
    authenticate: (request: Request): OperatorCaller | null =>
      isThat(session?.cookie, cookieOf(request)) && isThat(session?.token, bearerTokenOf(request))
        ? { role: "operator", actor: operator }
        : null,
    /** Wraps `serve`: `POST /inspector/session` exchanges the token for a cookie and the page's token, once. */
    before:
      (serve: Serve): Serve =>
      (request, env) => {
        const isExchange = request.method === "POST" && new URL(request.url).pathname === "/inspector/session";
        return isExchange ? exchange(request) : serve(request, env);
      },
  };
}

/** A name for each port, so that two inspectors do not overwrite each other's. */
function cookieName(request: Request): string {
  return `mnemograph-inspector-${new URL(request.url).port || "80"}`;
}

function cookieOf(request: Request): string | null {
  const name = cookieName(request);
  const pairs = (request.headers.get("cookie") ?? "").split(/; */);
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? null;
}
