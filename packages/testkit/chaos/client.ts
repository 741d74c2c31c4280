import { request, type Agent, type IncomingMessage } from "node:http";

/** A request of a client. */
export interface Ask {
  readonly kind: "plain" | "retry" | "stream" | "long" | "abort";
  readonly model: string;
  readonly isStream: boolean;
  /** The client disconnects on purpose after this many milliseconds. */
  readonly leaveAfterMs?: number;
}

/**
 * The result for the client. `delivered`: the whole answer. `refused`: an error status. `cut`: a stream or body that
 * began and did not end. `unanswered`: no head arrived. `left`: the client disconnected on purpose.
 */
export type Completion = "delivered" | "refused" | "cut" | "unanswered" | "left";

export interface Outcome {
  readonly ask: Ask;
  readonly completion: Completion;
  readonly replica: string;
  /** The gateway's id of the request; undefined if no head arrived. */
  readonly id: string | undefined;
  readonly status: number;
  readonly reason: string;
  /** Milliseconds of `performance.now()`. */
  readonly startedAt: number;
  readonly endedAt: number;
}

export interface Target {
  readonly replica: string;
  readonly url: string;
  readonly key: string;
}

/** Clients of such gateways are patient, but not forever. */
const CLIENT_TIMEOUT_MS = 40_000;

/**
 * Sends one request over a connection of its own, so that no reused connection hides where it ended, or over one of an
 * agent. Never rejects.
 */
export function send(ask: Ask, { replica, url, key }: Target, agent: Agent | false = false): Promise<Outcome> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    let answer: IncomingMessage | undefined;
    let text = "";
    let isLeaving = false;
    const finish = (completion: Completion, reason: string) => {
      clearTimeout(leaving);
      clearTimeout(patience);
      const id = answer?.headers["x-request-id"];
      const status = answer?.statusCode ?? 0;
      resolve({
        ask,
        completion,
        replica,
        id: Array.isArray(id) ? id[0] : id,
        status,
        reason,
        startedAt,
        endedAt: performance.now(),
      });
    };
    const broken = (reason: string) => {
      if (isLeaving) finish("left", "");
      else finish(answer ? "cut" : "unanswered", reason);
    };
    const call = request(`${url}/v1/chat/completions`, {
      method: "POST",
      agent,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    });
    const leave = () => {
      isLeaving = true;
      call.destroy();
    };
    const leaving = ask.leaveAfterMs === undefined ? undefined : setTimeout(leave, ask.leaveAfterMs);
    const patience = setTimeout(
      () => call.destroy(new Error(`no end within ${CLIENT_TIMEOUT_MS} ms`)),
      CLIENT_TIMEOUT_MS,
    );
    call.on("error", (error) => broken(error.message));
    call.on("close", () => broken("closed"));
    call.on("response", (head) => {
      answer = head;
      head.setEncoding("utf8");
      head.on("data", (chunk: string) => (text += chunk));
      head.on("error", (error) => broken(error.message));
      head.on("end", () => {
        if (head.statusCode !== 200) finish("refused", readErrorCode(text));
        else if (isWhole(text, ask.isStream)) finish("delivered", "");
        else finish("cut", readErrorCode(text));
      });
    });
    call.end(
      JSON.stringify({
        model: ask.model,
        messages: [{ role: "user", content: "Count." }],
        ...(ask.isStream ? { stream: true } : {}),
      }),
    );
  });
}

function isWhole(text: string, isStream: boolean): boolean {
  if (isStream) return text.trimEnd().endsWith("data: [DONE]");
  try {
    return "choices" in (JSON.parse(text) as object);
  } catch {
    return false;
  }
}

/** The code of an error body or error event, for the report. */
function readErrorCode(text: string): string {
  return /"code":\s*"([^"]+)"/.exec(text)?.[1] ?? text.slice(-200);
}
