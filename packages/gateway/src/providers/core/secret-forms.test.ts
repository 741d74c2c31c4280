import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createChannelRecord } from "../../../test/kit/provider-kit.ts";
import { mask, maskError, collectSecrets } from "./mask.ts";
import { upstreamError } from "./errors/upstream-error.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const hex = (text: string) => Buffer.from(text).toString("hex");

/** Ways in which servers repeat a secret. */
const FORMS: Readonly<Record<string, (secret: string) => string>> = {
  plain: (secret) => secret,
  "upper case": (secret) => secret.toUpperCase(),
  "lower case": (secret) => secret.toLowerCase(),
  bearer: (secret) => `Bearer ${secret}`,
  hex,
  "hex in upper case": (secret) => hex(secret).toUpperCase(),
  "hex with colons": (secret) => hex(secret).match(/../g)!.join(":"),
  base64,
  "base64 without padding": (secret) => base64(secret).replace(/=+$/, ""),
  base64url: (secret) => Buffer.from(secret).toString("base64url"),
  "basic as the user": (secret) => `Basic ${base64(`${secret}:`)}`,
  "basic as the password": (secret) => `Basic ${base64(`u:${secret}`)}`,
  "basic of a longer user": (secret) => `Basic ${base64(`user-7:${secret}`)}`,
  "percent escapes": (secret) => encodeURIComponent(secret),
  "percent escapes in lower case": (secret) => encodeURIComponent(secret).toLowerCase(),
  "percent escapes of everything": (secret) => hex(secret).replace(/../g, "%$&"),
  "JSON escapes": (secret) => JSON.stringify(secret),
  "JSON escapes of slashes": (secret) => JSON.stringify(secret).replaceAll("/", "\\/"),
  "base64 in percent escapes": (secret) => encodeURIComponent(base64(secret)),
};

/** Returns the length of the longest part of the secret's form that is still readable. */
function longestLeft(shown: string, form: string): number {
  for (let length = form.length; length > 0; length--)
    for (let at = 0; at + length <= form.length; at++) if (shown.includes(form.slice(at, at + length))) return length;
  return 0;
}

const alphabet = Array.from("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./+=&ü");
const secret = fc.string({ unit: fc.constantFrom(...alphabet), minLength: 16, maxLength: 60 });

describe("an upstream that repeats a secret in another form", () => {
  // @weakness Leaks: An upstream's error repeats a provider's key in capitals, hex, base64 or escapes
  it.each(Object.entries(FORMS))("%s is hidden", (_, form) => {
    fc.assert(
      fc.property(secret, (key) => {
        const message = `refused (${form(key)}) for it`;
        const shown = mask(message, { key, baseUrl: "" });
        expect(shown).toMatch(/^refused \(.*\) for it$/s);
        expect(longestLeft(shown.slice(9, -8), form(key))).toBeLessThan(8);
      }),
      { numRuns: 40 },
    );
  });

  it.each([
    ["a part of a composite key", "AKIDEXAMPLE1|secret/part+0001|us-east-1", "secret/part+0001"],
    ["the second of several keys", "first-key-000001\nsecond-key-00002", "second-key-00002"],
    [
      "the account of a key file",
      JSON.stringify({ type: "service_account", client_email: "gw@demo.iam" }),
      "gw@demo.iam",
    ],
    [
      "a line of a private key",
      JSON.stringify({
        private_key: `-----BEGIN PRIVATE KEY-----\n${"MIIEvQ".repeat(20)}\n-----END PRIVATE KEY-----\n`,
      }),
      "MIIEvQMIIEvQMIIEvQ",
    ],
    ["a member of another key file", JSON.stringify({ client_secret: "hush-hush-0001" }), "hush-hush-0001"],
  ])("%s is hidden in each form", (_, key, part) => {
    for (const [name, form] of Object.entries(FORMS)) {
      const shown = mask(`no: ${form(part)}`, { key, baseUrl: "" });
      expect([name, longestLeft(shown.slice(4), form(part)) < 8]).toEqual([name, true]);
    }
  });

  it("hides what a channel has besides its key: a proxy's password, headers, parameters", () => {
    const channel = createChannelRecord({
      setting: { proxy: "http://user:proxy-pass%2Fword@10.0.0.1:3128" },
      headers: new Map([
        ["x-tenant", "tenant-secret-9"],
        ["authorization", "Bearer {key}"],
      ]),
      paramOverride: { user_api_key: "user-key-000042", temperature: 0.5 },
    });
    const text = "proxy-pass/word, tenant-secret-9, USER-KEY-000042 and key";
    expect(mask(text, collectSecrets(channel, "key"))).toBe("***, ***, *** and ***");
  });

  it("hides secrets in codes and parameters too, and leaves their words", () => {
    const error = upstreamError({
      class: "bad_key",
      message: "no",
      type: "app_error_type",
      code: "bad-key-0000001",
      param: "k",
    });
    const masked = maskError(error, { key: "bad-key-0000001", baseUrl: "" });
    expect(masked).toMatchObject({ message: "no", type: "app_error_type", code: "***", param: "k" });
  });

  it.each([
    "The private key of the service account cannot be read.",
    "Invalid base64 in authorization header",
    "basic authentication failed",
  ])("everyday words stay: %s", (message) => {
    const key = JSON.stringify({
      private_key: "-----BEGIN PRIVATE KEY-----\nMIIEvQ0123456789\n-----END PRIVATE KEY-----\n",
    });
    expect(mask(message, { key, baseUrl: "" })).toBe(message);
  });
});
