import { createHmac } from "node:crypto";
import { UpstreamRefusal } from "../../core/failed-answer.ts";
import { upstreamError } from "../../core/errors/upstream-error.ts";

export interface SparkKey {
  readonly appId: string;
  readonly secret: string;
  readonly apiKey: string;
}

/** Parses `APPID|APISecret|APIKey`; anything else is refused before a connection is opened. */
export function parseSparkKey(key: string): SparkKey {
  const [appId = "", secret = "", apiKey = "", ...more] = key.split("|").map((part) => part.trim());
  if (appId === "" || secret === "" || apiKey === "" || more.length > 0) {
    throw new UpstreamRefusal(
      upstreamError({
        class: "bad_key",
        status: 400,
        message: "invalid auth",
        code: "invalid_auth",
        param: "",
        retry: false,
        disable: false,
      }),
    );
  }
  return { appId, secret, apiKey };
}

/** The steps of one signature; https://www.xfyun.cn/doc/spark/general_url_authentication.html */
export interface SparkSignature {
  readonly signingString: string;
  readonly signature: string;
  readonly authorization: string;
}

/** @param date in RFC 1123 form */
export function sparkSignature(
  key: Pick<SparkKey, "secret" | "apiKey">,
  host: string,
  path: string,
  date: string,
): SparkSignature {
  const signingString = `host: ${host}\ndate: ${date}\nGET ${path} HTTP/1.1`;
  const signature = createHmac("sha256", key.secret).update(signingString).digest("base64");
  const origin = `hmac username="${key.apiKey}", algorithm="hmac-sha256", headers="host date request-line", signature="${signature}"`;
  return { signingString, signature, authorization: Buffer.from(origin).toString("base64") };
}

/** Puts the signature into the query. It is valid for five minutes, so such a URL must not be logged. */
export function signSparkUrl(url: URL, key: SparkKey, now: number): void {
  const date = new Date(now).toUTCString();
  const { authorization } = sparkSignature(key, url.host, url.pathname, date);
  url.search = new URLSearchParams({ authorization, date, host: url.host }).toString();
}
