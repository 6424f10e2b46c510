/**
 * What the text of a statement shows of the rules of docs/scaling.md for Citus. A pattern and no
 * parser: an alarm may be false, and then stands in listed-statements.json with its reason.
 */

/** Text between a pair of parentheses, or all of a statement; each group within is "(#n)". */
interface Group {
  readonly text: string;
  readonly groups: readonly Group[];
}

interface Rule {
  readonly name: string;
  readonly breaks: (statement: Statement) => boolean;
}

interface Statement {
  /** All of it, with each group in its place. */
  readonly text: string;
  readonly top: Group;
  /** All groups, the outermost first. */
  readonly groups: readonly Group[];
  /** Those that insert, update or delete. */
  readonly writing: readonly Group[];
}

/**
 * `text` without comments, names of schemas, values of literals and numbers of parameters: alike
 * are then the same.
 */
export function normalStatement(text: string): string {
  return text
    .replace(/--[^\n]*|\bE'(?:[^'\\]|''|\\.)*'|'(?:[^']|'')*'/gi, (part) => {
      if (part.startsWith("--")) return "";
      return /^'[\w ]*'$/.test(part) ? part : "'…'";
    })
    .replace(/(?:"[^"]+"|\btest_\w+)\.(?=\w)/g, "@s.")
    .replace(/\$\d+/g, "$")
    .replace(/\s+/g, " ")
    .trim()
    .toLowerCase();
}

/** Names of the rules that a normal statement breaks. */
export function brokenRules(text: string): string[] {
  const top = groupOf(text);
  const groups = allGroups(top);
  const statement = {
    text,
    top,
    groups,
    writing: groups.filter((group) => change.test(group.text)),
  };
  const broken = rules.filter(({ breaks }) => breaks(statement)).map(({ name }) => name);
  return [
    ...broken,
    ...readAndInserted(statement).map((table) => `reads-what-it-inserts: ${table}`),
  ];
}

const change = /^(?:with .*[ )])?(insert into|update|delete from) @s\.(.*)$/;

/**
 * Functions of the library's that PostgreSQL calls stable: a coordinator evaluates them, where it
 * can.
 */
const stable = /\bnow\(|clock_timestamp|current_timestamp|pg_current_xact_id/;

/** Those that a write may call before, in a CTE of their own. `threads_elsewhere` is the library's. */
const volatile =
  /\b(?:gen_random_uuid|random|nextval|clock_timestamp|set_config)\(|@s\.threads_elsewhere\(/;

const rules: readonly Rule[] = [
  { name: "one-statement", breaks: ({ text }) => /;\s*\S/.test(text) },
  { name: "no-set-config", breaks: ({ text }) => text.includes("set_config(") },
  { name: "no-transaction-id", breaks: ({ text }) => text.includes("pg_current_xact_id") },
  {
    name: "do-update-is-plain",
    breaks: ({ writing }) =>
      writing.some((group) => {
        const [, clause = ""] = / do update (.*?)(?: returning |$)/.exec(group.text) ?? [];
        const whole = filled(clause, group);
        return stable.test(whole) || /\bselect\b/.test(whole) || hasSumWithColumn(whole);
      }),
  },
  {
    name: "returning-is-plain",
    breaks: ({ writing }) =>
      writing.some((group) => {
        const [, clause = ""] = / returning (.*)$/.exec(group.text) ?? [];
        const whole = filled(clause, group);
        return stable.test(whole) || (/insert into/.test(group.text) && /\bselect\b/.test(whole));
      }),
  },
  {
    name: "no-time-in-case",
    breaks: ({ writing }) =>
      writing.some((group) => {
        const whole = updating(group);
        return /\bcase\b(?:(?!\bend\b).)*\bnow\(|\bcoalesce\([^()]*(?:\([^()]*\)[^()]*)*\bnow\(/.test(
          whole,
        );
      }),
  },
  {
    name: "no-interval-with-column",
    breaks: ({ writing }) => writing.some((group) => hasSumWithColumn(updating(group))),
  },
  {
    name: "no-subquery-in-values",
    breaks: ({ writing }) =>
      writing.some((group) => {
        const [, values = ""] = /\binsert into .* values (.*)$/.exec(group.text) ?? [];
        return /\bselect\b/.test(filled(values, group));
      }),
  },
  {
    name: "no-insert-above-writes",
    breaks: ({ top, writing }) =>
      /^with .*\binsert into @s\./.test(top.text) && writing.some((group) => group !== top),
  },
  {
    name: "no-volatile-in-write",
    breaks: ({ writing }) =>
      writing.some((group) => {
        const [, verb, rest = ""] = change.exec(group.text) ?? [];
        return verb !== "insert into" && volatile.test(filled(rest, group));
      }),
  },
  {
    // Where it is false, Citus runs nothing of an update or a delete with such a part.
    name: "no-parameter-as-condition",
    breaks: ({ top, writing }) =>
      change.test(top.text) &&
      writing.some(
        (group) => group !== top && /\b(?:where|and) (?:not )?\$::boolean\b/.test(updating(group)),
      ),
  },
  {
    // A shard's rows have a type of their own.
    name: "no-row-argument",
    breaks: ({ text }) =>
      [...text.matchAll(/\b(?:from|join) @s\.\w+ (?:as )?(\w+)/g)].some(([, alias]) =>
        new RegExp(`@s\\.\\w+\\((?:[^()]*, ?)?${alias}(?:\\)|,)`).test(text),
      ),
  },
  {
    name: "no-subquery-inserted",
    breaks: ({ writing }) =>
      writing.some((group) => {
        const [, list = ""] =
          /^insert into .*?\) select (.*?)(?: (?:from|where) .*)?$/.exec(group.text) ?? [];
        return /\b(?:from|join) @s\.\w+\b(?!\()/.test(filled(list, group));
      }),
  },
  {
    name: "no-lock-beside-function",
    breaks: ({ groups, writing }) =>
      writing.length > 0 &&
      groups.some(
        ({ text }) => / for (?:no key )?(?:share|update)\b/.test(text) && ofFunction.test(text),
      ),
  },
  {
    // What a part returns is kept for the other parts, with these columns.
    name: "no-function-without-columns",
    breaks: ({ top, writing }) =>
      writing.length > 0 &&
      [...top.text.matchAll(/\bas (?:materialized )?\(#(\d+)\)/g)].some(([, n]) =>
        /^select from @s\.\w+\(/.test(top.groups[Number(n)]?.text ?? ""),
      ),
  },
  {
    name: "no-outer-lateral",
    breaks: ({ text, writing }) =>
      writing.length > 0 && /left join lateral \([^)]*? from @s\./.test(text),
  },
];

/** The `set` and the conditions of an update or a delete, without queries that they read from. */
function updating(group: Group): string {
  const [, verb, rest = ""] = change.exec(group.text) ?? [];
  return verb === "update" || verb === "delete from" ? filled(rest, group, true) : "";
}

/**
 * Whether an interval is added to something with a column: that depends on the time zone, and so is
 * no constant.
 */
function hasSumWithColumn(text: string): boolean {
  return [...text.matchAll(sum)].some(([whole]) => column.test(whole));
}

/** A function among what a query reads. */
const ofFunction = /\b(?:from|join) (?:@s\.)?\w+\(/;

const column =
  /(?<![@\w.:])(?!(?:now|interval|case|when|then|else|end)\b)[a-z_]+(?:\.\w+)?(?![\w('])/;

/**
 * Tables that a part reads and another one inserts into. Parts are run one after another, each
 * seeing what those before it did. One that comes before is safe where it is materialized, and so
 * run in its place; one that comes after, where it reads up to `last_seq`, which the statement
 * found before.
 */
function readAndInserted({ top }: Statement): string[] {
  if (!top.text.startsWith("with ")) return [];
  const found = [...top.text.matchAll(/\bas (materialized )?\(#(\d+)\)/g)];
  const parts = found.map(([, kept, n]) => {
    return { isKept: kept !== undefined, groups: allGroups(top.groups[Number(n)] as Group) };
  });
  const last = found.at(-1);
  const rest = top.text.slice((last?.index ?? 0) + (last?.[0].length ?? 0));
  const inRest = [...rest.matchAll(/\(#(\d+)\)/g)].flatMap(([, n]) =>
    allGroups(top.groups[Number(n)] as Group),
  );
  const all = [...parts, { isKept: false, groups: [{ text: rest, groups: [] }, ...inRest] }];
  return all.flatMap(({ groups }, at) =>
    tablesIn(groups, /\binsert into @s\.(\w+)/g).filter((table) => {
      const reads = new RegExp(
        `(?<!delete )\\b(?:from|join|using) @s\\.${table}\\b(?!.* <= \\w+\\.last_seq\\b)`,
      );
      return all.some(
        (other, n) =>
          n !== at &&
          (n > at || !other.isKept) &&
          other.groups.some(({ text }) => reads.test(text)),
      );
    }),
  );
}

function tablesIn(groups: readonly Group[], named: RegExp): string[] {
  return groups.flatMap(({ text }) => [...text.matchAll(named)].map(([, table = ""]) => table));
}

/** A sum or difference of times with an interval. */
const sum = /[\w.$:()]+ [+-] [\w.$:* ()]*interval '/g;

function groupOf(text: string): Group {
  const open: { text: string; groups: Group[] }[] = [{ text: "", groups: [] }];
  for (const part of text.split(/([()])/)) {
    const last = open.at(-1) as { text: string; groups: Group[] };
    if (part === "(") open.push({ text: "", groups: [] });
    else if (part === ")" && open.length > 1) {
      open.pop();
      const around = open.at(-1) as { text: string; groups: Group[] };
      around.text += `(#${around.groups.length})`;
      around.groups.push({ text: last.text.trim(), groups: last.groups });
    } else last.text += part;
  }
  return open[0] as Group;
}

function allGroups(group: Group): Group[] {
  return [group, ...group.groups.flatMap(allGroups)];
}

/**
 * `text`, a part of a group's, with the groups in it; where `plain`, without those that are
 * queries.
 */
function filled(text: string, group: Group, plain = false): string {
  return text.replace(/\(#(\d+)\)/g, (_, n: string) => {
    const inner = group.groups[Number(n)] as Group;
    if (plain && /^(?:select|with)\b/.test(inner.text)) return "()";
    return `(${filled(inner.text, inner, plain)})`;
  });
}
