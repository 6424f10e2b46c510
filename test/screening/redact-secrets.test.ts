import { describe, expect, it } from "vitest";
import { redactSecrets } from "../../src/screening/redact-secrets.js";
import { findEverywhere } from "../support/find-everywhere.js";
import { useTestDatabase } from "../support/test-database.js";
import { newAddress } from "../support/thread-facts.js";

const db = useTestDatabase();

/** Characters that look random and are the same each time: no real key stands here. */
function random(kind: string, length: number): string {
  const capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const alphabet = { hex: "0123456789abcdef", figures: "123456789", capitals }[kind];
  const characters = alphabet ?? `${capitals}${capitals.toLowerCase()}0123456789`;
  let state = length;
  return Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return characters[state % characters.length];
  }).join("");
}

/** A text a line; "⏎" is a line break within one, "{hex 32}" stands for random characters. */
const lines = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => line.replaceAll("⏎", "\n"))
    .map((line) => line.replace(/\{(\w+) (\d+)\}/g, (_, kind, size) => random(kind, Number(size))));

/** What has to go is between "«" and "»". */
const secrets = lines(`
AWS knows me by «AKIA{capitals 16}», keep it.
The other half is «{any 40}».
«ghp_{any 36}»
My token for GitHub: «github_pat_{any 22}_{any 59}»
«glpat-{any 20}»
OpenAI: «sk-proj-{any 48}»
«sk-ant-api03-{any 80}»
«sk_live_{any 24}»
«xoxb-{figures 11}-{any 24}»
«AIza{any 35}»
«SG.{any 22}.{any 43}»
Use «npm_{any 36}» or «hf_{any 34}».
«dapi{hex 32}»
The bot is «{figures 9}:{any 35}».
«eyJ{any 30}.eyJ{any 40}.{any 43}»
Authorization: Bearer «{any 32}»
«-----BEGIN RSA PRIVATE KEY-----⏎{any 64}⏎{any 60}⏎-----END RSA PRIVATE KEY-----»
«-----BEGIN OPENSSH PRIVATE KEY-----⏎{any 64}⏎-----END OPENSSH PRIVATE KEY-----» is mine.
«-----BEGIN PRIVATE KEY-----⏎MIIEpAIBAAKCAQEA...»
postgresql://ana:«tr0ub@dour»@db.example:5432/shop
host=db.example user=ana password=«hunter2» dbname=shop
{"user": "ana", "password": "«correct-horse-7»"}
MAIL_API_KEY=«{hex 32}»
Mein WLAN-Passwort: «Sommer#2024x»
https://hooks.slack.com/services/«T0AB/B0CD/{any 24}»
Pay with «4242 4242 4242 4242», 12/28, 123.
Or with «378282246310005» or «5555-5555-5555-4444».
My account is «DE89 3704 0044 0532 0130 00».
SSN: «078-05-1120»
`);

const innocents = lines(`
The user's daughter Mia was born on 2019-05-17 at 08:30.
Call +49 30 123456-78 or 555-0199, extension 4711.
The order 4242424242424241 shipped on Monday.
ISBN 978-3-16-148410-0, IMEI 352099001761481, EAN 4006381333931.
Commit {hex 40} fixed it; the digest is sha256:{hex 64}.
The run 6f1c2e9a-0b3d-4c5e-8f7a-1b2c3d4e5f60 failed.
See https://docs.example.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit.
The class is sk-fading-circle-container, the variable npm_config_ignore_scripts_always.
<link integrity="sha384-IMqVj9dNAdCwD9lqO9yH+Y7H5HRC3b+QH6QaU1ExdTRzVXp77" id="#project1Modal">
The model Qwen2-VL-72B-Instruct-AWQ-Int4 runs on gpt-4o-mini-2024-07-18 prompts.
Call getUserByIdForTenantWithOptions2 in src/components/UserProfileCard2/index.tsx.
The password must have 12 characters; a token: string, password: required.
const token = await getToken("api"); password=os.environ["DB"]
Set NODE_ENV=production, PORT=3000 and TZ=Europe/Berlin.
Basic troubleshooting and bearer responsibilities were discussed.
The part 123-456-7890 and the account DE00 1234 5678 9012 3456 78 are wrong.
![logo](data:image/png;base64,{any 120})
Ana's e-mail address is ana@example.org; the meeting link is https://zoom.example/j/123456.
Donaudampfschifffahrtsgesellschaftskapitän und Rindfleischetikettierungsgesetz2024.
`);

describe("the ready redaction of secrets", () => {
  it.each(secrets)("Redaction takes out what is marked, once and no more: %s", (marked) => {
    const redacted = redactSecrets(marked.replace(/[«»]/g, ""));
    expect(redacted).toBe(marked.replace(/«[^»]*»/g, "[redacted]"));
    expect(redactSecrets(redacted)).toBe(redacted);
  });

  it.each(innocents)("Redaction leaves what is no secret: %s", (text) =>
    expect(redactSecrets(text)).toBe(text),
  );

  it("The option takes a key out of messages, memories and items in every table", async () => {
    const key = `ghp_${random("any", 36)}`;
    const memory = db.memory({ redact: "secrets" });
    await memory.setup();
    const thread = newAddress();
    const messages = [{ role: "user" as const, content: `My token is ${key}.` }];
    await memory.remember({ ...thread, messages });
    await memory.memories.add({ scope: thread.scope, memories: { text: `The token is ${key}.` } });
    await memory.store({ scope: thread.scope }).put(["notes"], "token", { text: [key] });
    expect(await findEverywhere(db, key)).toEqual({});
    expect(Object.keys(await findEverywhere(db, "[redacted]")).length).toBeGreaterThan(2);
  });

  it("Any other name in the place of the function is refused", () =>
    expect(() => db.memory({ redact: "passwords" as "secrets" })).toThrow(
      'must be a function or "secrets"',
    ));
});
