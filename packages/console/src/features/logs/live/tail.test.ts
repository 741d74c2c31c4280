import type { LogRow } from "@fairway/wire";
import { expect, test } from "vitest";
import { missed, NO_TAIL, received, released, unseen, withTail } from "./tail.ts";

const row = (id: number): LogRow => ({
  id,
  user_id: 1,
  created_at: 1_000 + id,
  type: 2,
  content: "",
  username: "root",
  token_name: "",
  model_name: "m",
  quota: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  use_time: 0,
  is_stream: false,
  channel: 0,
  channel_name: "",
  token_id: 0,
  group: "",
  ip: "",
  request_id: `r${id}`,
  tags: "",
  end_user: "",
  other: "",
});
const rows = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => row(from + at));
const ids = (some: readonly LogRow[]) => some.map(({ id }) => id);

test("rows slide in on top while the reader is there, and wait while not", () => {
  const open = received(NO_TAIL, rows(1, 2), false);
  expect(ids(open.shown)).toEqual([2, 1]);
  const held = received(open, rows(3, 4), true);
  expect([ids(held.shown), ids(held.waiting), unseen(held)]).toEqual([[2, 1], [4, 3], 2]);
  const all = released(held);
  expect([ids(all.shown), unseen(all)]).toEqual([[4, 3, 2, 1], 0]);
});

test("a page that is open for days holds no more rows than one that is open for minutes", () => {
  let tail = NO_TAIL;
  for (let turn = 0; turn < 100; turn++) tail = received(tail, rows(turn * 20, turn * 20 + 19), turn >= 50);
  expect([tail.shown.length, tail.waiting.length, unseen(tail)]).toEqual([200, 200, 1_000]);
  expect(ids(tail.waiting)[0]).toBe(1_999);
});

test("calls that the server left out are counted as unseen until the reader catches up", () => {
  const tail = missed(received(NO_TAIL, rows(1, 1), true), 40);
  expect(unseen(tail)).toBe(41);
  expect(unseen(released(tail))).toBe(0);
});

test("a row that the list has too appears once, also where ids are running numbers", () => {
  const tail = received(NO_TAIL, [row(5), row(6)], false);
  expect(ids(withTail(tail, [row(5), row(4)], true))).toEqual([6, 5, 4]);
  const renumbered = { ...row(5), id: 1 };
  expect(ids(withTail(tail, [renumbered], false))).toEqual([6, 1]);
});
