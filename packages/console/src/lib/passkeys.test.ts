import { expect, test } from "vitest";
import { mayHavePasskeys } from "./passkeys.ts";

test("passkeys need a name and a safe connection", () => {
  const may = (hostname: string, isSecure = true) => mayHavePasskeys({ hostname, isSecure });
  expect(may("gate.example.com")).toBe(true);
  expect(may("localhost")).toBe(true);
  expect(may("gate.example.com", false)).toBe(false);
  expect(may("127.0.0.1")).toBe(false);
  expect(may("[::1]")).toBe(false);
});
