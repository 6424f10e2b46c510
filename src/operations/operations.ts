import { appOperations } from "./app-operations.js";
import { consentOperations } from "./consent-operations.js";
import { memoryOperations } from "./memory-operations.js";
import type { Operation } from "./operation.js";
import { serviceOperations } from "./service-operations.js";
import { threadOperations } from "./thread-operations.js";
import { transferOperations } from "./transfer-operations.js";
import { turnOperations } from "./turn-operations.js";

/**
 * Every operation by its name. Routes, their description, `mnemograph call` and tools of the Model Context Protocol are made
 * from these.
 */
export const operations = {
  ...turnOperations,
  ...memoryOperations,
  ...appOperations,
  ...threadOperations,
  ...consentOperations,
  ...serviceOperations,
  ...transferOperations,
};

/** The name of an operation. */
export type OperationName = keyof typeof operations;

/** The same, for programs that go through all of them. */
export const operationList = Object.entries(operations) as unknown as readonly (readonly [
  OperationName,
  Operation,
])[];
