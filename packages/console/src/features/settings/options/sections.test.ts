import { expect, test } from "vitest";
import { collectChanges, typed, withPublicTexts } from "./draft.ts";
import { memberChanges } from "./history.ts";

test("the site key of the human check is shown although its name reads like a secret", () => {
  const texts = withPublicTexts({ SystemName: "Harbour" }, { turnstile_site_key: "1x00" });
  expect(texts).toEqual({ SystemName: "Harbour", TurnstileSiteKey: "1x00" });
  expect(collectChanges({ TurnstileSiteKey: "" }, texts)).toEqual({ TurnstileSiteKey: "" });
  expect(collectChanges({ TurnstileSiteKey: "1x00" }, texts)).toEqual({});
});

test("a secret is emptied only when that was asked for", () => {
  const draft = typed(typed({}, "SMTPToken", "pass"), "SMTPToken", "");
  expect(collectChanges(draft, {})).toEqual({});
  expect(collectChanges({ SMTPToken: "" }, {})).toEqual({ SMTPToken: "" });
});

test("an option that is no secret is emptied by clearing its input", () => {
  const draft = typed({}, "SMTPServer", "");
  expect(collectChanges(draft, { SMTPServer: "mail.example.com" })).toEqual({ SMTPServer: "" });
});

test("the history of an object names the members that changed", () => {
  expect(memberChanges('{"a":1,"b":2,"c":"x"}', '{"b":3,"c":"x","d":[1]}')).toEqual([
    { name: "a", before: "1", after: null },
    { name: "b", before: "2", after: "3" },
    { name: "d", before: null, after: "[1]" },
  ]);
  expect(memberChanges("0", "1")).toBeUndefined();
  expect(memberChanges(null, "{}")).toBeUndefined();
});
