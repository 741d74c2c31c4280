import { describe, expect, it } from "vitest";
import { readTelegramLogin } from "./telegram.ts";

const TOKEN = "123456:TEST-TOKEN";
const login = {
  id: "42",
  first_name: "Ann",
  username: "ann",
  auth_date: "1700000000",
  hash: "2f72a46af165bbd42b1ef82145575f563583a3b8550a0a6a1d6e1e7bd4a1f049",
};
const NOW = 1_700_000_100;

describe("a Telegram login", () => {
  it("is read when Telegram signed it", () => {
    expect(readTelegramLogin(login, TOKEN, NOW)).toEqual({ id: "42", hash: login.hash, expiresAt: 1_700_086_400 });
  });

  // @weakness Credentials: A parameter given twice passes the signature
  it("is refused with another token, another field, an extra field, or a field given twice", () => {
    expect(readTelegramLogin(login, "other", NOW)).toBeUndefined();
    expect(readTelegramLogin({ ...login, first_name: "Bob" }, TOKEN, NOW)).toBeUndefined();
    expect(readTelegramLogin({ ...login, extra: "1" }, TOKEN, NOW)).toBeUndefined();
    expect(readTelegramLogin({ ...login, username: ["ann", "bob"] }, TOKEN, NOW)).toBeUndefined();
  });

  it("is refused without its parts", () => {
    for (const name of ["id", "hash", "auth_date"]) {
      expect(readTelegramLogin({ ...login, [name]: "" }, TOKEN, NOW)).toBeUndefined();
    }
    expect(readTelegramLogin({}, TOKEN, NOW)).toBeUndefined();
  });

  // @weakness Credentials: Data of Telegram is good for ever
  it("lives a day, and five minutes of a clock that runs ahead", () => {
    expect(readTelegramLogin(login, TOKEN, 1_700_000_000 + 86_400)).toBeDefined();
    expect(readTelegramLogin(login, TOKEN, 1_700_000_000 + 86_401)).toBeUndefined();
    expect(readTelegramLogin(login, TOKEN, 1_700_000_000 - 300)).toBeDefined();
    expect(readTelegramLogin(login, TOKEN, 1_700_000_000 - 301)).toBeUndefined();
  });
});
