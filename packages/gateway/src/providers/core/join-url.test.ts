import { describe, expect, it } from "vitest";
import { siblingPath, joinUrl } from "./join-url.ts";

describe("joinUrl", () => {
  it.each([
    ["https://api.openai.com", "/v1/models", "https://api.openai.com/v1/models"],
    ["https://host/", "/v1/models", "https://host/v1/models"],
    ["http://127.0.0.1:1234/v1", "/v1/models", "http://127.0.0.1:1234/v1/models"],
    ["https://host/v1/", "/v1/models", "https://host/v1/models"],
    ["https://host/openai/v1", "/openai/v1/responses", "https://host/openai/v1/responses"],
    ["https://host/compatible-mode/v1", "/compatible-mode/v1/models", "https://host/compatible-mode/v1/models"],
    ["https://host/api/v3", "/v1/chat/completions", "https://host/api/v3/chat/completions"],
    ["https://host/v1", "/v2/chat", "https://host/v2/chat"],
    ["https://host/v1", "/v1beta/models", "https://host/v1beta/models"],
    ["https://host/api/coding/v3", "/api/v3/chat/completions", "https://host/api/coding/v3/chat/completions"],
    ["https://host/api/coding/paas/v4", "/api/paas/v4/models", "https://host/api/coding/paas/v4/models"],
    ["https://host/paas/coding/v4", "/api/paas/v4/models", "https://host/paas/coding/v4/api/paas/v4/models"],
    ["https://host/compatible-mode/v1", "/api/v1/tasks/1", "https://host/compatible-mode/v1/api/v1/tasks/1"],
    ["https://host/v1beta/openai/", "/v1/chat/completions", "https://host/v1beta/openai/chat/completions"],
    ["https://host/team/openai", "/v1/chat/completions", "https://host/team/openai/v1/chat/completions"],
    ["https://host/team/v1x", "/v1/models", "https://host/team/v1x/v1/models"],
    [
      "https://host/openai",
      "/openai/deployments/a/b?api-version=1",
      "https://host/openai/openai/deployments/a/b?api-version=1",
    ],
    ["https://host", "/model/a%3A0/invoke", "https://host/model/a%3A0/invoke"],
    ["https://host", "https://other/x?y=1", "https://other/x?y=1"],
    ["wss://host", "/v1/realtime?model=m", "wss://host/v1/realtime?model=m"],
  ])("%s + %s", (base, path, expected) => {
    expect(joinUrl(base, path).href).toBe(expected);
  });

  it("drops what the Cloudflare AI gateway stands for, there only", () => {
    const base = "https://gateway.ai.cloudflare.com/v1/acc/gw/openai";
    expect(joinUrl(base, "/v1/chat/completions", "/v1").pathname).toBe("/v1/acc/gw/openai/chat/completions");
    expect(joinUrl("https://host", "/v1/chat/completions", "/v1").pathname).toBe("/v1/chat/completions");
  });

  it("finds paths next to the one that was pasted with the base", () => {
    expect(siblingPath("https://host/v1", ["/beta", "/v1"], "/user/balance")).toBe("https://host/user/balance");
    expect(siblingPath("https://host/a/v1/", ["/beta", "/v1"], "/user/balance")).toBe("https://host/a/user/balance");
    expect(siblingPath("https://host", ["/beta", "/v1"], "/user/balance")).toBe("/user/balance");
    expect(siblingPath("", ["/beta", "/v1"], "/user/balance")).toBe("/user/balance");
  });
});
