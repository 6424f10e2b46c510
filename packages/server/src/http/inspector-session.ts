import { randomBytes, timingSafeEqual } from "node:crypto";
import { parse } from "hono/utils/cookie";
import type { OperatorCaller } from "../operations/caller.js";
import { bearerTokenOf, createDigest, isFromPage } from "./authenticate.js";
import { HttpProblem, problemResponse } from "./problem.js";

type Serve = (request: Request, env?: unknown) => Response | Promise<Response>;

/** @param operator the actor in the audit trail. */
export function createInspectorSession(operator: string) {
  const digest = createDigest();
  const matches = (given: string | null | undefined, expected: Buffer | undefined) =>
    expected !== undefined && given != null && timingSafeEqual(digest(given), expected);
  const newSecret = () => randomBytes(32).toString("base64url");
  const token = newSecret();
  let unused: Buffer | undefined = digest(token);
  let session: { readonly cookie: Buffer; readonly token: Buffer } | undefined;
  // Reads no body: any program on this machine may send one.
  const exchange = (request: Request): Response => {
    if (!isFromPage(request))
      return problemResponse(new HttpProblem("FORBIDDEN", "This comes from another site."));
    if (!matches(bearerTokenOf(request), unused)) {
      const detail =
        "This token is unknown or was used already: start `npx @mnemograph/server inspect` again.";
      return problemResponse(new HttpProblem("UNAUTHENTICATED", detail));
    }
    unused = undefined;
    const [cookie, pageToken] = [newSecret(), newSecret()];
    session = { cookie: digest(cookie), token: digest(pageToken) };
    const set = `${cookieName(request)}=${cookie}; HttpOnly; SameSite=Strict; Path=/`;
    return Response.json(
      { token: pageToken },
      { headers: { "set-cookie": set, "cache-control": "no-store" } },
    );
  };
  return {
    /** Opens the page once. Goes into the address's fragment, which browsers send to no server. */
    token,
    // Browsers send the cookie to servers at other ports too; only this page has the token.
    authenticate: (request: Request): OperatorCaller | null =>
      matches(cookieOf(request), session?.cookie) && matches(bearerTokenOf(request), session?.token)
        ? { role: "operator", actor: operator }
        : null,
    /**
     * Adds `POST /inspector/session` to `serve`: it exchanges the token for a cookie and the page's
     * token, once.
     */
    before:
      (serve: Serve): Serve =>
      (request, env) => {
        const isExchange =
          request.method === "POST" && new URL(request.url).pathname === "/inspector/session";
        return isExchange ? exchange(request) : serve(request, env);
      },
  };
}

/** A name for each port, so that two inspectors do not overwrite each other's. */
const cookieName = (request: Request): string =>
  `mnemograph-inspector-${new URL(request.url).port || "80"}`;

function cookieOf(request: Request): string | undefined {
  const name = cookieName(request);
  return parse(request.headers.get("cookie") ?? "", name)[name];
}
