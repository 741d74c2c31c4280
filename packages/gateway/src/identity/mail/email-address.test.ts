import { describe, expect, it } from "vitest";
import { emailParts, parseEmail } from "./email-address.ts";

describe("addresses", () => {
  it.each([
    [" Ann@Example.COM ", "ann@example.com"],
    ["a.b+c@mail.example.co", "a.b+c@mail.example.co"],
    ["o'neil_1@xn--bcher-kva.example", "o'neil_1@xn--bcher-kva.example"],
  ])("%j is %s", (text, address) => expect(parseEmail(text)).toBe(address));

  it.each([
    "",
    "ann",
    "@example.com",
    "ann@",
    "ann@example",
    "ann@-example.com",
    "ann@example..com",
    "a b@example.com",
    "ann@example.com,bob@example.com",
    "ann@example.com;bob@example.com",
    "ann\r\nBcc: bob@example.com",
    "<ann@example.com>",
    "a@b@example.com",
    ".ann@example.com",
    `${"a".repeat(65)}@example.com`,
    `a@${"b.".repeat(130)}com`,
  ])("%j is none", (text) => expect(parseEmail(text)).toBeUndefined());

  it("have a local part and a domain", () => {
    expect(emailParts("a+b@example.com")).toEqual({ local: "a+b", domain: "example.com" });
  });
});
