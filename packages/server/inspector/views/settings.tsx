import { Card, Facts, Page } from "../parts/layout.js";
import { QueryResult, useAnswer } from "../parts/query.js";
import { counted, Tag } from "../parts/texts.js";

/** The settings in use, by group; those that are not the default are marked. */
export function Settings() {
  // They are the server's, whoever is looked at.
  const found = useAnswer("/settings", { owner: {} });
  return (
    <Page title="Settings">
      <QueryResult query={found}>
        {({ settings }) => (
          <>
            <p class="note">
              {counted(settings.filter(({ changed }) => changed).length, "setting")} changed. A key,
              a connection, a function or an object of yours is only "given".
            </p>
            {[...Map.groupBy(settings, ({ group }) => group)].map(([group, rows]) => (
              <Card title={group}>
                <Facts
                  rows={rows.map(({ name, value, changed, default: initial }) => [
                    name,
                    <>
                      {textOf(value)} {changed && <Tag of="changed" tone="waiting" />}{" "}
                      <span class="faint">default{changed && `: ${textOf(initial)}`}</span>
                    </>,
                  ])}
                />
              </Card>
            ))}
          </>
        )}
      </QueryResult>
    </Page>
  );
}

const textOf = (value: unknown): string =>
  value === null || typeof value === "string" ? (value ?? "none") : JSON.stringify(value);
