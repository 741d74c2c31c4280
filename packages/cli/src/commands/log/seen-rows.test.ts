import type { LogRow } from "@fairway/wire";
import { describe, expect, it } from "vitest";
import { createSeenRows } from "./seen-rows.ts";

const row = (id: number, created_at: number, content = "same"): LogRow => ({
  id,
  created_at,
  content,
  user_id: 1,
  type: 3,
  username: "ann",
  token_name: "",
  model_name: "",
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
  request_id: "",
  tags: "",
  end_user: "",
  other: "",
});

describe("createSeenRows", () => {
  it("knows rows of administrators by their ids", () => {
    const seen = createSeenRows(true);
    expect([seen.add(row(7, 100), 100), seen.add(row(8, 100), 100)]).toEqual([1, 2]);
    const isNew = seen.reading();
    expect([row(9, 100), row(8, 100), row(7, 100)].map(isNew)).toEqual([true, false, false]);
  });

  it("counts rows of owners that say the same, whatever their numbers", () => {
    const seen = createSeenRows(false);
    seen.add(row(1, 100), 100);
    seen.add(row(2, 100), 100);
    const isNew = seen.reading();
    expect([row(4, 100), row(3, 100), row(2, 100), row(1, 101)].map(isNew)).toEqual([false, false, true, true]);
    expect(seen.reading()(row(9, 100))).toBe(false);
  });

  it("forgets what cannot come again, and keeps what came late", () => {
    const seen = createSeenRows(true);
    seen.add(row(1, 100), 100);
    seen.add(row(2, 100), 200);
    seen.forgetBefore(150);
    const isNew = seen.reading();
    expect([row(1, 100), row(2, 100)].map(isNew)).toEqual([true, false]);
  });
});
