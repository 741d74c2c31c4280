import { expect, test } from "vitest";
import { findWrongRoom, NO_ROOM_LIMITS, readBatchRoom, writeBatchRoom } from "./batch-room.ts";

test("a setting without the members, or none, has no limits", () => {
  for (const setting of ["", null, undefined, "{}", '{"batch_max_open":"3"}', "no JSON"])
    expect(readBatchRoom(setting)).toEqual(NO_ROOM_LIMITS);
  expect(readBatchRoom('{"batch_max_open":3}')).toEqual({ batch_max_open: "3", batch_max_tokens: "" });
});

test("limits change their members alone, and blank ones are left out", () => {
  const proxied = '{"proxy":"****","batch_max_open":3}';
  expect(writeBatchRoom(proxied, readBatchRoom(proxied))).toBe(proxied);
  expect(writeBatchRoom("", NO_ROOM_LIMITS)).toBe("");
  const both = { batch_max_open: " 4 ", batch_max_tokens: "2000000" };
  expect(writeBatchRoom(proxied, both)).toBe('{"proxy":"****","batch_max_open":4,"batch_max_tokens":2000000}');
  expect(writeBatchRoom(proxied, NO_ROOM_LIMITS)).toBe('{"proxy":"****"}');
  expect(writeBatchRoom('{"batch_max_open":3}', NO_ROOM_LIMITS)).toBe("");
});

test("a limit is a whole number from 1", () => {
  for (const text of ["", " ", "1", " 250 "])
    expect(findWrongRoom({ ...NO_ROOM_LIMITS, batch_max_open: text })).toEqual([]);
  for (const text of ["0", "-1", "1.5", "many", "1e3"])
    expect(findWrongRoom({ ...NO_ROOM_LIMITS, batch_max_tokens: text })).toEqual(["batch_max_tokens"]);
});
