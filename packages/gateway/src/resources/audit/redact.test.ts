import { expect, test } from "vitest";
import { redacted } from "./redact.ts";

test("the address of a webhook is shown as its host, since the rest may be all that its service checks", () => {
  expect(JSON.parse(redacted({ name: "alerts", url: "https://hooks.example.com/services/T0/B0/canary" }))).toEqual({
    name: "alerts",
    url: "hooks.example.com",
  });
  expect(redacted({ url: "hooks.example.com/canary" })).not.toContain("canary");
});
