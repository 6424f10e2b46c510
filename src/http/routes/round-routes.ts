import { z } from "zod";
import { MemoryError } from "../../errors.js";
import { memoryFilterSchema } from "../../search/memory-filter.rule.js";
import { reportSearch } from "../../way-in.js";
import { anyObject, described, memoryKind, moment } from "../answers/fields.js";
import {
  explanation,
  queryAnswer,
  recallAnswer,
  recallOf,
  recordAnswer,
  rememberAnswer,
  transcriptAnswer,
} from "../answers/round-answers.js";
import { route } from "../route/route.js";

const message = z
  .looseObject({
    role: z.string(),
    content: z.union([z.string(), z.array(z.unknown())]),
    id: z.string().optional(),
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

const round = z.strictObject({
  threadId: z.string(),
  messages: z.array(message).max(10_000),
  agentId: z.string().optional(),
  runId: z.string().optional(),
  saidAt: moment.optional(),
});

const filters = z
  .unknown()
  .refine(
    (value) => value === null || memoryFilterSchema.safeParse(value).success,
    "no filters as memory_query has them",
  )
  .register(described, {
    ...{ type: "object", additionalProperties: true },
    description: "As the tool memory_query has them.",
  })
  .transform((value) => value as z.input<typeof memoryFilterSchema> | null);

/** What is asked of memory. */
const asked = z.strictObject({
  query: z.string(),
  threadId: z.string().nullish(),
  agent: z.string().nullish(),
  categories: z.array(z.string()).nullish(),
  filters: filters.optional(),
  kinds: z.array(memoryKind).nullish(),
  topK: z.number().nullish(),
  top_k: z.number().nullish(),
  threshold: z.number().nullish(),
  budgetTokens: z.number().nullish(),
  budget_tokens: z.number().nullish(),
});

/** The two ends of a round, and what is asked in it. */
export const roundRoutes = {
  recall: route({
    ...{ method: "post", path: "/recall", reach: "scope" },
    summary: "What memory knows at the start of a round",
    body: z.strictObject({
      threadId: z.string(),
      query: z.string().optional(),
      agent: z.string().optional(),
      messageIds: z.array(z.string()).optional(),
      mode: z.enum(["active", "passive"]).optional(),
    }),
    answer: recallAnswer,
    call: async ({ memory, whose, body }) => recallOf(await memory.recall({ ...whose, ...body })),
  }),
  remember: route({
    ...{ method: "post", path: "/remember", reach: "scope" },
    summary: "End a round: record its messages, and start what is due",
    body: round.extend({ shown: anyObject.optional() }),
    answer: rememberAnswer,
    async call({ memory, whose, body }) {
      const { summary, ...recorded } = await memory.remember({ ...whose, ...body } as Parameters<
        typeof memory.remember
      >[0]);
      return {
        ...recorded,
        summary: summary.started ? { started: true } : { started: false, reason: summary.reason },
      };
    },
  }),
  record: route({
    ...{ method: "post", path: "/record", reach: "scope" },
    summary: "Append messages to a thread's transcript, and nothing else",
    body: round,
    answer: recordAnswer,
    call: ({ memory, whose, body }) =>
      memory.record({ ...whose, ...body } as Parameters<typeof memory.record>[0]),
  }),
  query: route({
    ...{ method: "post", path: "/query", reach: "scope" },
    summary: "The memories that fit a question, best first; with `explain`, why, and what is left out",
    body: asked.extend({ return: z.enum(["bullets", "full"]).nullish(), explain: z.boolean().optional() }),
    answer: z.union([queryAnswer, explanation]),
    async call({ memory, whose, body: { return: form, explain, ...query } }) {
      const asked = { ...whose, ...query };
      if (explain && form) throw new MemoryError("INVALID_INPUT", "`return` does not go with `explain`.");
      if (explain) return memory.query({ ...asked, explain });
      const hits = form ? await memory.query({ ...asked, return: form }) : await memory.query(asked);
      const shown = hits.flatMap((hit) => {
        const id = "memory" in hit ? hit.memory.id : hit.id;
        return id === undefined ? [] : { id, similarity: hit.similarity };
      });
      await reportSearch(memory, { scope: whose.scope, agentId: query.agent ?? undefined }, shown);
      return { hits: hits as z.output<typeof queryAnswer>["hits"] };
    },
  }),
  searchTranscript: route({
    ...{ method: "post", path: "/transcript/search", reach: "scope" },
    summary: "What was said that fits a question, word for word",
    body: z.strictObject({
      query: z.string(),
      threadId: z.string().optional(),
      topK: z.number().optional(),
      threshold: z.number().optional(),
    }),
    answer: transcriptAnswer,
    call: async ({ memory, whose, body }) => ({
      hits: await memory.transcript.search({ ...whose, ...body }),
    }),
  }),
  writeProcedure: route({
    ...{ method: "post", path: "/procedures", reach: "scope" },
    summary: "Write down the steps by which a conversation reached its result",
    body: z.strictObject({
      threadId: z.string(),
      title: z.string().optional(),
      agentId: z.string().optional(),
      runId: z.string().optional(),
      tags: z.array(z.string()).optional(),
      importance: z.number().optional(),
      pinned: z.boolean().optional(),
      fromSeq: z.number().optional(),
      toSeq: z.number().optional(),
    }),
    answer: z.strictObject({ procedure: anyObject.nullable() }),
    async call({ memory, whose, body, actor }) {
      const procedure = await memory.procedures.write({ ...whose, ...body, actor });
      return { procedure: procedure && { ...procedure } };
    },
  }),
};
