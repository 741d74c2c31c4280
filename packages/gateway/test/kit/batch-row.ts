import type { BatchRow } from "../../src/batches/row.ts";

const MODELS = { "gpt-5.6": { upstream: "azure-deployment", items: 3, estimate: 90, promptTokens: 30, uncapped: 1 } };

let made = 0;

/** Returns an open batch whose deposit is in no ledger. */
export function buildBatchRow(more: Partial<BatchRow> = {}): BatchRow {
  made += 1;
  return {
    id: `batch_${made}`,
    dialect: "openai",
    user_id: 1,
    token_id: 3,
    group: "default",
    channel_id: 7,
    key_mark: "0123456789abcdef",
    upstream_id: "batch_UPSTREAM",
    request_id: `r${made}`,
    endpoint: "/v1/chat/completions",
    models: JSON.stringify(MODELS),
    input_file_id: "file-in",
    output_file_id: "",
    error_file_id: "",
    phase: "open",
    wire: '{"status":"in_progress"}',
    total: 3,
    succeeded: 1,
    failed: 0,
    expired: 0,
    cancelled: 0,
    deposit: 90,
    charged: 0,
    saved: 0,
    terms: "{}",
    metadata: '{"job":"nightly"}',
    tags: "",
    end_user: "",
    idempotency_key: null,
    body_hash: "",
    error: "",
    created_at: 1_000 + made,
    expires_at: 0,
    ended_at: 0,
    settled_at: 0,
    deleted_at: 0,
    next_poll_at: 0,
    polled_at: 0,
    polls: 2,
    failures: 0,
    revision: 1,
    ...more,
  };
}
