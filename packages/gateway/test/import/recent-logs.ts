import { START_SECONDS } from "../kit/store-kit.ts";
import { NEW_API_RECENT, type SourceDatabase } from "./source-database.ts";
import { channel, token, user } from "./rows.ts";

/** One of everything that is read, with the odd values that are found in old installations. */
export async function fillRecent(sourceDatabase: SourceDatabase): Promise<void> {
  await sourceDatabase.create(NEW_API_RECENT);
  await sourceDatabase.insert(
    "users",
    user(1, "root", { role: 100, created_at: 77 }),
    user(2, "ann"),
    user(3, "bob", { role: null, status: null, group: null, quota: null, deleted_at: null }),
  );
  await sourceDatabase.insert(
    "two_fas",
    { id: 1, user_id: 2, secret: "JBSWY3DPEHPK3PXP", is_enabled: true, created_at: "2025-10-01 10:00:00" },
    { id: 2, user_id: 3, secret: "JBSWY3DPEHPK3PXP", is_enabled: false, created_at: "2025-10-01 10:00:00" },
  );
  await sourceDatabase.insert("passkey_credentials", {
    id: 1,
    user_id: 2,
    credential_id: "+/8=",
    public_key: "pQECAyY=",
    sign_count: 7,
    transports: '["internal","hybrid"]',
    created_at: "2025-10-01 10:00:00",
    last_used_at: null,
  });
  await sourceDatabase.insert(
    "tokens",
    token(1, 2),
    token(2, 2, { key: "short_key" }),
    token(3, 3, { status: null, name: null, expired_time: null, model_limits: null, model_limits_enabled: null }),
  );
  await sourceDatabase.insert(
    "channels",
    channel(7, 1, {
      group: '["default","vip"]',
      models: '["gpt-4o"]',
      key: "sk-a\nsk-b",
      channel_info:
        '{"is_multi_key":true,"multi_key_size":2,"multi_key_mode":"polling","multi_key_status_list":{"1":2}}',
      setting: '{"proxy":"http://p"}',
      header_override: '{"X-A":"b"}',
    }),
    channel(8, 41, {
      key: '[{"client_email":"a"},{"client_email":"b"}]',
      other: "us-central1",
      channel_info: '{"is_multi_key":true,"multi_key_mode":"random"}',
    }),
    channel(9, 7, {
      base_url: null,
      model_mapping: null,
      setting: "no json",
      param_override: "null",
      weight: null,
      priority: null,
      tag: "",
    }),
  );
  await sourceDatabase.insert(
    "redemptions",
    {
      id: 1,
      user_id: 1,
      key: "r".repeat(32),
      status: 1,
      name: "over",
      quota: 5,
      created_time: 4,
      redeemed_time: 0,
      used_user_id: 0,
      expired_time: 9,
    },
    {
      id: 2,
      user_id: 1,
      key: "s".repeat(32),
      status: 1,
      name: "lasting",
      quota: 5,
      created_time: 4,
      redeemed_time: 0,
      used_user_id: 0,
      expired_time: START_SECONDS * 2,
    },
  );
  const order = { user_id: 2, create_time: 5, complete_time: 0, payment_provider: "" };
  await sourceDatabase.insert(
    "top_ups",
    {
      ...order,
      id: 1,
      amount: 10,
      money: 73,
      trade_no: "paid",
      payment_method: "alipay",
      status: "success",
      complete_time: 6,
    },
    {
      ...order,
      id: 2,
      amount: 3,
      money: 1.5,
      trade_no: "open",
      payment_method: "stripe",
      payment_provider: "stripe",
      status: "pending",
    },
    {
      ...order,
      id: 3,
      user_id: 99,
      amount: 3,
      money: 1,
      trade_no: "nobody",
      payment_method: "alipay",
      status: "success",
    },
  );
  const drawing = {
    code: 1,
    user_id: 2,
    action: "IMAGINE",
    prompt: "a cat",
    submit_time: 1_700_000_000_123,
    start_time: 0,
    finish_time: 0,
    image_url: "",
    fail_reason: "",
    channel_id: 7,
    quota: 50,
  };
  await sourceDatabase.insert(
    "midjourneys",
    { ...drawing, id: 1, mj_id: "m1", status: "SUCCESS", progress: "100%" },
    { ...drawing, id: 2, mj_id: "m2", status: "FAILURE", progress: "100%" },
    { ...drawing, id: 3, mj_id: "m3", status: "IN_PROGRESS", progress: "30%", quota: 0 },
  );
  const task = {
    created_at: 5,
    updated_at: 6,
    user_id: 2,
    channel_id: 7,
    quota: 8,
    fail_reason: "",
    submit_time: 5,
    start_time: 0,
    finish_time: 0,
    properties: null,
  };
  await sourceDatabase.insert(
    "tasks",
    {
      ...task,
      id: 1,
      task_id: "task_public",
      platform: "suno",
      action: "MUSIC",
      status: "SUCCESS",
      progress: "100%",
      private_data: '{"upstream_task_id":"up-1","token_id":1}',
      data: '{"clips":[1]}',
    },
    {
      ...task,
      id: 2,
      task_id: "task_video",
      platform: "50",
      action: "generate",
      status: "QUEUED",
      progress: "20%",
      private_data: null,
      data: null,
    },
  );
  await sourceDatabase.insert(
    "quota_data",
    {
      id: 1,
      user_id: 2,
      username: "ann",
      model_name: "gpt-4o",
      created_at: 7200,
      token_used: 10,
      count: 2,
      quota: 30,
    },
    { id: 2, user_id: 2, username: "ann", model_name: "gpt-4o", created_at: 7260, token_used: 1, count: 1, quota: 1 },
  );
  await sourceDatabase.insert("logs", {
    id: 11,
    user_id: 2,
    created_at: 7200,
    type: 2,
    content: "",
    username: "ann",
    token_name: "token 1",
    model_name: "gpt-4o",
    quota: 30,
    prompt_tokens: 5,
    completion_tokens: 5,
    use_time: 1,
    is_stream: true,
    channel_id: 7,
    token_id: 1,
    group: "vip",
    ip: "10.0.0.1",
    request_id: "2025",
    other: null,
  });
}
