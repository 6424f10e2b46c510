import { z } from "zod";
import { consentStatuses } from "../../memories/guard/consent-request.rule.js";
import { cursorAfter, flag, page, several } from "../answers/fields.js";
import { consentPage, consentRequest, memoryItem, memoryPage } from "../answers/memory-answers.js";
import { notThere } from "../route/caller.js";
import { route } from "../route/route.js";

const params = z.strictObject({ id: z.string() });
const because = z.strictObject({ reason: z.string().optional() });
const decision = z.enum(["approve", "refuse", "later"]);

/** What waits for a decision: of users about their own data, and of operators. */
export const governanceRoutes = {
  listConsents: route({
    ...{ method: "get", path: "/consents", reach: "listed" },
    summary: "Requests for the user's consent, newest first",
    query: z.strictObject({
      ...{
        status: several(z.enum(consentStatuses)).optional(),
        rule: z.enum(["consent", "signals"]).optional(),
      },
      ...{ due: flag.optional(), ...page },
    }),
    answer: consentPage,
    async call({ memory, whose, query: { cursor: after, ...listing } }) {
      const consents = await memory.consents.list({ ...whose, ...listing, after });
      return { consents, nextCursor: cursorAfter(consents, listing.limit, ({ id }) => id) };
    },
  }),
  decideConsent: route({
    ...{ method: "post", path: "/consents/:id/decision", reach: "scope", versioned: true, params },
    summary: "Approve a request, which writes the memory; refuse it; or put it off for a day",
    body: z.strictObject({
      decision,
      evidence: z
        .strictObject({
          quote: z.string(),
          message: z.string().optional(),
          threadId: z.string().optional(),
          messageId: z.string().optional(),
        })
        .optional(),
      value: z.string().optional(),
      text: z.string().optional(),
      reason: z.string().optional(),
    }),
    answer: consentRequest,
    call: ({ memory, whose, params, body, actor, match }) =>
      memory.consents.decide({ ...whose, ...params, ...body, ...match, actor, via: "http" }),
  }),
  listQuarantine: route({
    ...{ method: "get", path: "/quarantine", reach: "listed" },
    summary: "Memories that read as instructions to a model, for an operator to decide about",
    query: z.strictObject(page),
    answer: memoryPage,
    async call({ memory, caller, whose, query: { limit, cursor: after } }) {
      if (caller.role !== "operator") throw notThere();
      const memories = await memory.quarantine.list({ ...whose, limit, after });
      return { memories, nextCursor: cursorAfter(memories, limit, ({ id }) => id) };
    },
  }),
  approveQuarantined: route({
    ...{ method: "post", path: "/quarantine/:id/approve", reach: "scope", versioned: true, params },
    summary: "Make it an ordinary memory, on an operator's word",
    body: because.extend({ consent: z.literal("given").optional() }),
    answer: memoryItem,
    async call({ memory, caller, whose, params: { id }, body, actor, match }) {
      if (caller.role !== "operator") throw notThere();
      return memory.quarantine.approve(id, { ...whose, ...body, ...match, actor });
    },
  }),
  rejectQuarantined: route({
    ...{ method: "post", path: "/quarantine/:id/reject", reach: "scope", versioned: true, params },
    summary: "Delete it; the audit trail keeps what it was",
    body: because,
    answer: z.null(),
    status: 204,
    async call({ memory, caller, whose, params: { id }, body, actor, match }) {
      if (caller.role !== "operator") throw notThere();
      await memory.quarantine.reject(id, { ...whose, ...body, ...match, actor });
      return null;
    },
  }),
};
