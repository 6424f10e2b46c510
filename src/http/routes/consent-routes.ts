import { z } from "zod";
import { MemoryError } from "../../errors.js";
import { type ConsentRequest, consentStatuses } from "../../memories/guard/consent-request.rule.js";
import type { Memory } from "../../memory.js";
import type { Scope } from "../../scope/scope.js";
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
    async call({ memory, whose, params, body: { decision, ...how }, actor, match }) {
      if (decision === "later") return postpone(memory, whose.scope, params.id);
      return memory.consents.decide({ ...whose, ...params, ...how, ...match, decision, actor, via: "http" });
    },
  }),
};

/** Nobody is asked about it for a while. */
async function postpone(memory: Memory, scope: Scope, id: string): Promise<ConsentRequest> {
  await memory.consents.postpone({ scope, ids: [id] });
  const waiting = await memory.consents.list({ scope, limit: 1_000 });
  const found = waiting.find((each) => each.id === id);
  if (found) return found;
  throw new MemoryError("NOT_FOUND", `There is no request ${id} that waits for you here.`);
}
