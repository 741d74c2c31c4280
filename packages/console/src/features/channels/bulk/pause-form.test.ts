import { expect, test } from "vitest";
import { buildPause, isSelecting, type PauseForm } from "./pause-form.ts";

const FORM: PauseForm = { ids: [], type: "", tag: "", span: "tests", reason: "" };

test("a form without a provider, tag or rows selects nothing", () => {
  expect(isSelecting(FORM)).toBe(false);
  expect(isSelecting({ ...FORM, tag: "  " })).toBe(false);
  expect(isSelecting({ ...FORM, tag: "eu" })).toBe(true);
  expect(isSelecting({ ...FORM, type: "14" })).toBe(true);
  expect(isSelecting({ ...FORM, ids: [3] })).toBe(true);
});

test("each span becomes a time, or a wait for tests or for a person", () => {
  expect(buildPause({ ...FORM, type: "14" })).toEqual({ filter: { type: [14] }, until_tests: true });
  expect(buildPause({ ...FORM, tag: " eu ", span: "4h", reason: " outage " })).toEqual({
    filter: { tag: "eu" },
    for_seconds: 14_400,
    reason: "outage",
  });
  expect(buildPause({ ...FORM, ids: [3, 4], span: "resumed" })).toEqual({ ids: [3, 4] });
});
