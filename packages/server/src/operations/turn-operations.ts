import type { Memory } from "mnemograph";
import {
  answerForms,
  MemoryError,
  memoryFilterSchema,
  minTrustField,
  reportSearch,
} from "mnemograph/contract";
import { z } from "zod";
import {
  anyObject,
  asOf,
  described,
  each,
  flag,
  givenTexts,
  maxGiven,
  memoryKind,
  moment,
  number,
  optionalText,
  text,
} from "./fields.js";
import { operation } from "./operation.js";
import {
  explanation,
  queryAnswer,
  recallAnswer,
  recallOf,
  recordAnswer,
  rememberAnswer,
  transcriptAnswer,
} from "./turn-answers.js";

const chatInput = z
  .looseObject({
    role: text,
    content: z.union([text, z.array(z.unknown())]),
    id: optionalText,
  })
  .register(described, {
    type: "object",
    required: ["role", "content"],
    properties: {
      id: { type: "string", description: "A message is recorded once by its id." },
      role: { type: "string" },
      content: {},
    },
    additionalProperties: true,
  });

const turn = {
  threadId: text,
  messages: z.array(chatInput).max(10_000),
  ...each(optionalText, "agentId", "runId", "timeZone"),
  saidAt: moment.optional(),
};

const noFilters = "no filters as memory_query has them";
const filters = z
  .unknown()
  .refine((value) => value === null || memoryFilterSchema.safeParse(value).success, noFilters)
  .register(described, {
    type: "object",
    additionalProperties: true,
    description: "As the tool memory_query has them.",
  })
  .transform((value) => value as z.input<typeof memoryFilterSchema> | null);

type QueryHits = z.output<typeof queryAnswer>["hits"];

export const turnOperations = {
  recall: operation("post", "/recall", "scope", {
    does: "What memory knows at the start of a turn",
    input: {
      threadId: text,
      ...each(optionalText, "query", "agent", "timeZone"),
      messageIds: givenTexts.optional(),
      mode: z.enum(["active", "passive"]).optional(),
      minTrust: minTrustField,
    },
    answer: recallAnswer,
    call: async ({ memory, target }, input) =>
      recallOf(await memory.recall({ ...target, ...input })),
  }),
  remember: operation("post", "/remember", "scope", {
    does: "End a turn: record its messages, and start what is due",
    input: { ...turn, shown: anyObject.optional() },
    answer: rememberAnswer,
    async call({ memory, target }, input) {
      const turn = { ...target, ...input } as Parameters<Memory["remember"]>[0];
      const { summary, ...recorded } = await memory.remember(turn);
      const { started } = summary;
      return { ...recorded, summary: started ? { started } : { started, reason: summary.reason } };
    },
  }),
  record: operation("post", "/record", "scope", {
    does: "Append messages to a thread's transcript, and nothing else",
    input: turn,
    answer: recordAnswer,
    call: ({ memory, target }, input) =>
      memory.record({ ...target, ...input } as Parameters<Memory["record"]>[0]),
  }),
  query: operation("post", "/query", "scope", {
    does: "The memories that fit a question, best first; with `explain`, why, and what is omitted",
    input: {
      query: text,
      ...each(text.nullish(), "threadId", "agent", "timeZone"),
      filters: filters.optional(),
      categories: givenTexts.nullish(),
      kinds: z.array(memoryKind).max(maxGiven).nullish(),
      minTrust: minTrustField,
      ...each(number.nullish(), "topK", "top_k", "threshold", "budgetTokens", "budget_tokens"),
      return: z.enum(answerForms).nullish(),
      explain: flag.optional(),
      asOf: asOf.nullish(),
    },
    answer: z.union([queryAnswer, explanation]),
    async call({ memory, target }, { return: form, explain, asOf, ...query }) {
      if (explain && form)
        throw new MemoryError("INVALID_INPUT", "`return` does not go with `explain`.");
      if (explain) return memory.query({ ...target, ...query, explain, asOf: asOf ?? undefined });
      // Without a form too: then the hits are whole memories.
      const request = { ...target, ...query, return: form as NonNullable<typeof form> };
      // What was shown of the past is no use of what is known today.
      if (asOf) {
        const past = await memory.query({ ...request, asOf });
        return { ...past, hits: past.hits as QueryHits };
      }
      const hits = (await memory.query(request)) as QueryHits;
      const shown = hits.flatMap((hit) => {
        const id = "memory" in hit ? hit.memory.id : hit.id;
        return id === undefined ? [] : { id, similarity: hit.similarity };
      });
      await reportSearch(memory, { scope: target.scope, agentId: query.agent ?? undefined }, shown);
      return { hits };
    },
  }),
  searchTranscript: operation("post", "/transcript/search", "listed", {
    does: "What was said that fits a question, word for word, best first; for operators also of everybody",
    input: {
      query: text,
      ...each(optionalText, "threadId", "timeZone"),
      ...each(number.optional(), "topK", "threshold"),
    },
    answer: transcriptAnswer,
    call: async ({ memory, target }, input) => ({
      hits: await memory.transcript.search({ ...target, ...input }),
    }),
  }),
  writeProcedure: operation("post", "/procedures", "scope", {
    does: "Write down the steps by which a conversation reached its result",
    input: {
      threadId: text,
      ...each(optionalText, "title", "agentId", "runId"),
      tags: givenTexts.optional(),
      pinned: flag.optional(),
      ...each(number.optional(), "importance", "fromSeq", "toSeq"),
    },
    answer: z.strictObject({ procedure: anyObject.nullable() }),
    async call({ memory, target, actor }, input) {
      const procedure = await memory.procedures.write({ ...target, ...input, actor });
      return { procedure: procedure && { ...procedure } };
    },
  }),
};
