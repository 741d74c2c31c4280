import { request } from "undici";
import { AppError } from "../app-error.ts";
import { pinAddress, publicOnly, refuseUnsafeUrl, type Resolve } from "./guarded-fetch.ts";
import { createServiceAgent, type Network } from "./network.ts";
import { isForbiddenHost, SERVICE_GUARD } from "./outbound.ts";

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** True for addresses that people name: only https and only public addresses, whatever the name resolves to. */
  readonly isPublicOnly: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface Posted {
  readonly status: number;
  /** The first 4 KiB. */
  readonly text: string;
  readonly retryAfter: string | undefined;
}

/**
 * - `timeout`: no whole answer in time
 * - `refused`: the address may not be called
 * - `unreachable`: no connection
 */
export type PostFailure = "timeout" | "refused" | "unreachable";

/** Thrown if there is no answer. The message may be shown to the owner of the address. */
export class PostError extends Error {
  override readonly name = "PostError";
  readonly failure: PostFailure;

  constructor(failure: PostFailure, message: string, cause?: unknown) {
    super(message, { cause });
    this.failure = failure;
  }
}

/** Sends messages to receivers: one attempt each, no redirects, and little of the answer is read. */
export interface Poster {
  post(post: Post): Promise<Posted>;
  close(): Promise<void>;
}

export interface PosterDeps {
  readonly network: Network;
  /** Resolves all addresses of a name; default: the system's resolver. */
  readonly resolve?: Resolve | undefined;
  readonly timeoutMs?: number | undefined;
}

const TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 4 * 1024;
const NO_PUBLIC_SERVER = "no connection to a public address";

export function createPoster({ network, resolve, timeoutMs = TIMEOUT_MS }: PosterDeps): Poster {
  const lookup = publicOnly(resolve);
  const settings = { network, connectTimeoutMs: timeoutMs };
  const people = createServiceAgent({ ...settings, guard: { lookup } });
  const operator = createServiceAgent({ ...settings, guard: SERVICE_GUARD });
  return {
    async post({ url: text, headers, body, isPublicOnly, signal }) {
      const url = checkAddress(text, isPublicOnly);
      const limit = AbortSignal.timeout(timeoutMs);
      try {
        const isPinned = isPublicOnly && network.findProxy(url) !== undefined;
        const answer = await request(isPinned ? await pinAddress(url, lookup) : url, {
          method: "POST",
          headers: { "user-agent": "fairway", ...(isPinned && { host: url.host }), ...headers },
          body,
          dispatcher: (isPublicOnly ? people : operator).current(),
          signal: signal ? AbortSignal.any([signal, limit]) : limit,
        });
        const retryAfter = answer.headers["retry-after"];
        return {
          status: answer.statusCode,
          text: await readStart(answer.body),
          retryAfter: typeof retryAfter === "string" ? retryAfter : undefined,
        };
      } catch (cause) {
        signal?.throwIfAborted();
        throw describeFailure(cause, { lateMs: limit.aborted ? timeoutMs : undefined, isPublicOnly });
      }
    },
    async close() {
      await Promise.all([people.close(), operator.close()]);
    },
  };
}

/** Throws PostError for an address that may not be called. */
export function checkAddress(text: string, isPublicOnly: boolean): URL {
  if (!URL.canParse(text)) throw new PostError("refused", "the address is not a URL");
  const url = new URL(text);
  if (isPublicOnly) {
    if (url.protocol !== "https:") throw new PostError("refused", "the address must begin with https://");
    try {
      refuseUnsafeUrl(text);
    } catch (cause) {
      throw new PostError("refused", "the address is not a public one on port 443", cause);
    }
    return url;
  }
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw new PostError("refused", "the address must begin with https:// or http://");
  if (url.username !== "" || url.password !== "")
    throw new PostError("refused", "the address must not contain a user name or password");
  if (isForbiddenHost(url.hostname)) throw new PostError("refused", "the address belongs to a metadata service");
  return url;
}

/** Reads what is needed and drops the connection of an answer that is longer. */
async function readStart(
  body: AsyncIterable<Buffer> & { destroy(): unknown; on(name: "error", on: () => void): unknown },
) {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= MAX_ANSWER_BYTES) break;
  }
  body.on("error", () => undefined);
  body.destroy();
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES).toString("utf8");
}

interface Circumstances {
  /** The time limit that has passed; undefined if it has not. */
  readonly lateMs: number | undefined;
  readonly isPublicOnly: boolean;
}

/** People learn the same about a name without a server and one of this network, so they cannot look around in it. */
function describeFailure(cause: unknown, { lateMs, isPublicOnly }: Circumstances): PostError {
  if (cause instanceof PostError) return cause;
  if (lateMs !== undefined) return new PostError("timeout", `no answer within ${lateMs / 1_000} s`, cause);
  const text = cause instanceof Error ? cause.message : "";
  if (cause instanceof AppError || text.includes("is not allowed"))
    return new PostError("refused", isPublicOnly ? NO_PUBLIC_SERVER : "the address is not allowed", cause);
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (/TIMEOUT/.test(code)) return new PostError("timeout", "no answer in time", cause);
  if (isPublicOnly) return new PostError("unreachable", NO_PUBLIC_SERVER, cause);
  return new PostError("unreachable", code === "" ? "no connection" : `no connection (${code})`, cause);
}
