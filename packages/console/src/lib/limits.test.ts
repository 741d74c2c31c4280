import { expect, test } from "vitest";
import { toLimitsDraft, toLimits, NO_LIMITS, wrongLimits } from "./limits.ts";

test("limits come back as they were typed, and blank ones are lifted", () => {
  const draft = toLimitsDraft({ rpm: 60, concurrency: 2 });
  expect(draft).toEqual({ rpm: "60", tpm: "", concurrency: "2" });
  expect(toLimits({ ...draft, tpm: " 10000 ", rpm: "" })).toEqual({ tpm: 10_000, concurrency: 2 });
  expect(toLimits(NO_LIMITS)).toEqual({});
});

test("only whole numbers above 0 are limits", () => {
  for (const text of ["0", "-1", "1.5", "1e3", "many", "99999999999999999"]) {
    expect(wrongLimits({ ...NO_LIMITS, tpm: text }), text).toEqual(["tpm"]);
  }
  expect(wrongLimits({ rpm: "1", tpm: " 2 ", concurrency: "" })).toEqual([]);
});
