import { isObject, parseJson } from "../../lib/text/json.ts";

/** The answer to a test request. */
export interface Reply {
  readonly isOk: boolean;
  readonly status: number;
  /** The answer, or the reason why there is none. */
  readonly text: string;
  readonly requestId: string | undefined;
  readonly elapsedMs: number;
}

function member(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function said(json: unknown): string {
  const choices = member(json, "choices");
  const message = Array.isArray(choices) ? member(choices[0], "message") : undefined;
  const content = member(message, "content");
  return typeof content === "string" ? content : "";
}

function complaint(json: unknown, status: number): string {
  const message = member(member(json, "error"), "message");
  return typeof message === "string" && message !== "" ? message : `HTTP ${status}`;
}

export function readReply(status: number, headers: Headers, body: string, elapsedMs: number): Reply {
  const json = parseJson(body);
  const isOk = status >= 200 && status < 300 && json !== undefined;
  const requestId = headers.get("x-request-id") ?? headers.get("x-oneapi-request-id") ?? undefined;
  return { isOk, status, text: isOk ? said(json) : complaint(json, status), requestId, elapsedMs };
}
