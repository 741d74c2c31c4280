import type { LogRow } from "@fairway/wire";
import { expect, test } from "vitest";
import { csvWriter } from "./csv.ts";

const row: LogRow = {
  id: 1,
  user_id: 1,
  created_at: 1_790_000_000,
  type: 2,
  content: 'said "one",\ntwo',
  username: "=cmd()",
  token_name: "@sum",
  model_name: "gpt-4o",
  quota: -25,
  prompt_tokens: 3,
  completion_tokens: 4,
  use_time: 2,
  is_stream: true,
  channel: 7,
  channel_name: "Azure, EU",
  token_id: 1,
  group: "default",
  ip: "::1",
  request_id: "r1",
  tags: "app=shop",
  end_user: "=42",
  other: '{"frt":120,"cache_tokens":2}',
};

test("rows are lines of text, numbers stay numbers, and no name is a formula", () => {
  const admin = csvWriter({ isAdmin: true, quotaPerUnit: 500_000 });
  expect(admin.head).toMatch(/^\u{FEFF}time,type,token,.*,content,user,channel_id,channel\r\n$/u);
  expect(admin.rows([row])).toBe(
    "2026-09-21T14:13:20.000Z,consumption,'@sum,default,gpt-4o,true,2,120,3,2,4,-25,-0.00005,r1,app=shop,'=42,::1," +
      '"said ""one"",\ntwo",\'=cmd(),7,"Azure, EU"\r\n',
  );
  expect(csvWriter({ isAdmin: false, quotaPerUnit: 500_000 }).head).not.toContain("channel");
});
