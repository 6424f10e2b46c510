import type { Scope } from "mnemograph";
import { defined, explainIssue, nonBlank } from "mnemograph/contract";
import { type Document, isMap, LineCounter, type ParsedNode, parseDocument } from "yaml";
import { z } from "zod";

// The file of cases: what is in it, and where it is wrong.

/** A recording of a large suite has some thousand answers. */
const maxBytes = 4_000_000;
const maxCases = 1_000;
const maxAliases = 200;
/** Of a thread. */
export const maxMessages = 10_000;

const texts = z
  .union(
    [nonBlank.transform((one) => [one]), z.array(nonBlank).min(1)],
    "must be a text or a list of texts: put quotes around a number",
  )
  .optional();
const moment = z
  .union(
    [z.iso.datetime({ offset: true }), z.iso.date()],
    "must be a day, as 2026-03-02, or a time with its zone, as 2026-03-02T10:00:00Z",
  )
  .transform((given) => new Date(given));

const message = z
  .strictObject({
    user: nonBlank.optional(),
    assistant: nonBlank.optional(),
    tool: nonBlank.optional(),
    at: moment.optional(),
  })
  .refine(
    ({ at: _, ...said }) => Object.keys(said).length === 1,
    "must have one of `user`, `assistant` and `tool`, with what was said",
  );

const thread = z.strictObject({
  /** @default its place in the list, from 1 */
  id: nonBlank.optional(),
  /** When its first message was said; each message may have a later time of its own. */
  at: moment.optional(),
  messages: z.array(message).min(1).max(maxMessages),
  /** Ends the conversation, so that an app notes it. */
  end: z.boolean().default(false),
});

const expectedWords = {
  found: texts,
  notFound: texts,
  shown: texts,
  notShown: texts,
  believed: texts,
  notBelieved: texts,
};

export type ExpectationName = keyof typeof expectedWords;

const expected = z
  .strictObject(expectedWords)
  .refine(
    (given) => Object.keys(given).length > 0,
    `names nothing: add words under one of ${Object.keys(expectedWords).join(", ")}`,
  );

/** Answers of the model of background work, by task, in the order of its calls. */
const answers = z.record(z.string(), z.array(z.unknown()));

export type Answers = z.output<typeof answers>;

export const recordings = z.record(z.string(), answers);

/** As `createMemory` takes them: settings, or a file with them. */
const config = z.union([nonBlank, z.record(z.string(), z.unknown())]).optional();

const oneCase = z.strictObject({
  name: nonBlank,
  /** @default those of the file */
  config,
  /** The owner of the memory. @default user: "user" */
  tenant: nonBlank.optional(),
  user: nonBlank.optional(),
  app: nonBlank.optional(),
  timeZone: nonBlank.optional(),
  /** What is known before the first message. */
  memories: z
    .array(z.looseObject({ text: nonBlank }))
    .max(1_000)
    .default([]),
  threads: z.array(thread).max(1_000).default([]),
  answers: answers.optional(),
  question: nonBlank,
  /** When it is asked. @default after the last message */
  at: moment.optional(),
  /** Where it is asked. @default a new thread */
  thread: nonBlank.optional(),
  agent: nonBlank.optional(),
  expect: expected,
});

const checkedCase = oneCase.superRefine(({ threads, thread: asked, at }, context) => {
  const refuse = (place: string, message: string) =>
    context.addIssue({ code: "custom", path: [place], message });
  const ids = threads.map(threadIdOf);
  if (asked !== undefined && !ids.includes(asked))
    refuse("thread", `is no thread of this case: ${ids.join(", ") || "it has none"}`);
  const begun = threads.flatMap((thread) => [thread, ...thread.messages]);
  const times = [...begun, { at }].flatMap((said) => said.at ?? []);
  const early = times.find((time, place) => time < (times[place - 1] ?? time));
  if (early) refuse("threads", `goes back to ${early.toISOString()}: order messages by time`);
});

const caseFile = z.strictObject({
  /** For the cases without settings of their own. */
  config,
  cases: z
    .array(checkedCase)
    .min(1)
    .max(maxCases)
    .superRefine((cases, context) => {
      const names = cases.map(({ name }) => name);
      const place = names.findIndex((name, at) => names.indexOf(name) < at);
      const issue = { path: [place, "name"], message: "is taken by a case above" };
      if (place >= 0) context.addIssue({ code: "custom", ...issue });
    }),
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
  const lines = new LineCounter();
  const lineAt = (offset = 0) => Math.max(1, lines.linePos(offset).line);
  const problem = (says: string, offset?: number) => ({ line: lineAt(offset), says });
  if (given.length > maxBytes)
    return { problems: [problem(`the file has more than ${maxBytes} characters. Split it.`)] };
  const options = { lineCounter: lines, prettyErrors: false, merge: true };
  const document = parseDocument(given, options);
  const faults = document.errors.map(({ code, message, pos }) =>
    problem(code === "MULTIPLE_DOCS" ? severalDocuments : message, pos[0]),
  );
  if (faults.length > 0) return { problems: faults };
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: maxAliases });
  } catch (error) {
    return { problems: [problem((error as Error).message)] };
  }
  const read = caseFile.safeParse(value, { error: explainIssue });
  if (read.success) {
    const cases = read.data.cases.map((each, at) => {
      return { ...each, line: lineAt(offsetOf(document, ["cases", at])) };
    });
    return { ...read.data, cases };
  }
  const found = read.error.issues.map((issue) => {
    const { path, message } = issue;
    const unknown = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
    const says = path.length === 0 ? message : `${z.core.toDotPath(path)}: ${message}`;
    return problem(says, offsetOf(document, [...path, ...unknown]));
  });
  return { problems: found.toSorted((one, other) => one.line - other.line) };
}

const severalDocuments = 'another document begins here: put its cases under the first "cases:"';

/** Of the deepest part of `path` that is in the file; of a key, if it has one. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  if (path.length === 0) return 0;
  const [above, name] = [path.slice(0, -1), path.at(-1)];
  const parent = document.getIn(above, true);
  const pair = isMap(parent) && parent.items.find(({ key }) => String(key) === name);
  const node = Object(pair ? pair.key : document.getIn(path, true)) as Partial<ParsedNode>;
  return node.range?.[0] ?? offsetOf(document, above);
}

export const threadIdOf = ({ id }: { readonly id?: string | undefined }, place: number): string =>
  id ?? String(place + 1);

export function scopeOf({ tenant: tenantId, user: userId, app: appId }: Case): Scope {
  return defined({ tenantId, userId: userId ?? (appId === undefined ? "user" : undefined), appId });
}
