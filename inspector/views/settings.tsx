import { ApiProblem } from "../api.js";
import type { Answer } from "../api-types.js";
import { Card, Facts, Page } from "../parts/layout.js";
import { QueryResult, useAnswer } from "../parts/query.js";
import { counted, Tag } from "../parts/texts.js";

/** The settings in use, by group; those that are not the default are marked. */
export function Settings() {
  // They are the server's, whoever is looked at.
  const found = useAnswer("/settings", { owner: {} });
  if (found.error instanceof ApiProblem && found.error.status === 404)
    return <Page title="Settings">Only operators of all tenants see the server's settings.</Page>;
  return (
    <Page title="Settings">
      <QueryResult query={found}>
        {({ preset, groups }) => {
          const changed = groups.flatMap(({ settings }) => settings.filter((each) => each.changed));
          return (
            <>
              <p class="note">
                The preset is <strong>{preset}</strong>; {counted(changed.length, "setting")}{" "}
                changed. A key, a connection, a function or an object of yours is only "given".
              </p>
              {groups.map(({ name: group, settings }) => (
                <Card key={group} title={group}>
                  <Facts rows={settings.map((each) => [each.name, <Value key="" {...each} />])} />
                </Card>
              ))}
            </>
          );
        }}
      </QueryResult>
    </Page>
  );
}

type Setting = Answer<"/settings">["groups"][number]["settings"][number];

function Value({ value, changed, default: initial }: Setting) {
  return (
    <>
      {textOf(value)}{" "}
      {changed && (
        <>
          <Tag of="changed" tone="waiting" />{" "}
        </>
      )}
      <span class="faint">{changed ? `default: ${textOf(initial)}` : "default"}</span>
    </>
  );
}

function textOf(value: unknown): string {
  if (value === null) return "none";
  if (typeof value === "number") return value.toLocaleString("en");
  return typeof value === "string" ? value : JSON.stringify(value);
}
