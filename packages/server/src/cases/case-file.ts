import type { Scope } from "mnemograph";
import { explainIssue } from "mnemograph/contract";
import { isMap, LineCounter, parseDocument } from "yaml";
import { z } from "zod";

// The file of cases: what is in it, and where it is wrong.

/** A recording of a large suite has some thousand answers. */
const maxBytes = 4_000_000;
const maxCases = 1_000;
const maxAliases = 200;
/** Of a thread. */
export const maxMessages = 10_000;

const text = z.string().refine((given) => given.trim() !== "", "must not be blank");
const texts = z.union([text.transform((one) => [one]), z.array(text).min(1)]).optional();
const moment = z
  .union(
    [z.iso.datetime({ offset: true }), z.iso.date()],
    "must be a day, as 2026-03-02, or a time with its zone, as 2026-03-02T10:00:00Z",
  )
  .transform((given) => new Date(given));

const message = z
  .strictObject({
    ...{ user: text.optional(), assistant: text.optional(), tool: text.optional() },
    at: moment.optional(),
  })
  .refine(
    ({ user, assistant, tool }) =>
      [user, assistant, tool].filter((said) => said !== undefined).length === 1,
    "must have one of `user`, `assistant` and `tool`, with what was said",
  );

const thread = z.strictObject({
  /** @default its place in the list, from 1 */
  id: text.optional(),
  /** When its first message was said; each message may have a later time of its own. */
  at: moment.optional(),
  messages: z.array(message).min(1).max(maxMessages),
  /** Ends the conversation, so that an app notes it. */
  end: z.boolean().default(false),
});

/** What is expected, and how a table says it. */
export const expectations = {
  found: { of: "toFind", isWanted: true },
  notFound: { of: "toFind", isWanted: false },
  shown: { of: "toShow", isWanted: true },
  notShown: { of: "toShow", isWanted: false },
  believed: { of: "toBelieve", isWanted: true },
  notBelieved: { of: "toBelieve", isWanted: false },
} as const;

export type ExpectationName = keyof typeof expectations;

export const expectationNames = Object.keys(expectations) as ExpectationName[];

const expected = z
  .strictObject(
    Object.fromEntries(expectationNames.map((name) => [name, texts])) as Record<
      ExpectationName,
      typeof texts
    >,
  )
  .refine(
    (given) => Object.values(given).some((words) => words !== undefined),
    `names nothing: add words under one of ${expectationNames.join(", ")}`,
  );

/** Answers of the model of background work, by task, in the order of its calls. */
const answers = z.record(z.string(), z.array(z.unknown()));

export type Answers = z.output<typeof answers>;

export const recordings = z.record(z.string(), answers);

/** As `createMemory` takes them: settings, or a file with them. */
const config = z.union([text, z.record(z.string(), z.unknown())]).optional();

const oneCase = z.strictObject({
  name: text,
  /** @default those of the file */
  config,
  /** The owner of the memory. @default user: "user" */
  ...{ tenant: text.optional(), user: text.optional(), app: text.optional() },
  timeZone: text.optional(),
  /** What is known before the first message. */
  memories: z.array(z.looseObject({ text })).max(1_000).default([]),
  threads: z.array(thread).max(1_000).default([]),
  answers: answers.optional(),
  question: text,
  /** When it is asked. @default after the last message */
  at: moment.optional(),
  /** Where it is asked. @default a new thread */
  thread: text.optional(),
  agent: text.optional(),
  expect: expected,
});

const checkedCase = oneCase.superRefine(({ threads, thread: asked, at }, context) => {
  const ids = threads.map(threadIdOf);
  if (asked !== undefined && !ids.includes(asked)) {
    const message = `is no thread of this case: ${ids.join(", ") || "it has none"}`;
    context.addIssue({ code: "custom", path: ["thread"], message });
  }
  const begun = threads.flatMap(({ at: first, messages }) => [
    first,
    ...messages.map((said) => said.at),
  ]);
  const times = [...begun, at].filter((time) => time !== undefined);
  const early = times.find((time, place) => time < (times[place - 1] ?? time));
  if (early) {
    const message = `goes back to ${early.toISOString()}: order messages by time`;
    context.addIssue({ code: "custom", path: ["threads"], message });
  }
});

const caseFile = z
  .strictObject({
    /** For the cases without settings of their own. */
    config,
    cases: z.array(checkedCase).min(1).max(maxCases),
  })
  .superRefine(({ cases }, context) => {
    const names = cases.map(({ name }) => name);
    const place = names.findIndex((name, at) => names.indexOf(name) < at);
    const path = ["cases", place, "name"];
    if (place >= 0) context.addIssue({ code: "custom", path, message: "is taken by a case above" });
  });

export type Case = z.output<typeof oneCase> & { readonly line: number };

export interface CaseFile extends Omit<z.output<typeof caseFile>, "cases"> {
  readonly cases: readonly Case[];
}

export interface Problem {
  readonly line: number;
  readonly says: string;
}

/** The cases of a file, or what is wrong with it, line by line. */
export function readCases(given: string): CaseFile | { readonly problems: readonly Problem[] } {
  if (given.length > maxBytes) {
    const says = `the file has more than ${maxBytes} characters. Split it.`;
    return { problems: [{ line: 1, says }] };
  }
  const lines = new LineCounter();
  const document = parseDocument(given, {
    lineCounter: lines,
    prettyErrors: false,
    merge: true,
  });
  const lineAt = (offset: number) => lines.linePos(offset).line;
  if (document.errors.length > 0) {
    const broken = document.errors.map(({ message: says, pos: [offset] }) => ({
      line: lineAt(offset),
      says,
    }));
    return { problems: broken };
  }
  /** The line of the deepest part of `path` that is in the file; of a key, if it has one. */
  const lineOf = (path: readonly PropertyKey[]): number => {
    for (let length = path.length; length > 0; length--) {
      const parent = document.getIn(path.slice(0, length - 1), true);
      const pair =
        isMap(parent) && parent.items.find(({ key }) => String(key) === path[length - 1]);
      const node = pair ? pair.key : document.getIn(path.slice(0, length), true);
      const { range } = Object(node) as { readonly range?: readonly number[] };
      if (range?.[0] !== undefined) return lineAt(range[0]);
    }
    return 1;
  };
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: maxAliases });
  } catch (error) {
    return { problems: [{ line: 1, says: (error as Error).message }] };
  }
  const read = caseFile.safeParse(value, { error: explainIssue });
  if (!read.success) {
    const found = read.error.issues.map((issue) => {
      const { path, message } = issue;
      const unknown = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
      const says = path.length === 0 ? message : `${z.core.toDotPath(path)}: ${message}`;
      return { line: lineOf([...path, ...unknown]), says };
    });
    return { problems: found.toSorted((one, other) => one.line - other.line) };
  }
  const cases = read.data.cases.map((each, at) => ({ ...each, line: lineOf(["cases", at]) }));
  return { ...read.data, cases };
}

export const threadIdOf = ({ id }: { readonly id?: string | undefined }, place: number): string =>
  id ?? String(place + 1);

export function scopeOf({ tenant: tenantId, user: userId, app: appId }: Case): Scope {
  const ids = { tenantId, userId: userId ?? (appId === undefined ? "user" : undefined), appId };
  return Object.fromEntries(Object.entries(ids).filter(([, id]) => id !== undefined));
}
