import { bigint, integer, jsonb, type Time, text, timestamp, uuid } from "../../postgres/columns.js";
import type { MemorySource } from "../item/memory.js";
import type { ConsentRule } from "./consent-policy.js";
import type { ConsentEvidence, ConsentSignal, ConsentStatus, ConsentVia } from "./consent-request.js";

/** The memory that a request would become, as JSON: a `MemoryDraft` whose times are text. */
export interface StoredDraft {
  readonly text: string;
  readonly value?: string | undefined;
  readonly source?: MemorySource | undefined;
}

/** The columns of `consent_request` but its refs: what is inserted, read, exported and imported is made of them. */
export const consentColumns = {
  id: uuid("id"),
  tenantId: text("tenant_id"),
  userId: text("user_id"),
  appId: text("app_id"),
  rule: text<ConsentRule>("rule"),
  category: text("category"),
  key: text<string | null>("key"),
  /** What it is about: the slot, or the statement itself where there is none. */
  slot: text("slot"),
  /** What makes two proposals for a slot the same. */
  normalValue: text("normal_value"),
  contentHash: text("content_hash"),
  draft: jsonb<StoredDraft>("draft"),
  status: text<ConsentStatus>("status"),
  seenCount: integer("seen_count"),
  signals: jsonb<readonly ConsentSignal[]>("signals"),
  proposedBy: text("proposed_by"),
  memoryId: uuid<string | null>("memory_id"),
  createdAt: timestamp("created_at"),
  expiresAt: timestamp("expires_at"),
  askAt: timestamp("ask_at"),
  decidedAt: timestamp<Time | null>("decided_at"),
  decidedBy: text<string | null>("decided_by"),
  decidedVia: text<ConsentVia | null>("decided_via"),
  evidence: jsonb<ConsentEvidence | null>("evidence"),
  revision: bigint("revision"),
};
