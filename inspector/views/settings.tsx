import { ApiProblem } from "../api.js";
import type { SettingGroup } from "../api-types.js";
import { Card, Page } from "../parts/layout.js";
import { QueryResult, useAnswer } from "../parts/query.js";
import { counted, Tag } from "../parts/texts.js";

/** The settings in use, by group; those that are not the default are marked. */
export function Settings() {
  // They are the server's, whoever is looked at.
  const found = useAnswer("/settings", { owner: {} });
  if (found.error instanceof ApiProblem && found.error.status === 404) {
    return (
      <Page title="Settings" isNarrow>
        <p class="note">Only operators of all tenants see the server's settings.</p>
      </Page>
    );
  }
  return (
    <Page title="Settings">
      <QueryResult query={found}>
        {({ preset, groups }) => (
          <>
            <p class="note">
              The preset is <strong>{preset}</strong>; {counted(changesOf(groups), "setting")}{" "}
              changed. A key, a connection, a function or an object of yours is only "given".
            </p>
            {groups.map((group) => (
              <Group key={group.name} {...group} />
            ))}
          </>
        )}
      </QueryResult>
    </Page>
  );
}

const changesOf = (groups: readonly SettingGroup[]) =>
  groups.flatMap(({ settings }) => settings.filter(({ changed }) => changed)).length;

function Group({ name: group, settings }: SettingGroup) {
  if (settings.length === 0) return null;
  return (
    <Card title={<code>{group}</code>} label={group}>
      <dl class="facts">
        {settings.map(({ name, value, changed, default: initial }) => (
          <div key={name}>
            <dt>
              <code>{name}</code>
            </dt>
            <dd>
              <Value of={value} />{" "}
              {changed ? (
                <>
                  <Tag of="changed" tone="waiting" />{" "}
                  <span class="faint">
                    default: <Value of={initial} />
                  </span>
                </>
              ) : (
                <span class="faint">default</span>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

function Value({ of: value }: { of: unknown }) {
  if (value === null) return <>none</>;
  if (typeof value === "number") return <>{value.toLocaleString("en")}</>;
  return <code>{typeof value === "string" ? value : JSON.stringify(value)}</code>;
}
