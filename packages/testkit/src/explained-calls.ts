import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { createChannel, createToken, setOptions, type Session } from "./api.ts";

/** Request ids of calls with the results that operators ask about. */
export interface ExplainedCalls {
  /** 429: the second call within a minute for a token that may make one. */
  readonly limit: string;
  /** Answered by the second channel. */
  readonly failover: string;
  /** 400: the guardrail refused the prompt. */
  readonly guardrail: string;
  /** A stream that the guardrail stopped. */
  readonly guardedStream: string;
  /** A stream that the upstream cut off. */
  readonly cut: string;
  /** 403: a budget was used up before the call. */
  readonly budget: string;
  /** A stream that a budget ended. */
  readonly budgetStream: string;
  /** Repeated from the response cache. */
  readonly cached: string;
}

/** The guardrail's reason in the rows. */
export const GUARDRAIL_REASON = "insults";
const ROW_TIMEOUT_MS = 20_000;

/** Makes one call of each kind with its own channels, limits and budgets; resolves when all are in the log. */
export async function makeExplainedCalls(root: Session, upstreamUrl: string): Promise<ExplainedCalls> {
  const judge = await startJudge();
  try {
    await setUp(root, upstreamUrl, judge.url);
    const key = await createToken(root, { name: "explained" });
    const limited = await createToken(root, { name: "one a minute", limits: { rpm: 1 } });
    const ask = (model: string, more: object = {}, token = key) => send(root.url, token, { model, ...more });
    const stream = { stream: true };
    const cold = { temperature: 0 };
    await ask("ask-plain", {}, limited);
    await ask("ask-cached", cold);
    const calls = {
      limit: await ask("ask-plain", {}, limited),
      failover: await ask("ask-failover"),
      guardrail: await ask("ask-guarded", { messages: [{ role: "user", content: "an insult" }] }),
      guardedStream: await ask("ask-guarded", stream),
      cut: await ask("ask-cut", stream),
      budget: await ask("ask-budget"),
      budgetStream: await ask("ask-budget-stream", stream),
      cached: await ask("ask-cached", cold),
    };
    for (const id of Object.values(calls)) await logged(root, id);
    return calls;
  } finally {
    await judge.close();
  }
}

async function setUp(root: Session, upstreamUrl: string, judgeUrl: string): Promise<void> {
  await setOptions(root, {
    SelfUseModeEnabled: "true",
    RetryTimes: "1",
    ResponseCacheEnabled: "true",
    ResponseCacheModels: "ask-cached",
    GuardrailUrl: judgeUrl,
    GuardrailSecret: "the secret of a test",
    GuardrailOnFailure: "block",
    GuardrailModels: "ask-guarded",
    GuardrailEnabled: "true",
  });
  const channel = (name: string, mapping: Readonly<Record<string, string>>, priority = 0) =>
    createChannel(root, {
      name,
      base_url: upstreamUrl,
      models: Object.keys(mapping).join(","),
      model_mapping: JSON.stringify(mapping),
      priority,
    });
  await channel("fails first", { "ask-failover": "status-500" }, 9);
  await channel("answers all", {
    "ask-plain": "plain",
    "ask-failover": "plain",
    "ask-guarded": "plain",
    "ask-cut": "cut-after-3",
    "ask-budget": "plain",
    "ask-budget-stream": "slow-1+long-9000",
    "ask-cached": "plain",
  });
  const budget = { scope: "model", period: "day" };
  await root.must("POST", "/api/budget/", { ...budget, subject: "ask-budget", quota_limit: 1 });
  await root.must("POST", "/api/budget/", { ...budget, subject: "ask-budget-stream", quota_limit: 2_500 });
}

/** Returns the request id; a stream may break off. */
async function send(url: string, key: string, body: object): Promise<string> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content: "hi" }], ...body }),
  });
  await response.text().catch(() => "");
  return response.headers.get("x-request-id") ?? "";
}

async function logged(root: Session, id: string): Promise<void> {
  const until = Date.now() + ROW_TIMEOUT_MS;
  while (Date.now() < until) {
    const { total } = await root.must<{ total: number }>("GET", `/api/log/?request_id=${id}`);
    if (total > 0) return;
    await pause(100);
  }
  throw new Error(`the request ${id} is not in the log after ${ROW_TIMEOUT_MS} ms`);
}

/** A guardrail that refuses insults and every answer. */
async function startJudge(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    void verdictOn(request).then((verdict) => response.end(JSON.stringify(verdict)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/judge`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function verdictOn(request: IncomingMessage): Promise<object> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const { phase, text } = JSON.parse(Buffer.concat(parts).toString()) as { phase: string; text: string };
  const isRefused = phase === "answer" || text.includes("insult");
  return isRefused ? { action: "block", reason: GUARDRAIL_REASON } : { action: "allow" };
}
