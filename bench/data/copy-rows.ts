import type pg from "pg";

const chunkRows = 10_000;

/** The part of pg's connection that sends what COPY reads. */
interface CopyConnection {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** Loads `rows` into `table`, "name (columns)", by COPY. */
export async function copyRows(
  pool: pg.Pool,
  table: string,
  rows: readonly (readonly string[])[],
): Promise<void> {
  const client = await pool.connect();
  try {
    await new Promise<void>((resolve, reject) => {
      const copy = {
        submit: (connection: CopyConnection) => connection.query(`copy ${table} from stdin`),
        handleCopyInResponse(connection: CopyConnection) {
          for (let start = 0; start < rows.length; start += chunkRows) {
            const lines = rows.slice(start, start + chunkRows).map((row) => `${row.join("\t")}\n`);
            connection.sendCopyFromChunk(Buffer.from(lines.join("")));
          }
          connection.endCopyFrom();
        },
        handleCommandComplete: () => {},
        handleReadyForQuery: () => resolve(),
        handleError: reject,
      };
      client.query(copy as unknown as pg.Submittable);
    });
  } finally {
    client.release();
  }
}
