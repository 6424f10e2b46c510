import { z } from "zod";
import { consentStatuses } from "../../memories/guard/consent-request.rule.js";
import { cursorAfter, flag, page, several } from "../answers/fields.js";
import { consentPage, consentRequest } from "../answers/memory-answers.js";
import { route } from "../route/route.js";

/** What waits for the user's decision. */
export const consentRoutes = {
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
    ...{ method: "post", path: "/consents/:id/decision", reach: "scope", versioned: true },
    params: z.strictObject({ id: z.string() }),
    summary: "Approve a request, which writes the memory, refuse it, or be asked about it later",
    body: z.strictObject({
      decision: z.enum(["approve", "refuse", "later"]),
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
};
