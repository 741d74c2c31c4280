import { createHash, createHmac } from "node:crypto";

export interface Tc3Parts {
  readonly secretId: string;
  readonly secretKey: string;
  readonly host: string;
  readonly contentType: string;
  /** The action, which is signed if it is given; in lower case in the canonical request. */
  readonly action?: string;
  readonly body: Buffer | string;
  /** Epoch seconds. */
  readonly timestamp: number;
}

/** The steps of one signature; https://cloud.tencent.com/document/api/1729/101843 */
export interface Tc3Signature {
  readonly canonicalRequest: string;
  readonly stringToSign: string;
  readonly signature: string;
  readonly authorization: string;
}

const SERVICE = "hunyuan";

export function signTc3(parts: Tc3Parts): Tc3Signature {
  const { secretId, secretKey, host, contentType, action, body, timestamp } = parts;
  const date = new Date(timestamp * 1000).toISOString().slice(0, 10);
  const signed = {
    "content-type": contentType,
    host,
    ...(action === undefined ? {} : { "x-tc-action": action.toLowerCase() }),
  };
  const names = Object.keys(signed).join(";");
  const headers = Object.entries(signed)
    .map(([name, value]) => `${name}:${value}\n`)
    .join("");
  const canonicalRequest = ["POST", "/", "", headers, names, hash(body)].join("\n");
  const scope = `${date}/${SERVICE}/tc3_request`;
  const stringToSign = ["TC3-HMAC-SHA256", timestamp, scope, hash(canonicalRequest)].join("\n");
  const key = [SERVICE, "tc3_request"].reduce(hmac, hmac(`TC3${secretKey}`, date));
  const signature = hmac(key, stringToSign).toString("hex");
  const authorization = `TC3-HMAC-SHA256 Credential=${secretId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return { canonicalRequest, stringToSign, signature, authorization };
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function hash(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
