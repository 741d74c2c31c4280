import { createHmac } from "node:crypto";
import { request, type Dispatcher } from "undici";
import { parseObject } from "../../../lib/text/json.ts";
import { createServiceAgent, type Network } from "../../../lib/net/network.ts";
import { refuseForbidden, SERVICE_GUARD } from "../../../lib/net/outbound.ts";
import { isTimeLimit } from "../../../lib/net/time-limit.ts";
import type { GuardrailPolicy } from "../../../snapshot/guardrail-policy.ts";

/** A question to the operator's service: the JSON of a call. */
export interface Question {
  readonly version: 1;
  readonly request_id: string;
  readonly phase: "prompt" | "answer";
  readonly operation: string;
  readonly dialect: string;
  readonly model: string;
  readonly group: string;
  readonly user: { readonly id: number; readonly name: string };
  readonly token: { readonly id: number; readonly name: string };
  readonly stream: boolean;
  /** Number of the window of a stream, from 0; whole texts are window 0. */
  readonly window: number;
  readonly text: string;
  /** Text that was released before this text; "" for complete texts. */
  readonly context: string;
}

export type Verdict =
  | { readonly action: "allow" }
  | { readonly action: "block"; readonly reason: string }
  /** No verdict; `why` is for the operator. */
  | { readonly action: "failed"; readonly why: string };

/** The operator's service. */
export interface Webhook {
  /** Never rejects. `signal` ends the call when the verdict is no longer needed. */
  ask(policy: GuardrailPolicy, question: Question, signal?: AbortSignal): Promise<Verdict>;
  close(): Promise<void>;
}

const CONNECTIONS = 256;
const MAX_ANSWER_BYTES = 64 * 1024;
const LONGEST_REASON = 500;
const CLOSED: ReadonlySet<string> = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"]);

/** The address is the operator's own, so private networks are allowed; link-local addresses and redirects are not. */
export function createWebhook(now: () => number, network: Network): Webhook {
  const agent = createServiceAgent({ network, guard: SERVICE_GUARD, connections: CONNECTIONS });
  return {
    async ask(policy, question, signal) {
      try {
        return await call(agent.current(), policy, question, { now, signal });
      } catch (error) {
        return { action: "failed", why: describeFailure(error, policy) };
      }
    },
    close: () => agent.close(),
  };
}

interface CallSettings {
  readonly now: () => number;
  readonly signal: AbortSignal | undefined;
}

async function call(
  dispatcher: Dispatcher,
  policy: GuardrailPolicy,
  question: Question,
  { now, signal }: CallSettings,
): Promise<Verdict> {
  const late = AbortSignal.timeout(policy.timeoutMs);
  const url = new URL(policy.url);
  refuseForbidden(url.hostname.replace(/^\[|\]$/g, ""));
  const body = Buffer.from(JSON.stringify(question));
  const send = () =>
    request(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": "fairway",
        "x-fairway-signature": signBody(body, policy.secret.reveal(), Math.floor(now() / 1000)),
      },
      body,
      dispatcher,
      signal: signal ? AbortSignal.any([signal, late]) : late,
    });
  const answer = await send().catch((error: unknown) => {
    if (isClosed(error)) return send();
    throw error;
  });
  const text = await readLimited(answer.body);
  if (answer.statusCode !== 200) return { action: "failed", why: `status ${answer.statusCode}` };
  return parseVerdict(text);
}

/** True if the other side closed a reused connection at the moment of the call. */
function isClosed(error: unknown): boolean {
  return error instanceof Error && "code" in error && CLOSED.has(String(error.code));
}

/** Returns `t=<seconds>,v1=<hex>` over the time, a full stop and the body, so that old calls cannot be replayed. */
export function signBody(body: Buffer, secret: string, seconds: number): string {
  const digest = createHmac("sha256", secret).update(`${seconds}.`).update(body).digest("hex");
  return `t=${seconds},v1=${digest}`;
}

async function readLimited(body: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > MAX_ANSWER_BYTES) throw new Error(`the answer exceeds ${MAX_ANSWER_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function parseVerdict(text: string): Verdict {
  const answer = parseObject(text);
  const reason = typeof answer?.["reason"] === "string" ? answer["reason"].slice(0, LONGEST_REASON) : "";
  if (answer?.["action"] === "allow") return { action: "allow" };
  if (answer?.["action"] === "block") return { action: "block", reason };
  return { action: "failed", why: "the answer is not a verdict" };
}

function describeFailure(error: unknown, { timeoutMs }: GuardrailPolicy): string {
  if (isTimeLimit(error)) return `no answer within ${timeoutMs} ms`;
  return error instanceof Error ? error.message : String(error);
}
