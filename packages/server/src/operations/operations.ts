import { appOperations } from "./app-operations.js";
import { erasureOperations } from "./erasure-operations.js";
import { consentOperations, memoryOperations } from "./memory-operations.js";
import type { Operation } from "./operation.js";
import { serviceOperations } from "./service-operations.js";
import { threadOperations } from "./thread-operations.js";
import { transferOperations } from "./transfer-operations.js";
import { turnOperations } from "./turn-operations.js";

/** The source of routes, OpenAPI, `mnemograph call` and the tools of the Model Context Protocol. */
export const operations = {
  ...turnOperations,
  ...memoryOperations,
  ...appOperations,
  ...threadOperations,
  ...consentOperations,
  ...serviceOperations,
  ...transferOperations,
  ...erasureOperations,
};

export type OperationName = keyof typeof operations;

export const operationList = Object.entries(operations) as unknown as readonly (readonly [
  OperationName,
  Operation,
])[];
