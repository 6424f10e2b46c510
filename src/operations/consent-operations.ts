import { z } from "zod";
import { consentStatuses } from "../memories/guard/consent-request.rule.js";
import { each, page, pageFrom, pageOf } from "./fields.js";
import { consentRequest, evidence } from "./memory-answers.js";
import { operation } from "./operation.js";

export const consentOperations = {
  listConsents: operation("get", "/consents", "listed", {
    does: "Requests for the user's consent, newest first",
    input: z.strictObject({
      ...{ status: z.array(z.enum(consentStatuses)).optional(), due: z.boolean().optional() },
      ...{ rule: z.enum(["consent", "signals"]).optional(), ...page },
    }),
    answer: pageOf("consents", consentRequest),
    call: ({ memory, whose }, { cursor: after, ...listing }) =>
      pageFrom(
        "consents",
        listing.limit,
        memory.consents.list({ ...whose, ...listing, after }),
        ({ id }) => id,
      ),
  }),
  decideConsent: operation("post", "/consents/:id/decision", "scope", {
    does: "Approve a request, which writes the memory, refuse it, or be asked about it later",
    versioned: true,
    input: z.strictObject({
      ...{ id: z.string(), decision: z.enum(["approve", "refuse", "later"]), evidence: evidence.optional() },
      ...each(z.string().optional(), "value", "text", "reason"),
    }),
    answer: consentRequest,
    call: ({ memory, whose, actor, match }, input) =>
      memory.consents.decide({ ...whose, ...input, ...match, actor, via: "http" }),
  }),
};
