import { createHash, createHmac } from "node:crypto";
import type { UpstreamCall } from "../../core/types.ts";

export interface Credentials {
  readonly id: string;
  readonly secret: string;
  readonly session?: string | undefined;
  readonly region: string;
  readonly service: string;
}

/** The steps of one signature, for comparison with other implementations. */
export interface Signature {
  readonly canonicalRequest: string;
  readonly stringToSign: string;
  readonly signature: string;
}

/**
 * Signs content type, host, date and the exact bytes of the body.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
export function signV4(call: UpstreamCall, credentials: Credentials, now: number): Signature {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, "");
  const { id, session, region, service } = credentials;
  const scope = `${time.slice(0, 8)}/${region}/${service}/aws4_request`;
  const signed: Record<string, string> = {
    "content-type": call.headers["content-type"] ?? "application/json",
    host: call.url.host,
    "x-amz-date": time,
    ...(session === undefined ? {} : { "x-amz-security-token": session }),
  };
  const names = Object.keys(signed).join(";");
  const headers = Object.entries(signed)
    .map(([name, value]) => `${name}:${value}\n`)
    .join("");
  const canonicalRequest = [
    call.method,
    canonicalPath(call.url.pathname),
    canonicalQuery(call.url),
    headers,
    names,
    hash(call.body ?? ""),
  ].join("\n");
  const stringToSign = ["AWS4-HMAC-SHA256", time, scope, hash(canonicalRequest)].join("\n");
  const signature = hmac(signingKey(credentials, time.slice(0, 8)), stringToSign).toString("hex");
  const { host: _host, ...sent } = signed;
  Object.assign(call.headers, sent, {
    authorization: `AWS4-HMAC-SHA256 Credential=${id}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  });
  return { canonicalRequest, stringToSign, signature };
}

/** Encodes every segment of the sent path once more: `%3A` becomes `%253A`. */
function canonicalPath(path: string): string {
  return path.split("/").map(encode).join("/");
}

function canonicalQuery(url: URL): string {
  const pairs = [...url.searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`);
  return pairs.toSorted().join("&");
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}

function signingKey({ secret, region, service }: Credentials, date: string): Buffer {
  return [region, service, "aws4_request"].reduce(hmac, hmac(`AWS4${secret}`, date));
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function hash(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
