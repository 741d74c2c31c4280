import { expect, test } from "vitest";
import { checkUser, EMPTY_USER, signedQuota } from "./user-form.ts";

test("amounts become whole quota units, in both directions", () => {
  expect(signedQuota("5", 500_000)).toBe(2_500_000);
  expect(signedQuota(" -0.000002 ", 500_000)).toBe(-1);
  expect(signedQuota("", 500_000)).toBe(0);
  for (const text of ["five", "1e3", "1,5", "--1", "99999999999999999"]) {
    expect(signedQuota(text, 500_000), text).toBeUndefined();
  }
});

test("a new user needs a name and a password; an existing one keeps what is blank", () => {
  expect(checkUser(EMPTY_USER, true, 1)).toEqual({
    username: "needsNameAndPassword",
    password: "needsNameAndPassword",
  });
  const named = { ...EMPTY_USER, username: "ada" };
  expect(checkUser(named, false, 1)).toEqual({});
  expect(checkUser({ ...named, password: "seven77" }, false, 1)).toEqual({ password: "passwordShort" });
  expect(checkUser({ ...named, rpm: "0" }, false, 1)).toEqual({ rpm: "badLimit" });
  expect(checkUser({ ...named, add: "x" }, false, 1)).toEqual({ add: "addQuotaInvalid" });
});
