// Signatures and tables, compared step by step with the numbers of the vectors.
import { count, object, objects, text } from "../../src/dialects/core/read.ts";
import type { JsonObject } from "../../src/dialects/core/types.ts";
import { klingToken } from "../../src/providers/vendors/kling/jwt.ts";
import { parseSparkKey, signSparkUrl, sparkSignature } from "../../src/providers/vendors/spark/sign.ts";
import { sparkVersion } from "../../src/providers/vendors/spark/version.ts";
import { signTc3 } from "../../src/providers/vendors/tencent/tc3.ts";
import { zhipuToken } from "../../src/providers/vendors/zhipu/jwt.ts";
import { VectorMismatch, expectSame } from "./compare.ts";
import type { Vector } from "./load.ts";

const SIGNERS: Readonly<Record<string, (vector: Vector, expected: JsonObject) => void>> = {
  "spark-sign": signSpark,
  "hunyuan-sign-tc3": signTencent,
  "zhipu-jwt": signZhipu,
  "kling-jwt": signKling,
};

export async function runSign(vector: Vector): Promise<void> {
  const sign = SIGNERS[vector.name];
  if (sign === undefined) throw new VectorMismatch(`no signer for ${vector.name}`);
  sign(vector, object(vector.json, "expected") ?? {});
  await Promise.resolve();
}

function signSpark(vector: Vector, expected: JsonObject): void {
  const key = parseSparkKey(text(vector.channel, "key") ?? "");
  for (const entry of objects(expected, "cases")) {
    const path = text(entry, "path") ?? "";
    const date = text(entry, "date") ?? "";
    const made = sparkSignature(key, "spark-api.xf-yun.com", path, date);
    expectSame(made.signingString, entry["signing_string"], "signing string");
    expectSame(made.signature, entry["signature"], "signature");
    expectSame(made.authorization, entry["authorization"], "authorization");
    if (entry["who"] !== undefined) continue;
    const url = new URL(`wss://spark-api.xf-yun.com${path}`);
    signSparkUrl(url, key, vector.now);
    expectSame(url.href, entry["url"], "url");
  }
}

function signTencent(vector: Vector, expected: JsonObject): void {
  for (const entry of objects(expected, "cases")) {
    const hasAction = text(entry, "signed_headers")?.includes("x-tc-action") === true;
    const made = signTc3({
      secretId: text(expected, "secret_id") ?? "",
      secretKey: text(expected, "secret_key") ?? "",
      host: "hunyuan.tencentcloudapi.com",
      contentType: text(entry, "content_type") ?? "",
      ...(hasAction ? { action: "ChatCompletions" } : {}),
      body: text(expected, "payload") ?? "",
      timestamp: vector.now / 1000,
    });
    expectSame(made.canonicalRequest, entry["canonical_request"], "canonical request");
    expectSame(made.stringToSign, entry["string_to_sign"], "string to sign");
    expectSame(made.authorization, entry["authorization"], "authorization");
  }
}

/** The variant with the type in its header is the one of other programs; the server takes both. */
function signZhipu(vector: Vector, expected: JsonObject): void {
  for (const variant of objects(expected, "variants")) {
    if (object(variant, "header")?.["typ"] !== undefined) continue;
    const until = count(object(variant, "claims"), "exp") ?? 0;
    expectSame(
      zhipuToken(text(vector.channel, "key") ?? "", vector.now, until - vector.now),
      variant["token"],
      "token",
    );
  }
}

/** The order of claims is free; the server takes both variants. */
function signKling(vector: Vector, expected: JsonObject): void {
  const [variant] = objects(expected, "variants");
  expectSame(klingToken(text(vector.channel, "key") ?? "", vector.now), variant?.["token"], "token");
}

export async function runMapping(vector: Vector): Promise<void> {
  if (vector.name !== "spark-version-table") throw new VectorMismatch(`no table for ${vector.name}`);
  for (const row of objects(vector.json, "cases")) {
    const { path, domain } = sparkVersion(
      text(row, "model") ?? "",
      text(row, "query") || undefined,
      text(row, "other") ?? "",
    );
    expectSame({ path, domain }, { path: row["path"], domain: row["domain"] }, text(row, "model") ?? "");
  }
  await Promise.resolve();
}
