import type { OptionValues } from "@fairway/wire";
import { AppError } from "../../lib/app-error.ts";
import {
  refuseUnsafeUrl,
  type GuardedAnswer,
  type GuardedCall,
  type GuardedFetcher,
} from "../../lib/net/guarded-fetch.ts";

export interface RemoteFile {
  /** Detected from the first bytes. */
  readonly mediaType: string;
  readonly bytes: Buffer;
}

export interface RemoteAsk {
  readonly signal?: AbortSignal | undefined;
  readonly maxBytes?: number;
}

/** Fetches the files that requests and answers name by URL. Throws `unsafe_url` and `file_fetch_failed`. */
export interface RemoteFiles {
  read(url: string, ask?: RemoteAsk): Promise<RemoteFile>;
}

type WorkerOptions = Pick<OptionValues, "WorkerUrl" | "WorkerValidKey">;

export interface RemoteFilesDeps {
  readonly fetcher: GuardedFetcher;
  readonly options: () => WorkerOptions;
}

const MAX_BYTES = 20 * 1024 * 1024;

export function createRemoteFiles({ fetcher, options }: RemoteFilesDeps): RemoteFiles {
  return {
    async read(url, { signal, maxBytes = MAX_BYTES } = {}) {
      const answer = await fetcher.fetch({ ...throughWorker({ url }, options()), maxBytes, ...(signal && { signal }) });
      if (answer.status !== 200) throw new AppError("file_fetch_failed", { cause: `status ${answer.status}` });
      const bytes = await readBody(answer);
      const mediaType = detectMediaType(bytes, answer.headers["content-type"] ?? "");
      if (mediaType === undefined) throw new AppError("file_fetch_failed", { cause: "a file of an unknown kind" });
      return { mediaType, bytes };
    },
  };
}

/** Sends the call to the operator's worker, if there is one; it resolves names itself. Throws `unsafe_url`. */
export function throughWorker(call: GuardedCall, { WorkerUrl, WorkerValidKey }: WorkerOptions): GuardedCall {
  if (WorkerUrl === "") return call;
  const isTrusted = URL.canParse(call.url) && new URL(call.url).host === call.trustedHost;
  if (!isTrusted) refuseUnsafeUrl(call.url);
  return {
    ...call,
    url: WorkerUrl,
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ url: call.url, key: WorkerValidKey }),
    trustedHost: new URL(WorkerUrl).host,
  };
}

async function readBody({ body }: GuardedAnswer): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts);
}

/** Detects the types that models accept; the type that the sender declares decides for plain text only. */
function detectMediaType(bytes: Buffer, named: string): string | undefined {
  const start = bytes.toString("latin1", 0, 12);
  const found = KINDS.find(([pattern]) => pattern.test(start))?.[1];
  if (found !== undefined) return found;
  return /^text\/plain\b/i.test(named) ? "text/plain" : undefined;
}

const KINDS: readonly (readonly [RegExp, string])[] = [
  // oxlint-disable-next-line no-control-regex -- the first bytes of a PNG file
  [/^\x89PNG\r\n\x1a\n/, "image/png"],
  [/^\xff\xd8\xff/, "image/jpeg"],
  [/^GIF8[79]a/, "image/gif"],
  [/^RIFF[^]{4}WEBP/, "image/webp"],
  [/^[^]{4}ftyp(?:heic|heix|mif1|msf1)/, "image/heic"],
  [/^[^]{4}ftypavif/, "image/avif"],
  [/^%PDF-/, "application/pdf"],
];
