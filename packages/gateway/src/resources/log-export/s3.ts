import { AwsV4Signer } from "aws4fetch";
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Clock } from "../../lib/clock.ts";
import type { Send, Sent } from "../../lib/net/send.ts";
import type { Secret } from "../../lib/secret.ts";
import { ExportError, type Batch, type Destination, type FailureReason } from "./destination.ts";
import { deliver, readRetryAfter } from "./deliver.ts";
import { formatLogLine } from "./rows.ts";

export interface S3Settings {
  /** Address of the bucket with the prefix of object names: `https://s3.example.org/bucket/prefix`. */
  readonly url: string;
  readonly region: string;
  readonly keyId: string;
  readonly key: Secret;
  readonly clock: Clock;
  readonly send: Send;
  readonly rowsAtOnce?: number;
  readonly everyMs?: number;
}

const ROWS_AT_ONCE = 20_000;
const EVERY_MS = 60_000;
const ID_DIGITS = 19;
const zip = promisify(gzip);
const VARIABLE = "FAIRWAY_LOG_EXPORT_S3_URL";

/**
 * Creates a destination for objects of JSON lines. A batch that is resent replaces its own object, and names sort in
 * the order of the rows.
 */
export function createS3Destination(settings: S3Settings): Destination {
  const { url, send, rowsAtOnce = ROWS_AT_ONCE, everyMs = EVERY_MS } = settings;
  return {
    name: "s3",
    rowsAtOnce,
    everyMs,
    async send(batch, signal) {
      const body = new Uint8Array(await zip(batch.rows.map((row) => `${formatLogLine(row)}\n`).join("")));
      const target = `${url}/${buildObjectName(batch)}`;
      const headers = await signed(target, body, settings);
      const sent = await deliver({ send, variable: VARIABLE, url: target, method: "PUT", headers, body, signal });
      if (sent.status !== 200) throw buildExportError(sent);
      return 0;
    },
  };
}

/** Returns a name with the ids of the batch, padded to equal length. */
function buildObjectName({ after, to }: Batch): string {
  const digits = (id: number) => String(id).padStart(ID_DIGITS, "0");
  return `${digits(after + 1)}-${digits(to)}.jsonl.gz`;
}

async function signed(
  url: string,
  body: Uint8Array<ArrayBuffer>,
  settings: S3Settings,
): Promise<Record<string, string>> {
  const { keyId: accessKeyId, key, region, clock } = settings;
  const signer = new AwsV4Signer({
    method: "PUT",
    url,
    body,
    accessKeyId,
    secretAccessKey: key.reveal(),
    region,
    service: "s3",
    datetime: new Date(clock.now()).toISOString().replaceAll(/[-:]|\.\d{3}/g, ""),
    headers: {
      "content-type": "application/gzip",
      "x-amz-content-sha256": createHash("sha256").update(body).digest("hex"),
    },
  });
  const { headers } = await signer.sign();
  headers.delete("host");
  return Object.fromEntries(headers);
}

interface Failure {
  readonly reason: FailureReason;
  readonly cure: string;
}

const KEYS = "FAIRWAY_LOG_EXPORT_S3_KEY_ID and FAIRWAY_LOG_EXPORT_S3_KEY";
const FULL: Failure = { reason: "full", cure: "make room: raise the quota of the bucket or delete old objects" };
const REGION: Failure = { reason: "refused", cure: "set FAIRWAY_LOG_EXPORT_S3_REGION to the region of the bucket" };
/** Failures by the code of the response. */
const FAILURES: Readonly<Record<string, Failure>> = {
  AccessDenied: { reason: "denied", cure: "let the key put objects below the address, or correct its policy" },
  InvalidAccessKeyId: { reason: "denied", cure: `correct ${KEYS}` },
  SignatureDoesNotMatch: { reason: "denied", cure: `correct ${KEYS}, and FAIRWAY_LOG_EXPORT_S3_REGION` },
  RequestTimeTooSkewed: { reason: "denied", cure: "correct the clock of this machine" },
  NoSuchBucket: { reason: "missing", cure: `make the bucket, or correct ${VARIABLE}` },
  QuotaExceeded: FULL,
  XMinioStorageFull: FULL,
  XMinioAdminBucketQuotaExceeded: FULL,
  AuthorizationHeaderMalformed: REGION,
  PermanentRedirect: REGION,
  TemporaryRedirect: REGION,
};

const INSUFFICIENT_STORAGE = 507;
const TOO_MANY = 429;

function buildExportError(sent: Sent): ExportError {
  const [, code = ""] = /<Code>(\w{1,60})<\/Code>/.exec(sent.text) ?? [];
  const { reason, cure } = (Object.hasOwn(FAILURES, code) ? FAILURES[code] : undefined) ?? byStatus(sent.status);
  return new ExportError(
    reason,
    `the bucket answers ${sent.status}${code && ` ${code}`}: ${cure}`,
    readRetryAfter(sent),
  );
}

function byStatus(status: number): Failure {
  if (status === INSUFFICIENT_STORAGE) return FULL;
  if (status === TOO_MANY || status >= 500) return { reason: "busy", cure: "wait, or look at its own log" };
  if (status === 401 || status === 403) return { reason: "denied", cure: `correct ${KEYS}` };
  if (status >= 300 && status < 400) return REGION;
  return {
    reason: "refused",
    cure: `correct ${VARIABLE}: it is the address of a bucket, such as https://s3.example.org/bucket`,
  };
}
