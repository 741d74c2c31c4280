import { describe, expect, it } from "vitest";
import { parseAwsKey, runtimeHost } from "./key.ts";
import { bedrockId, isClaude } from "./model-id.ts";

describe("bedrockId", () => {
  it.each([
    ["claude-3-5-sonnet-20241022", "us-east-1", "anthropic.claude-3-5-sonnet-20241022-v2:0"],
    ["claude-3-haiku-20240307", "us-east-1", "anthropic.claude-3-haiku-20240307-v1:0"],
    ["claude-2.1", "us-east-1", "anthropic.claude-v2:1"],
    ["claude-haiku-4-5-20251001", "us-east-1", "us.anthropic.claude-haiku-4-5-20251001-v1:0"],
    ["claude-sonnet-5", "eu-central-1", "eu.anthropic.claude-sonnet-5"],
    ["claude-opus-4-6", "ap-southeast-2", "au.anthropic.claude-opus-4-6-v1"],
    ["claude-haiku-4-5-20251001", "ap-northeast-1", "jp.anthropic.claude-haiku-4-5-20251001-v1:0"],
    ["claude-haiku-4-5-20251001", "ap-south-1", "global.anthropic.claude-haiku-4-5-20251001-v1:0"],
    ["claude-sonnet-4-20250514", "ap-northeast-1", "apac.anthropic.claude-sonnet-4-20250514-v1:0"],
    ["claude-3-7-sonnet-20250219-thinking", "us-west-2", "us.anthropic.claude-3-7-sonnet-20250219-v1:0"],
    ["claude-opus-4-8", "sa-east-1", "global.anthropic.claude-opus-4-8"],
    ["us.amazon.nova-lite-v1:0", "us-east-1", "us.amazon.nova-lite-v1:0"],
    ["meta.llama3-70b-instruct-v1:0", "us-east-1", "meta.llama3-70b-instruct-v1:0"],
  ])("%s in %s", (model, region, id) => {
    expect(bedrockId(model, `id|secret|${region}`)).toBe(id);
  });

  it("knows Claude under all its names", () => {
    expect(["claude-3", "anthropic.claude-v2", "eu.anthropic.claude-sonnet-5"].every(isClaude)).toBe(true);
    expect(isClaude("us.amazon.nova-lite-v1:0")).toBe(false);
  });
});

describe("parseAwsKey", () => {
  it("takes the region from any place", () => {
    expect(parseAwsKey("AK|SK|us-east-1")).toEqual({ kind: "signed", region: "us-east-1", id: "AK", secret: "SK" });
    expect(parseAwsKey("us-east-1|AK|SK|token")).toMatchObject({ session: "token" });
    expect(parseAwsKey("us-east-1|ABSK123")).toEqual({ kind: "bearer", region: "us-east-1", token: "ABSK123" });
    expect(runtimeHost("AK|SK|cn-north-1")).toBe("https://bedrock-runtime.cn-north-1.amazonaws.com.cn");
  });

  it.each(["", "AK|SK", "AK|SK|us-east-1|a|b"])("refuses %j before any call", (key) => {
    expect(() => parseAwsKey(key)).toThrow("AK|SK|region");
  });
});
