import type { LogRow } from "@fairway/wire";
import { expect, test } from "vitest";
import { findIndexByKey, buildRowKey } from "./row-key.ts";

const row = (id: number, request: string): LogRow => ({
  id,
  user_id: 1,
  created_at: 1_000,
  type: 1,
  content: "",
  username: "ann",
  token_name: "",
  model_name: "",
  quota: 500 + id,
  prompt_tokens: 0,
  completion_tokens: 0,
  use_time: 0,
  is_stream: false,
  channel: 0,
  channel_name: "",
  token_id: 0,
  group: "",
  ip: "",
  request_id: request,
  tags: "",
  end_user: "",
  other: "",
});
const rows = [row(9, "B"), row(8, "A"), row(7, "A"), row(6, "")];

test("a link finds its row again, for administrators by id and for owners by request", () => {
  for (const isAdmin of [true, false])
    for (const [at, one] of rows.entries()) {
      // Owners cannot distinguish two rows of one request: the newest one represents it.
      const expected = !isAdmin && at === 2 ? 1 : at;
      expect(findIndexByKey(rows, buildRowKey(one, isAdmin), isAdmin)).toBe(expected);
    }
});

test("a request id is also a link for administrators, and no row has an empty one", () => {
  expect(findIndexByKey(rows, "A", true)).toBe(1);
  expect(findIndexByKey(rows, "", true)).toBe(-1);
  expect(findIndexByKey(rows, "C", true)).toBe(-1);
});
