import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";

/** The answer of the storage if it refuses an object. */
export interface BucketRefusal {
  readonly status: number;
  /** Code of the error document; absent for an answer of a proxy in front of the storage. */
  readonly code?: string;
  /** Stores the object anyway, as if only the answer was lost. */
  readonly isStored?: boolean;
}

/**
 * S3-compatible storage with one bucket. It checks signatures (version 4) and accepts objects of gzipped JSON lines.
 */
export interface Bucket {
  /** Address of the bucket. */
  readonly url: string;
  readonly keyId: string;
  readonly key: string;
  /** Returns the object names in the bucket, sorted. */
  names(): string[];
  /** Returns the lines of all objects, in the order of names. */
  lines(): Record<string, unknown>[];
  /** Number of uploaded objects, including repetitions. */
  readonly puts: number;
  refuse(refusal: BucketRefusal | undefined): void;
  stop(): Promise<void>;
}

const REGION = "eu-test-1";
const [KEY_ID, KEY] = ["TESTKEYID", "test/secret+key"];

export async function startBucket(): Promise<Bucket> {
  const objects = new Map<string, Buffer>();
  let puts = 0;
  let refusal: BucketRefusal | undefined;

  const put = (request: IncomingMessage, body: Buffer, response: ServerResponse) => {
    const path = request.url ?? "/";
    const fault = findFault(request, body);
    if (fault !== undefined) return fail(response, 403, fault);
    if (refusal && !refusal.isStored) return fail(response, refusal.status, refusal.code);
    if (!path.startsWith("/logs-bucket/")) return fail(response, 404, "NoSuchBucket");
    puts += 1;
    objects.set(path.slice("/logs-bucket/".length), body);
    if (refusal) return fail(response, refusal.status, refusal.code);
    response.writeHead(200).end();
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => put(request, Buffer.concat(chunks), response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const names = () => [...objects.keys()].sort();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/logs-bucket`,
    keyId: KEY_ID,
    key: KEY,
    names,
    lines: () => names().flatMap((name) => parseLines(objects.get(name))),
    get puts() {
      return puts;
    },
    refuse: (next) => void (refusal = next),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const BUCKET_REGION = REGION;

function parseLines(body: Buffer | undefined): Record<string, unknown>[] {
  const text = body ? gunzipSync(body).toString() : "";
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

function fail(response: ServerResponse, status: number, code = ""): void {
  const document = code === "" ? "" : `<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`;
  response.writeHead(status, { "content-type": "application/xml" }).end(document);
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;

/** Returns the error code for a request without a valid signature. */
function findFault(request: IncomingMessage, body: Buffer): string | undefined {
  const { headers } = request;
  const found = AUTHORIZATION.exec(headers.authorization ?? "");
  if (!found) return "AccessDenied";
  const [keyId, date, region, names, signature] = found.slice(1) as [string, string, string, string, string];
  if (keyId !== KEY_ID) return "InvalidAccessKeyId";
  if (region !== REGION) return "AuthorizationHeaderMalformed";
  if (headers["x-amz-content-sha256"] !== sha256(body)) return "XAmzContentSHA256Mismatch";
  const signed = names.split(";").map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const canonical = [request.method, request.url, "", signed.join(""), names, sha256(body)].join("\n");
  const expected = calculateSignature(canonical, { date, region, time: String(headers["x-amz-date"]) });
  return timingSafeEqual(expected, Buffer.from(signature, "hex")) ? undefined : "SignatureDoesNotMatch";
}

interface Scope {
  readonly date: string;
  readonly region: string;
  readonly time: string;
}

function calculateSignature(canonical: string, { date, region, time }: Scope): Buffer {
  const text = ["AWS4-HMAC-SHA256", time, `${date}/${region}/s3/aws4_request`, sha256(canonical)].join("\n");
  const key = [date, region, "s3", "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${KEY}`);
  return hmac(key, text);
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function sha256(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
