import { z } from "zod";
import { consentStatuses } from "../../memories/guard/consent-request.rule.js";
import { cursorAfter, flag, page, several } from "../answers/fields.js";
import { consentPage, consentRequest } from "../answers/memory-answers.js";
import { route } from "../route/route.js";

const params = z.strictObject({ id: z.string() });
const decision = z.enum(["approve", "refuse"]);

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
    summary: "Approve a request, which writes the memory, or refuse it",
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
  acknowledgeConsent: route({
    ...{ method: "post", path: "/consents/:id/acknowledgement", reach: "scope", params },
    summary: "Decide a request by what its user wrote in a thread",
    body: z.strictObject({ decision, threadId: z.string(), quote: z.string() }),
    answer: consentRequest,
    call: ({ memory, whose, params, body }) => memory.consents.acknowledge({ ...whose, ...params, ...body }),
  }),
  postponeConsents: route({
    ...{ method: "post", path: "/consents/postpone", reach: "scope" },
    summary: "Let requests rest: nobody is asked about them for a while",
    body: z.strictObject({ ids: z.array(z.string()).min(1).max(1_000) }),
    answer: z.null(),
    status: 204,
    async call({ memory, whose, body }) {
      await memory.consents.postpone({ ...whose, ...body });
      return null;
    },
  }),
};
