import { type Params, scopeQuery } from "./place.js";

/** What the API said in place of an answer. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, detail: string) {
    super(detail);
    this.status = status;
    this.code = code;
  }

  /** Whether the server or its database does not answer now, and may later. */
  get isDown(): boolean {
    return this.status === 0 || [502, 503, 504].includes(this.status);
  }

  /** Whether this server has no such call, or is not set up for it. */
  get isMissing(): boolean {
    return (
      this.status === 501 || (this.status === 404 && this.message === "There is no such path.")
    );
  }
}

/** A call of the API. */
export interface Call {
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  /** Whose memory; only what says so is sent. */
  readonly whose?: Params;
  readonly query?: Readonly<
    Record<string, string | number | boolean | readonly string[] | undefined>
  >;
  readonly body?: unknown;
  /** The revision that is changed. */
  readonly revision?: number;
  readonly signal?: AbortSignal;
}

/** Where the API is: the page stands in a folder of it. */
const base = new URL("../", document.baseURI);

const tokenKey = "mnemograph-token";

/** Keeps a bearer token until the tab is closed. */
export function keepToken(token: string): void {
  sessionStorage.setItem(tokenKey, token);
}

/** The address of a call. */
function addressOf(
  path: string,
  { whose = {}, query = {} }: Pick<Call, "whose" | "query"> = {},
): URL {
  const url = new URL(path.replace(/^\//, ""), base);
  for (const [name, value] of Object.entries({ ...scopeQuery(whose), ...query })) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== "") url.searchParams.append(name, String(each));
    }
  }
  return url;
}

/** A path with ids in it, each as one part of it. */
export function path(parts: TemplateStringsArray, ...ids: readonly (string | number)[]): string {
  return String.raw({ raw: parts }, ...ids.map((id) => encodeURIComponent(id)));
}

/** The answer to a call. @throws ApiProblem */
export async function send(to: string, call: Call = {}): Promise<Response> {
  const { method = "GET", body, revision, signal } = call;
  // A session's token serves all tabs: without the session's cookie it is worth nothing.
  const token = sessionStorage.getItem(tokenKey) ?? localStorage.getItem(tokenKey);
  const answered = fetch(addressOf(to, call), {
    ...{ method, credentials: "same-origin", cache: "no-store", redirect: "error" },
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(revision !== undefined && { "if-match": `"${revision}"` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  const response = await answered.catch((error: Error) => {
    if (error.name === "AbortError") throw error;
    throw new ApiProblem(0, "UNREACHABLE", "The server does not answer. Is it still running?");
  });
  if (response.ok) return response;
  // The session has ended: a login of another kind may be asked for at this address.
  if (response.status === 401) localStorage.removeItem(tokenKey);
  const problem = (await response.json().catch(() => ({}))) as Partial<
    Record<"detail" | "title" | "code", string>
  >;
  const detail = problem.detail ?? problem.title ?? `The server answered ${response.status}.`;
  throw new ApiProblem(response.status, problem.code ?? "UNKNOWN", detail);
}

/** The JSON that a call answers. @throws ApiProblem */
export async function ask<Answer>(to: string, call: Call = {}): Promise<Answer> {
  return (await (await send(to, call)).json()) as Answer;
}

/** The same; null for what does not exist. */
export async function askOrNull<Answer>(to: string, call: Call = {}): Promise<Answer | null> {
  return ask<Answer>(to, call).catch((error: unknown) => {
    if (error instanceof ApiProblem && error.status === 404) return null;
    throw error;
  });
}

/**
 * Exchanges the token that a command printed for a session. Without effect where it is none, or was
 * used.
 */
export async function exchangeToken(printed: string): Promise<void> {
  const response = await fetch("session", {
    ...{
      method: "POST",
      credentials: "same-origin",
      headers: { authorization: `Bearer ${printed}` },
    },
  });
  if (!response.ok) return;
  const { token } = (await response.json()) as { token: string };
  localStorage.setItem(tokenKey, token);
}
