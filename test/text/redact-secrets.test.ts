import { describe, expect, it } from "vitest";
import { redactSecrets } from "../../src/text/redact-secrets.js";
import { findEverywhere } from "../support/find-everywhere.js";
import { useTestDatabase } from "../support/test-database.js";
import { newAddress } from "../support/thread-facts.js";

const db = useTestDatabase();

/** Characters that look random and are the same each time. No real key is written here. */
function random(
  length: number,
  of = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
) {
  let state = length;
  return Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return of[state % of.length];
  }).join("");
}
const hex = (length: number) => random(length, "0123456789abcdef");
const capitals = (length: number) => random(length, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567");
const pem = (kind: string) =>
  `-----BEGIN ${kind}-----\n${random(64)}\n${random(60)}\n-----END ${kind}-----`;

/** A text, and the part of it that must go. */
const secrets: readonly (readonly [name: string, secret: string, text?: string])[] = [
  ["AWS access key", `AKIA${capitals(16)}`],
  ["AWS secret key by its randomness", random(40)],
  ["GitHub token", `ghp_${random(36)}`],
  ["fine-grained GitHub token", `github_pat_${random(22)}_${random(59)}`],
  ["GitLab token", `glpat-${random(20)}`],
  ["OpenAI key", `sk-proj-${random(48)}`],
  ["Anthropic key", `sk-ant-api03-${random(80)}`],
  ["Stripe key", `sk_live_${random(24)}`],
  ["Slack token", `xoxb-${random(11, "0123456789")}-${random(24)}`],
  ["Google key", `AIza${random(35)}`],
  ["SendGrid key", `SG.${random(22)}.${random(43)}`],
  ["npm token", `npm_${random(36)}`],
  ["Hugging Face token", `hf_${random(34)}`],
  ["Databricks token", `dapi${hex(32)}`],
  ["Telegram token", `${random(9, "123456789")}:${random(35)}`],
  ["JSON Web Token", `eyJ${random(30)}.eyJ${random(40)}.${random(43)}`],
  ["bearer token", random(32), `Authorization: Bearer ${random(32)}`],
  ["private key", pem("RSA PRIVATE KEY")],
  ["OpenSSH key", pem("OPENSSH PRIVATE KEY")],
  [
    "private key that is cut off",
    "MIIEpAIBAAKCAQEA",
    "-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA...",
  ],
  ["password in a URL", "tr0ub@dour", "postgresql://ana:tr0ub@dour@db.example:5432/shop"],
  ["password of libpq", "hunter2", "host=db.example user=ana password=hunter2 dbname=shop"],
  ["password in JSON", "correct-horse-7", '{"user": "ana", "password": "correct-horse-7"}'],
  ["environment variable", `${hex(32)}`, `MAIL_API_KEY=${hex(32)}`],
  ["password in a sentence", "Sommer#2024x", "Mein WLAN-Passwort: Sommer#2024x"],
  [
    "Slack webhook",
    `T0AB/B0CD/${random(24)}`,
    `https://hooks.slack.com/services/T0AB/B0CD/${random(24)}`,
  ],
  ["Visa", "4242 4242 4242 4242", "Pay with 4242 4242 4242 4242, 12/28, 123."],
  ["American Express", "378282246310005"],
  ["Mastercard", "5555-5555-5555-4444"],
  ["IBAN", "DE89 3704 0044 0532 0130 00"],
  ["social security number", "078-05-1120"],
];

const innocents = [
  "The user's daughter Mia was born on 2019-05-17 at 08:30.",
  "Call +49 30 123456-78 or 555-0199, extension 4711.",
  "The order 4242424242424241 shipped on Monday.",
  "ISBN 978-3-16-148410-0, IMEI 352099001761481, EAN 4006381333931.",
  `Commit ${hex(40)} fixed it; the digest is sha256:${hex(64)}.`,
  "The run 6f1c2e9a-0b3d-4c5e-8f7a-1b2c3d4e5f60 failed.",
  "See https://docs.example.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit.",
  "The class is sk-fading-circle-container, the variable npm_config_ignore_scripts_always.",
  '<link integrity="sha384-IMqVj9dNAdCwD9lqO9yH+Y7H5HRC3b+QH6QaU1ExdTRzVXp77" id="#project1Modal">',
  "The model Qwen2-VL-72B-Instruct-AWQ-Int4 runs on gpt-4o-mini-2024-07-18 prompts.",
  "Call getUserByIdForTenantWithOptions2 in src/components/UserProfileCard2/index.tsx.",
  "The password must have 12 characters; a token: string, password: required.",
  'const token = await getToken("api"); password=os.environ["DB"]',
  "Set NODE_ENV=production, PORT=3000 and TZ=Europe/Berlin.",
  "Basic troubleshooting and bearer responsibilities were discussed.",
  "The part 123-456-7890 and the account DE00 1234 5678 9012 3456 78 are wrong.",
  `![logo](data:image/png;base64,${random(120)})`,
  "Ana's e-mail address is ana@example.org; the meeting link is https://zoom.example/j/123456.",
  "Donaudampfschifffahrtsgesellschaftskapitän und Rindfleischetikettierungsgesetz2024.",
];

describe("the ready redaction of secrets", () => {
  it.each(secrets)("Redaction takes out: %s", (_, secret, text = `It is ${secret}, keep it.`) => {
    const redacted = redactSecrets(text);
    expect(redacted).not.toContain(secret);
    expect(redacted).toContain("[redacted]");
    expect(redactSecrets(redacted)).toBe(redacted);
  });

  it("The option takes a key out of messages, memories and items in every table", async () => {
    const key = `ghp_${random(36)}`;
    const memory = db.memory({ redact: "secrets" });
    await memory.setup();
    const thread = newAddress();
    const messages = [{ role: "user" as const, content: `My token is ${key}.` }];
    await memory.remember({ ...thread, messages });
    await memory.memories.add({ text: `The token is ${key}.` }, { scope: thread.scope });
    await memory.store({ scope: thread.scope }).put(["notes"], "token", { text: [key] });
    expect(await findEverywhere(db, key)).toEqual({});
    expect(Object.keys(await findEverywhere(db, "[redacted]")).length).toBeGreaterThan(2);
  });

  it("Any other name in the place of the function is refused", () =>
    expect(() => db.memory({ redact: "passwords" as "secrets" })).toThrow(
      'must be a function or "secrets"',
    ));

  it.each(innocents)("Redaction leaves what is no secret: %s", (text) =>
    expect(redactSecrets(text)).toBe(text),
  );
});
