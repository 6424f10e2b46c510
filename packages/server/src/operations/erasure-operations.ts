import { erasureKinds, erasureReceipt } from "mnemograph/contract";
import { z } from "zod";
import {
  counts,
  each,
  flag,
  listOf,
  nullableText,
  nullableTime,
  number,
  page,
  pageFrom,
  pageOf,
  scope,
  text,
  time,
} from "./fields.js";
import { operation } from "./operation.js";

const erasure = z.strictObject({
  ...each(text, "id", "actor"),
  tenantId: nullableText,
  kind: z.enum(erasureKinds),
  before: counts,
  after: counts.nullable(),
  beganAt: time,
  endedAt: nullableTime,
  hasDigest: flag,
});

const forgetRequest = z.strictObject({
  scope,
  actor: nullableText,
  ...each(time, "at", "purgeAt"),
  ...each(number, "memories", "waiting", "restored", "purged"),
});

export const erasureOperations = {
  listErasures: operation("get", "/erasures", "listed", {
    does: "What was erased, without names, latest first; a named user or app asks for its own erasures",
    operators: true,
    input: page,
    answer: pageOf("erasures", erasure),
    call: ({ memory, target }, input) =>
      pageFrom("erasures", input, memory.erasures.list({ ...target, ...input }), ({ id }) => id),
  }),
  erasureReceipt: operation("get", "/erasures/:id/receipt", "tenant", {
    does: "Proof of an erasure: what was there, what is left now, signed if the server has a key",
    operators: true,
    input: { id: text },
    answer: erasureReceipt,
    call: ({ memory, target }, input) => memory.erasures.receipt({ ...target, ...input }),
  }),
  listForgetRequests: operation("get", "/forget-requests", "listed", {
    does: "What users asked to forget, latest first, without their words",
    operators: true,
    input: { limit: page.limit },
    answer: listOf("requests", forgetRequest),
    call: async ({ memory, target }, input) => ({
      requests: await memory.erasures.requests({ ...target, ...input }),
    }),
  }),
};
