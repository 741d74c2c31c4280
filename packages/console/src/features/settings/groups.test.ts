import { expect, test } from "vitest";
import { changesOf, typed, withPublicTexts } from "./groups.ts";

test("the site key of the human check is shown although its name reads like a secret", () => {
  const texts = withPublicTexts({ SystemName: "Harbour" }, { turnstile_site_key: "1x00" });
  expect(texts).toEqual({ SystemName: "Harbour", TurnstileSiteKey: "1x00" });
  expect(changesOf({ TurnstileSiteKey: "" }, texts)).toEqual({ TurnstileSiteKey: "" });
  expect(changesOf({ TurnstileSiteKey: "1x00" }, texts)).toEqual({});
});

test("a secret is emptied only when that was asked for", () => {
  const draft = typed(typed({}, "SMTPToken", "pass"), "SMTPToken", "");
  expect(changesOf(draft, {})).toEqual({});
  expect(changesOf({ SMTPToken: "" }, {})).toEqual({ SMTPToken: "" });
});

test("an option that is no secret is emptied by clearing its input", () => {
  const draft = typed({}, "SMTPServer", "");
  expect(changesOf(draft, { SMTPServer: "mail.example.com" })).toEqual({ SMTPServer: "" });
});
