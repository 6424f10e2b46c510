import type { Connection } from "../database/connection.js";
import type { Database } from "../database/database.js";

/** `db`, with what goes over the wire counted; a transaction's begin and commit are two. */
export function countRoundTrips(db: Database): { readonly db: Database; readonly roundTrips: () => number } {
  let roundTrips = 0;
  const counted = (connection: Connection): Pick<Connection, "query"> => ({
    query: (statement, options) => {
      roundTrips++;
      return connection.query(statement, options);
    },
  });
  return {
    roundTrips: () => roundTrips,
    db: {
      ...db,
      ...counted(db),
      transaction(work) {
        roundTrips += 2;
        return db.transaction((tx) => work({ ...tx, ...counted(tx) }));
      },
    },
  };
}
