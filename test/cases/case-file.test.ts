import { expect, it } from "vitest";
import { readCases } from "../../packages/server/src/cases/case-file.js";

const problems = (yaml: string) => {
  const read = readCases(yaml);
  return "problems" in read ? read.problems.map(({ line, says }) => `${line}: ${says}`) : [];
};

it("Names the line of each mistake, and what to do", () => {
  const found = problems(`cases:
  - name: first
    threads:
      - messages:
          - user: Hello.
            assistant: Hi.
          - users: Hello.
    question: " "
    at: 2 March
    expect: { found: [] }
  - name: second
    question: Who?
    expect: {}
`);
  expect(found).toEqual([
    "5: cases[0].threads[0].messages[0]: must have one of `user`, `assistant` and `tool`, with what was said",
    '7: cases[0].threads[0].messages[1]: unknown key "users" (did you mean "user"?)',
    "7: cases[0].threads[0].messages[1]: must have one of `user`, `assistant` and `tool`, with what was said",
    "8: cases[0].question: must not be blank",
    "9: cases[0].at: must be a day, as 2026-03-02, or a time with its zone, as 2026-03-02T10:00:00Z",
    expect.stringMatching(/^10: cases\[0\].expect.found: /),
    "13: cases[1].expect: names nothing: add words under one of found, notFound, shown, notShown, believed, notBelieved",
  ]);
});

it("Sees names that are taken, threads that are missing and times that go back", () => {
  const one = `
    threads:
      - { at: 2026-03-02, messages: [{ user: Hello. }] }
      - { at: 2026-03-01, messages: [{ user: Hello. }] }
    question: Who?
    expect: { found: Ana }`;
  expect(problems(`cases:\n  - name: a${one}\n    thread: x`)).toEqual([
    "3: cases[0].threads: goes back to 2026-03-01T00:00:00.000Z: order messages by time",
    "8: cases[0].thread: is no thread of this case: 1, 2",
  ]);
  const other = "  - { name: a, question: Who?, expect: { found: Ana } }";
  expect(problems(`cases:\n${other}\n${other}`)).toEqual([
    "3: cases[1].name: is taken by a case above",
  ]);
});

it("Refuses what is no YAML, is too large, or grows by its aliases", () => {
  expect(problems("cases: [\n  {")[0]).toMatch(/^\d: /);
  const one = "cases: [{ name: a, question: Who?, expect: { believed: 3 } }]";
  expect(problems(one)).toEqual([
    "1: cases[0].expect.believed: must be a text or a list of texts: put quotes around a number",
  ]);
  expect(problems(`${one}\n---\n${one}`)).toEqual([
    '2: another document begins here: put its cases under the first "cases:"',
  ]);
  expect(problems("x".repeat(4_000_001))[0]).toMatch(/Split it\.$/);
  const levels = Array.from({ length: 9 }, (_, at) => {
    const before = at === 0 ? '"lol"' : `*a${at - 1}`;
    return `a${at}: &a${at} [${Array.from({ length: 9 }, () => before).join(", ")}]`;
  });
  expect(problems(levels.join("\n"))[0]).toMatch(/alias/i);
});
