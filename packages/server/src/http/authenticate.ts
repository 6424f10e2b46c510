import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { MemoryError } from "mnemograph/contract";
import { type Caller, parseCaller } from "../operations/caller.js";

/** Finds the caller of a request; null for an unknown one. */
export type Authenticate = (request: Request) => Caller | null | Promise<Caller | null>;

export function bearerTokenOf(request: Request): string | null {
  return (
    /^Bearer +([\w\-.~+/]+=*) *$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? null
  );
}

/** Digests of equal length, for comparison in constant time. */
export function createDigest(): (text: string) => Buffer {
  const key = randomBytes(32);
  return (text) => createHmac("sha256", key).update(text).digest();
}

/** Shorter tokens can be guessed. */
const minSecretCharacters = 16;

/**
 * Authenticates by fixed bearer tokens, compared in constant time: see `createMemoryApp`.
 * @param callers by token; tokens of at least 16 characters, such as `openssl rand -hex 32` makes.
 * @throws MemoryError `INVALID_INPUT` for a short token or an invalid caller; `SCOPE_REQUIRED`
 */
export function bearerTokens(callers: Readonly<Record<string, Caller>>): Authenticate {
  const digest = createDigest();
  const entries = Object.entries(callers).map(([token, caller]) => {
    if (token.length >= minSecretCharacters)
      return { digest: digest(token), caller: parseCaller(caller) };
    throw new MemoryError(
      "INVALID_INPUT",
      `A bearer token has fewer than ${minSecretCharacters} characters: make one with \`openssl rand -hex 32\`, and check that its environment variable is set.`,
    );
  });
  return (request) => {
    const given = digest(bearerTokenOf(request) ?? "");
    // `filter` compares every token, so that timing reveals nothing.
    return entries.filter((entry) => timingSafeEqual(entry.digest, given))[0]?.caller ?? null;
  };
}

/** Passed by `@hono/node-server`. */
type NodeBindings = { incoming?: { socket?: { localAddress?: string; remoteAddress?: string } } };

const loopbackAddress = /^(127(\.\d{1,3}){3}|::1|::ffff:127(\.\d{1,3}){3})$/;
const loopbackHost = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

const forwarded = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"];

/** Whether it comes from this machine and no proxy. The check of the host stops DNS rebinding. */
export function isLocal(request: Request, bindings: unknown): boolean {
  const { localAddress = "", remoteAddress = "" } =
    (bindings as NodeBindings | undefined)?.incoming?.socket ?? {};
  if (!loopbackAddress.test(localAddress) || !loopbackAddress.test(remoteAddress)) return false;
  // Node's server puts its own name in the place of an empty one.
  if (request.headers.get("host") === "") return false;
  if (forwarded.some((name) => request.headers.has(name))) return false;
  return loopbackHost.test(new URL(request.url).hostname) && isFromPage(request);
}

/**
 * False for requests of other sites. Browsers set these headers; programs set none, and hold no
 * cookies.
 */
export function isFromPage(request: Request): boolean {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") return false;
  const origin = request.headers.get("origin");
  return (
    origin === null || (URL.canParse(origin) && new URL(origin).host === new URL(request.url).host)
  );
}
