import fc from "fast-check";
import { propertyRuns } from "@fairway/testkit/property-runs";
import { parseOptions, type FixedTags, type TagPolicy } from "@fairway/wire";
import { describe, expect, it } from "vitest";
import { AppError } from "../../lib/app-error.ts";
import type { JsonObject } from "../../lib/text/json.ts";
import { resolveOwnTags, resolveTagSettings } from "../../snapshot/tag-policy.ts";
import { readCallTags } from "./read-tags.ts";

interface Given {
  readonly fixed?: FixedTags;
  readonly token?: TagPolicy;
  readonly team?: TagPolicy;
  readonly operator?: TagPolicy;
  readonly mapped?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
}

const ANY: TagPolicy = { keys: { app: {}, env: {} } };

function read({ fixed, token, team, operator = {}, mapped = {}, headers = {}, body = {} }: Given) {
  const options = parseOptions([
    { key: "TagPolicy", value: JSON.stringify(operator) },
    { key: "TagHeaders", value: JSON.stringify(mapped) },
  ]);
  const own = resolveOwnTags(fixed, token, team);
  return readCallTags({ headers, body, caller: { tags: own }, settings: resolveTagSettings(options) });
}

const readText = (given: Given) => read(given)?.text ?? "";
const readUser = (given: Given) => read(given)?.endUser ?? "";

function findCode(given: Given): readonly [string | undefined, string | undefined] {
  try {
    read(given);
  } catch (error) {
    if (error instanceof AppError) return [error.code, error.param];
    throw error;
  }
  return [undefined, undefined];
}

describe("the order of the places in which a tag is found", () => {
  /** In this order; each place alone, and each pair, shows which one decides. */
  const PLACES: readonly (readonly [value: string, add: (given: Given) => Given])[] = [
    ["fixed", (given) => ({ ...given, fixed: { app: "fixed" } })],
    ["header", (given) => ({ ...given, headers: { ...given.headers, "x-fairway-tags": "app=header" } })],
    ["metadata", (given) => ({ ...given, body: { metadata: { app: "metadata" } } })],
    ["mapped", (given) => ({ ...given, headers: { ...given.headers, "helicone-property-app": "mapped, second" } })],
    ["default", (given) => ({ ...given, operator: { keys: { app: { default: "default" } } } })],
  ];
  const base: Given = { operator: ANY, mapped: { "Helicone-Property-App": "app" } };

  it("is fixed tags, header, metadata, mapped header, default", () => {
    for (const [at, [first, add]] of PLACES.entries()) {
      expect(readText(add(base))).toBe(`app=${first}`);
      for (const [, addOther] of PLACES.slice(at + 1)) expect(readText(addOther(add(base)))).toBe(`app=${first}`);
    }
  });

  it("ignores values of a body or of a mapped header that cannot be tags", () => {
    for (const value of ["", "a|b", "a=b", "a\nb", "\ud800", "x".repeat(65), 1, null, ["a"]] as const)
      expect(readText({ ...base, body: { metadata: { app: value as string } } })).toBe("");
    expect(readText({ ...base, headers: { "helicone-property-app": "a=b" } })).toBe("");
    for (const metadata of [null, [], "app", { constructor: "a" }] as const)
      expect(readText({ operator: { keys: { constructor: {} } }, body: { metadata } as JsonObject })).toBe(
        metadata !== null && typeof metadata === "object" && "constructor" in metadata && !Array.isArray(metadata)
          ? "constructor=a"
          : "",
      );
  });
});

describe("policies", () => {
  it("store nothing without a policy, except fixed tags", () => {
    expect(read({ headers: { "x-fairway-tags": "app=shop" } })).toBeUndefined();
    expect(readText({ fixed: { app: "shop" } })).toBe("app=shop");
    expect(readText({ operator: ANY, headers: { "x-fairway-tags": "other=1, env=prod" } })).toBe("env=prod");
  });

  it("of the token go before those of the team, and these before the operator's, for each key", () => {
    const listed = (...values: string[]): TagPolicy => ({ keys: { app: { values } } });
    const headers = { "x-fairway-tags": "app=shop, env=prod" };
    const all = { token: listed("shop"), team: listed("crm"), operator: { keys: { app: { values: [] }, env: {} } } };
    expect(readText({ ...all, headers })).toBe("app=shop|env=prod");
    expect(readText({ team: all.team, operator: all.operator, headers })).toBe("app=~other|env=prod");
    expect(readText({ operator: all.operator, headers })).toBe("app=~other|env=prod");
  });

  it("refuse other values if they are strict, and calls without a required tag", () => {
    const strict: TagPolicy = { keys: { app: { values: ["shop"], strict: true } } };
    const required: TagPolicy = { keys: { app: { required: true } } };
    expect(findCode({ team: strict, headers: { "x-fairway-tags": "app=crm" } })).toEqual([
      "tag_not_allowed",
      "X-Fairway-Tags",
    ]);
    expect(findCode({ team: strict, fixed: { app: "crm" } })[0]).toBe("tag_not_allowed");
    expect(findCode({ operator: required })).toEqual(["tag_required", "X-Fairway-Tags"]);
    expect(readText({ operator: { keys: { app: { required: true, default: "none" } } } })).toBe("app=none");
  });

  it("cut what has no room in the column, fixed tags last", () => {
    const long = "é".repeat(64);
    const keys = Object.fromEntries(["a", "b", "c"].map((key) => [key, {}]));
    const given = {
      operator: { keys },
      headers: { "x-fairway-tags": ["a", "b"].map((k) => `${k}=${encodeURIComponent(long)}`).join() },
    };
    expect(read({ ...given, fixed: { z: "stays" } })).toMatchObject({ text: `a=${long}|z=stays`, isCut: true });
  });
});

describe("the header", () => {
  it.each([
    ["app", "no value"],
    ["app=", "an empty value"],
    ["App=shop", "a capital in the key"],
    ["1app=shop", "a digit first"],
    [`${"a".repeat(33)}=shop`, "a long key"],
    ["=shop", "no key"],
    ["app=a=b", "an equals sign"],
    ["app=a%7Cb", "a bar"],
    ["app=a%0Ab", "a control character"],
    ["app=%", "half an escape"],
    ["app=%ff", "bytes that are not UTF-8"],
    ["app=\u00e9", "a byte that is not ASCII"],
    [`app=${"x".repeat(65)}`, "a long value"],
    ["app=shop, app=crm", "a key twice"],
    ["app=shop,app=shop", "a key twice with one value"],
    [Array.from({ length: 9 }, (_, at) => `k${at}=v`).join(), "nine tags"],
  ])("%j is refused: %s", (text) => {
    for (const operator of [{}, ANY])
      expect(findCode({ operator, headers: { "x-fairway-tags": text } })).toEqual([
        "invalid_request",
        "X-Fairway-Tags",
      ]);
  });

  it("is read back as it was written, for every key and value that the rules allow", () => {
    const key = fc.stringMatching(/^[a-z][a-z0-9_.-]{0,31}$/);
    const value = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 20 })
      .map((text) => text.normalize("NFC").trim())
      .filter((text) => text !== "" && Array.from(text).length <= 64 && !/[\p{Cc}\u2028\u2029|=]/u.test(text));
    const tags = fc.uniqueArray(fc.tuple(key, value), { minLength: 1, maxLength: 3, selector: ([name]) => name });
    fc.assert(
      fc.property(tags, (entries) => {
        const header = entries.map(([name, text]) => `${name}=${encodeURIComponent(text)}`).join(" , ");
        const operator = { keys: Object.fromEntries(entries.map(([name]) => [name, {}])) };
        const sorted = entries.toSorted(([one], [other]) => (one < other ? -1 : 1));
        const found = read({ operator, headers: { "x-fairway-tags": header } });
        if (!found?.isCut) expect(found?.text).toBe(sorted.map(([name, text]) => `${name}=${text}`).join("|"));
        expect(Buffer.byteLength(found?.text ?? "")).toBeLessThanOrEqual(255);
      }),
      { numRuns: propertyRuns(200) },
    );
  });
});

describe("the end user", () => {
  const PLACES: readonly (readonly [value: string, given: Given])[] = [
    ["header", { headers: { "x-fairway-end-user": "header" } }],
    ["mapped", { mapped: { "X-LiteLLM-Customer-Id": "~end_user" }, headers: { "x-litellm-customer-id": "mapped" } }],
    ["identifier", { body: { safety_identifier: "identifier" } }],
    ["user", { body: { user: "user" } }],
    ["metadata", { body: { metadata: { user_id: "metadata" } } }],
    ["label", { body: { labels: { user: "label" } } }],
  ];

  it("is found in the order of the places", () => {
    for (const [at, [value]] of PLACES.entries()) {
      const rest = PLACES.slice(at).map(([, given]) => given);
      const join = <T extends object>(parts: readonly (T | undefined)[]): T => Object.assign({}, ...parts) as T;
      const given: Given = {
        mapped: join(rest.map(({ mapped }) => mapped)),
        headers: join(rest.map(({ headers }) => headers)),
        body: join(rest.map(({ body }) => body)),
      };
      expect(readUser(given)).toBe(value);
    }
  });

  it("is the account of a coding agent, not its session", () => {
    const hash = "a".repeat(20);
    expect(readUser({ body: { metadata: { user_id: `user_${hash}_account__session_1234` } } })).toBe(
      `user_${hash}_account_`,
    );
    const ids = { device_id: "device", account_uuid: "", session_id: "s" };
    expect(readUser({ body: { metadata: { user_id: JSON.stringify(ids) } } })).toBe("device");
    expect(readUser({ body: { metadata: { user_id: JSON.stringify({ ...ids, account_uuid: "account" }) } } })).toBe(
      "account",
    );
  });

  it("becomes its hash if it is long, and stays one user", () => {
    const long = "x".repeat(65);
    const name = readUser({ body: { user: long } });
    expect(name).toMatch(/^sha256:[0-9a-f]{32}$/);
    expect(readUser({ headers: { "x-fairway-end-user": long } })).toBe(name);
    expect(readUser({ body: { user: "x".repeat(64) } })).toBe("x".repeat(64));
  });

  it("is off, optional or required as the narrowest policy says", () => {
    const body = { user: "42" };
    expect(readUser({ body, operator: { end_user: "off" } })).toBe("");
    expect(readUser({ body, operator: { end_user: "off" }, token: { end_user: "client" } })).toBe("42");
    expect(findCode({ team: { end_user: "required" } })).toEqual(["tag_required", "X-Fairway-End-User"]);
    expect(readUser({ body, team: { end_user: "required" } })).toBe("42");
  });

  it("is ignored in a body if it cannot be a name, and refused in a header", () => {
    for (const user of ["", " ", "a\u0000b", "\ud800", 42, null, {}] as const)
      expect(read({ body: { user: user as string } })).toBeUndefined();
    for (const text of ["a%0Ab", "%", "\u00e9"])
      expect(findCode({ headers: { "x-fairway-end-user": text } })).toEqual(["invalid_request", "X-Fairway-End-User"]);
  });
});
