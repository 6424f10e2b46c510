import type { Answer, Method, Path } from "./api-types.js";
import type { Params } from "./place.js";

/** An error that the API answered. */
export class ApiProblem extends Error {
  readonly status: number;

  constructor(status: number, detail: string) {
    super(detail);
    this.status = status;
  }

  /** Whether the server or its database does not answer now, and may later. */
  get isDown(): boolean {
    return [0, 502, 503, 504].includes(this.status);
  }
}

/** A call of the API. */
export interface Call<By extends Method = Method> {
  /** @default "get" */
  readonly method?: By;
  /** Ids in the path, by their names there. */
  readonly ids?: Params;
  /** The user and the app whose memory it is about. */
  readonly owner?: Params;
  readonly query?: Readonly<
    Record<string, string | number | boolean | readonly string[] | undefined>
  >;
  readonly body?: unknown;
  /** The revision that is changed. */
  readonly revision?: number;
  readonly signal?: AbortSignal;
}

/** Where the API is: the page is in a folder of it. */
const base = new URL("../", document.baseURI);

const tokenKey = "mnemograph-token";

/** Keeps a bearer token until the tab is closed. */
export function keepToken(token: string): void {
  sessionStorage.setItem(tokenKey, token);
}

/** The address of a call. */
function addressOf(path: Path, { ids = {}, owner = {}, query = {} }: Call): URL {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(ids[name] ?? ""));
  const url = new URL(filled.slice(1), base);
  for (const [name, value] of Object.entries({ ...owner, ...query })) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== "") url.searchParams.append(name, String(each));
    }
  }
  return url;
}

/** The response to a call. @throws ApiProblem */
export async function send(path: Path, call: Call = {}): Promise<Response> {
  const { method = "get", body, revision, signal = null } = call;
  // A session's token serves all tabs: without the session's cookie it is worth nothing.
  const token = sessionStorage.getItem(tokenKey) ?? localStorage.getItem(tokenKey);
  const headers = new Headers({ "content-type": "application/json" });
  if (token) headers.set("authorization", `Bearer ${token}`);
  if (revision !== undefined) headers.set("if-match", `"${revision}"`);
  const answered = fetch(addressOf(path, call), {
    method: method.toUpperCase(),
    redirect: "error",
    headers,
    body: JSON.stringify(body),
    signal,
  });
  const response = await answered.catch((error: Error) => {
    if (error.name === "AbortError") throw error;
    throw new ApiProblem(0, "The server does not answer. Is it still running?");
  });
  if (response.ok) return response;
  // The session has ended: a login of another kind may be asked for at this address.
  if (response.status === 401) localStorage.removeItem(tokenKey);
  // A proxy may answer something else.
  const problem = (await response.json().catch(() => ({}))) as { readonly detail?: string };
  throw new ApiProblem(
    response.status,
    problem.detail ?? `The server answered ${response.status}.`,
  );
}

/** The JSON that a call answers. @throws ApiProblem */
export async function ask<To extends Path, By extends Method = "get">(
  path: To,
  call: Call<By> = {},
): Promise<Answer<To, By>> {
  return (await (await send(path, call)).json()) as Answer<To, By>;
}

/** Null where the API answers that something does not exist. */
export async function orNull<Value>(answer: Promise<Value>): Promise<Value | null> {
  return answer.catch((error: unknown) => {
    if (error instanceof ApiProblem && error.status === 404) return null;
    throw error;
  });
}

/** Exchanges the token that a command printed for a session, unless it is invalid or used. */
export async function exchangeToken(printed: string): Promise<void> {
  const response = await fetch("session", {
    method: "POST",
    headers: { authorization: `Bearer ${printed}` },
  });
  if (!response.ok) return;
  const { token } = (await response.json()) as { token: string };
  localStorage.setItem(tokenKey, token);
}
