import type { Drawing } from "@fairway/wire";
import { expect, test } from "vitest";
import { ACTIONS, imageSource, calculateDuration, findResult, findStatus } from "./state.ts";

const row: Drawing = {
  id: 1,
  code: 1,
  user_id: 1,
  action: "IMAGINE",
  mj_id: "m1",
  prompt: "",
  prompt_en: "",
  description: "",
  state: "",
  submit_time: 1_000_000,
  start_time: 0,
  finish_time: 0,
  image_url: "",
  status: "IN_PROGRESS",
  progress: "",
  fail_reason: "",
  channel_id: 0,
  quota: 0,
  buttons: "",
  properties: "",
  created_at: 0,
};

test("a drawing under way is counted up to now, a finished one to its end", () => {
  expect(calculateDuration(row, 1_061)).toBe(61);
  expect(calculateDuration({ ...row, finish_time: 1_030_500 }, 9_999)).toBe(30.5);
  expect(calculateDuration({ ...row, submit_time: 0 }, 9_999)).toBe(0);
});

test("unknown states are said to be unknown", () => {
  expect([findStatus(row).text, findStatus({ ...row, status: "X" }).text]).toEqual(["inProgress", "unknown"]);
  expect([0, 1, 21, 22, 9].map((code) => findResult({ ...row, code }).text)).toEqual([
    "resultNone",
    "resultSubmitted",
    "resultWaiting",
    "resultRepeat",
    "unknown",
  ]);
});

test("images of this gateway come from the console's own address, others from theirs", () => {
  const own = "https://gw.example";
  expect(imageSource("https://gw.example/mj/image/m1?s=x", own)).toBe("/mj/image/m1?s=x");
  expect(imageSource("http://localhost:3000/mj/image/m1", own)).toBe("/mj/image/m1");
  expect(imageSource("https://other.example/mj/image/m1", own)).toBe("https://other.example/mj/image/m1");
  expect(imageSource("https://cdn.example/a.png", own)).toBe("https://cdn.example/a.png");
  expect(imageSource("no address", "")).toBe("no address");
});

test("every action of compatible gateways has a name (C-333)", () => {
  const actions =
    "IMAGINE UPSCALE VARIATION HIGH_VARIATION LOW_VARIATION PAN DESCRIBE BLEND UPLOAD SHORTEN REROLL INPAINT ZOOM CUSTOM_ZOOM MODAL SWAP_FACE";
  expect(Object.keys(ACTIONS)).toEqual(actions.split(" "));
});

test("every status of compatible gateways has a name (C-334)", () => {
  const statuses = ["SUCCESS", "NOT_START", "SUBMITTED", "IN_PROGRESS", "FAILURE", "MODAL"];
  expect(statuses.map((status) => findStatus({ ...row, status }).text)).toEqual([
    "success",
    "notStarted",
    "queued",
    "inProgress",
    "failed",
    "awaitsWindow",
  ]);
});
