import { hashSync } from "bcryptjs";
import type { SourceRow } from "./source-database.ts";

/** Keys of tokens, in the order of their numbers. */
export const KEYS = Array.from({ length: 4 }, (_, at) => `${at}`.repeat(48));
/** As compatible gateways store passwords. */
export const HASH = hashSync("password of ann", 4);
export const user = (id: number, username: string, more: SourceRow = {}): SourceRow => ({
  id,
  username,
  password: HASH,
  display_name: username,
  role: 1,
  status: 1,
  email: "",
  github_id: "",
  wechat_id: "",
  access_token: null,
  quota: id * 1000,
  used_quota: id,
  request_count: 2,
  group: "default",
  aff_code: `a${id}`,
  inviter_id: 0,
  ...more,
});
export const token = (id: number, userId: number, more: SourceRow = {}): SourceRow => ({
  id,
  user_id: userId,
  key: KEYS[id - 1] ?? "",
  status: 1,
  name: `token ${id}`,
  created_time: 5,
  accessed_time: 6,
  expired_time: -1,
  remain_quota: id * 10,
  unlimited_quota: false,
  used_quota: 3,
  ...more,
});
export const channel = (id: number, type: number, more: SourceRow = {}): SourceRow => ({
  id,
  type,
  key: `sk-upstream-${id}`,
  status: 1,
  name: `channel ${id}`,
  weight: 3,
  base_url: "https://up.example/",
  other: "",
  balance: 1.5,
  models: "gpt-4o, gpt-4o,claude-3",
  group: "default,vip",
  used_quota: 77,
  model_mapping: '{"a":"b"}',
  priority: -2,
  ...more,
});
