import { describe, expect, it } from "vitest";
import { fill, isMessageCode, messageText, MESSAGES } from "./messages.ts";

describe("messages", () => {
  it("fills the places of a text", () => {
    expect(messageText("E5", { n: 12 })).toBe("Please wait 12 seconds before requesting another email.");
    expect(messageText("G2", { field: "quota", reason: "must be an integer" })).toBe(
      "Invalid input: quota must be an integer.",
    );
  });

  it("leaves places without a value and ignores inherited properties", () => {
    expect(fill("{a} {constructor} {b}", { a: 1 })).toBe("1 {constructor} {b}");
  });

  it("does not fill again what a value brought in", () => {
    expect(fill("{a}{b}", { a: "{b}", b: "x" })).toBe("{b}x");
  });

  it("has the texts of the seeds letter by letter", () => {
    expect(MESSAGES.AU1.text).toBe("Not logged in or login has expired, please log in again!");
    expect(MESSAGES.R4.text).toBe("The passwords entered twice do not match.");
    expect(MESSAGES.G3).toEqual({ status: 429, text: "Too many requests, please try again later!" });
  });

  it("tells codes from other text", () => {
    expect(isMessageCode("CH10")).toBe(true);
    expect(isMessageCode("toString")).toBe(false);
  });
});
