import { describe, expect, it } from "vitest";
import { MESSAGE_CODES, findMessageKey } from "./message-codes.ts";
import { messageText, MESSAGES } from "./messages.ts";
import { fill } from "./reasons.ts";

describe("messages", () => {
  it("fills the places of a text", () => {
    expect(messageText("email_too_soon", { n: 12 })).toBe("Please wait 12 seconds before requesting another email.");
    expect(messageText("invalid_field", { field: "quota", reason: "must be an integer" })).toBe(
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
    expect(MESSAGES.not_signed_in.text).toBe("Not logged in or login has expired, please log in again!");
    expect(MESSAGES.passwords_differ.text).toBe("The passwords entered twice do not match.");
    expect(MESSAGES.too_many_requests).toEqual({ status: 429, text: "Too many requests, please try again later!" });
  });

  it("finds the message of a code, and none for other text", () => {
    expect(findMessageKey("CH10")).toBe("model_list_unavailable");
    expect(findMessageKey("toString")).toBeUndefined();
  });

  it("gives every message a code of its own", () => {
    const codes = Object.values(MESSAGE_CODES);
    expect(new Set(codes).size).toBe(codes.length);
  });
});
