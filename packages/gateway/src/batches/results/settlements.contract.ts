import type { ReadResultsRequest } from "./read-results.ts";

/** The results of one batch, and what they have to cost at the list prices of their models. */
export interface SettlementCase {
  readonly title: string;
  readonly format: ReadResultsRequest["format"];
  readonly endpoint: string;
  readonly model: string;
  readonly total: number;
  readonly deposit: number;
  readonly streams: readonly string[];
  /** Ledger rows by kind and amount. */
  readonly ledger: readonly (readonly [kind: string, quota: number])[];
  readonly log: Readonly<Record<string, unknown>>;
  readonly batch: Readonly<Record<string, unknown>>;
}

export const SETTLEMENT_CASES: readonly SettlementCase[] = [
  {
    title: "an output file with three answers and an error file with a refused request",
    format: "openai",
    endpoint: "/v1/chat/completions",
    model: "gpt-5.6",
    total: 4,
    deposit: 20000,
    streams: [
      '{"id":"batch_req_b","custom_id":"b","response":{"status_code":200,"request_id":"rb","body":{"id":"chatcmpl-b","object":"chat.completion","model":"gpt-5.6","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12,"prompt_tokens_details":{"cached_tokens":0}}}},"error":null}\n{"id":"batch_req_a","custom_id":"a","response":{"status_code":200,"request_id":"ra","body":{"id":"chatcmpl-a","object":"chat.completion","model":"gpt-5.6","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,"completion_tokens":500,"total_tokens":1500,"prompt_tokens_details":{"cached_tokens":0}}}},"error":null}\n{"id":"batch_req_c","custom_id":"c","response":{"status_code":200,"request_id":"rc","body":{"id":"chatcmpl-c","object":"chat.completion","model":"gpt-5.6","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":2000,"completion_tokens":100,"total_tokens":2100,"prompt_tokens_details":{"cached_tokens":1500}}}},"error":null}\n',
      '{"id":"batch_req_d","custom_id":"d","response":{"status_code":400,"request_id":"rd","body":{"error":{"message":"Invalid value","type":"invalid_request_error","param":"temperature","code":null}}},"error":null}\n',
    ],
    ledger: [
      ["return", 20000],
      ["consume", -4670],
    ],
    log: {
      model_name: "gpt-5.6",
      quota: 4670,
      prompt_tokens: 3010,
      completion_tokens: 602,
    },
    batch: {
      items: 4,
      succeeded: 3,
      failed: 1,
      expired: 0,
      cancelled: 0,
      input_ratio: 0.5,
      output_ratio: 0.5,
      saved: 4670,
    },
  },
  {
    title: "requests that were all refused, without an output file",
    format: "openai",
    endpoint: "/v1/chat/completions",
    model: "gpt-5.6",
    total: 1,
    deposit: 9000,
    streams: [
      '{"id":"batch_req_d","custom_id":"d","response":{"status_code":400,"request_id":"rd","body":{"error":{"message":"Invalid value","type":"invalid_request_error","param":"temperature","code":null}}},"error":null}\n',
    ],
    ledger: [["return", 9000]],
    log: {
      quota: 0,
    },
    batch: {},
  },
  {
    title: "a batch that expired after one answer",
    format: "openai",
    endpoint: "/v1/chat/completions",
    model: "gpt-5.6",
    total: 2,
    deposit: 9000,
    streams: [
      '{"id":"batch_req_b","custom_id":"b","response":{"status_code":200,"request_id":"rb","body":{"id":"chatcmpl-b","object":"chat.completion","model":"gpt-5.6","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12,"prompt_tokens_details":{"cached_tokens":0}}}},"error":null}\n',
      '{"id":"batch_req_z","custom_id":"z","response":null,"error":{"code":"batch_expired","message":"This request could not be executed before the completion window expired."}}\n',
    ],
    ledger: [
      ["return", 9000],
      ["consume", -20],
    ],
    log: {
      quota: 20,
    },
    batch: {
      items: 2,
      succeeded: 1,
      expired: 1,
      failed: 0,
    },
  },
  {
    title: "messages with cached input, an error and an expired request",
    format: "anthropic",
    endpoint: "/v1/messages/batches",
    model: "claude-opus-5",
    total: 3,
    deposit: 5000,
    streams: [
      '{"custom_id": "c", "result": {"type": "expired"}}\n{"custom_id": "a", "result": {"type": "succeeded", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-5", "content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn", "stop_sequence": null, "usage": {"input_tokens": 100, "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 400, "cache_creation": {"ephemeral_5m_input_tokens": 400, "ephemeral_1h_input_tokens": 0}, "output_tokens": 50, "service_tier": "batch"}}}}\n{"custom_id": "b", "result": {"type": "errored", "error": {"type": "error", "error": {"type": "invalid_request_error", "message": "bad"}}}}\n',
    ],
    ledger: [
      ["return", 5000],
      ["consume", -1188],
    ],
    log: {
      quota: 1188,
      prompt_tokens: 1500,
      completion_tokens: 50,
    },
    batch: {
      items: 3,
      succeeded: 1,
      failed: 1,
      expired: 1,
    },
  },
  {
    title: "inlined responses of Gemini, with one error",
    format: "gemini-inline",
    endpoint: "batchGenerateContent",
    model: "gemini-3.5-flash",
    total: 2,
    deposit: 2000,
    streams: [
      '{"name": "batches/up1", "metadata": {"@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch", "model": "models/gemini-3.5-flash", "displayName": "job #fw:{{hex8:1}}", "createTime": "2026-11-28T10:00:00Z", "updateTime": "2026-11-28T10:00:00Z", "batchStats": {"requestCount": "2", "successfulRequestCount": "1", "failedRequestCount": "1"}, "state": "BATCH_STATE_SUCCEEDED", "name": "batches/up1", "endTime": "2026-11-28T10:30:00Z", "output": {"inlinedResponses": {"inlinedResponses": [{"response": {"candidates": [{"content": {"role": "model", "parts": [{"text": "ok"}]}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 200, "candidatesTokenCount": 50, "thoughtsTokenCount": 30, "totalTokenCount": 280}}, "metadata": {"key": "a"}}, {"error": {"code": 400, "message": "bad"}, "metadata": {"key": "b"}}]}}}, "done": true, "response": {"@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatchOutput", "inlinedResponses": {"inlinedResponses": [{"response": {"candidates": [{"content": {"role": "model", "parts": [{"text": "ok"}]}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 200, "candidatesTokenCount": 50, "thoughtsTokenCount": 30, "totalTokenCount": 280}}, "metadata": {"key": "a"}}, {"error": {"code": 400, "message": "bad"}, "metadata": {"key": "b"}}]}}}',
    ],
    ledger: [
      ["return", 2000],
      ["consume", -255],
    ],
    log: {
      quota: 255,
      prompt_tokens: 200,
      completion_tokens: 80,
    },
    batch: {},
  },
];
