import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createUpstreamCall } from "../../../../test/kit/provider-kit.ts";
import { createSigner, signV4 } from "./sigv4.ts";

const VECTORS = new URL("../../../../vectors/", import.meta.url);

interface Signed {
  readonly upstream_request: { readonly url: string; readonly body_raw: string };
  readonly sigv4: { readonly canonical_request: string; readonly string_to_sign: string; readonly signature: string };
}

describe("signV4", () => {
  it.each([
    "aws-claude-invoke-plain",
    "aws-converse-plain",
    "aws-converse-tools-stream",
    "aws-embeddings-titan",
    "aws-stream-exception-frame",
  ])("%s, step by step", async (name) => {
    const vector = JSON.parse(readFileSync(new URL(`${name}.json`, VECTORS), "utf8")) as Signed;
    const call = createUpstreamCall(vector.upstream_request.url, Buffer.from(vector.upstream_request.body_raw));
    const credentials = { id: "AKIDEXAMPLE", secret: "example-secret-key", region: "us-east-1", service: "bedrock" };
    const signer = createSigner(call, credentials, 1_790_000_000_000);
    expect(await signer.canonicalString()).toBe(vector.sigv4.canonical_request);
    expect(await signer.stringToSign()).toBe(vector.sigv4.string_to_sign);
    await signV4(call, credentials, 1_790_000_000_000);
    expect(call.headers["authorization"]).toMatch(new RegExp(`Signature=${vector.sigv4.signature}$`));
  });

  it("signs the session token and sorts the query", async () => {
    const call = createUpstreamCall("https://host.example/path?b=2&a=1", {});
    const credentials = { id: "id", secret: "secret", session: "token", region: "eu-west-1", service: "bedrock" };
    const canonicalRequest = await createSigner(call, credentials, 0).canonicalString();
    await signV4(call, credentials, 0);
    expect(canonicalRequest.split("\n").slice(0, 3)).toEqual(["POST", "/path", "a=1&b=2"]);
    expect(call.headers["authorization"]).toContain("SignedHeaders=content-type;host;x-amz-date;x-amz-security-token");
    expect(call.headers["x-amz-security-token"]).toBe("token");
  });
});
