import { describe, expect, it } from "vitest";
import { isRelayPath, matchRoute } from "./routes.ts";

describe("matchRoute", () => {
  it.each([
    ["/v1/chat/completions", "chat", "openai-chat", "openai"],
    ["/v1/completions", "completions", "openai-completions", "openai"],
    ["/v1/responses", "responses", "openai-responses", "openai-responses"],
    ["/v1/responses/compact", "responses", "openai-compaction", "openai-responses"],
    ["/v1/responses/input_tokens", "count_tokens", "openai-input-tokens", "openai-responses"],
    ["/v1/embeddings", "embeddings", "openai-embeddings", "openai"],
    ["/v1/messages", "chat", "anthropic-messages", "anthropic"],
    ["/v1beta/openai/chat/completions", "chat", "openai-chat", "openai"],
  ])("POST %s", (path, operation, dialect, errors) => {
    expect(matchRoute("POST", path)).toMatchObject({ kind: "relay", operation, dialect, errors, pathModel: undefined });
  });

  it("reads model and verb of Gemini paths, with slashes inside the name", () => {
    expect(matchRoute("POST", "/v1beta/models/google/gemini-3:streamGenerateContent")).toMatchObject({
      kind: "relay",
      dialect: "gemini-generate",
      pathModel: "google/gemini-3",
      isStreamPath: true,
    });
    expect(matchRoute("POST", "/v1/models/gemini-3:generateContent")).toMatchObject({
      isStreamPath: false,
      errors: "gemini",
    });
    expect(matchRoute("POST", "/v1beta/models/gemini-3:fly")).toEqual({ kind: "unknown", errors: "gemini" });
  });

  it("knows model lists and single models of each prefix", () => {
    expect(matchRoute("GET", "/v1/models")).toEqual({ kind: "models", model: undefined, prefix: "v1" });
    expect(matchRoute("GET", "/v1/models/gpt-4o")).toEqual({ kind: "models", model: "gpt-4o", prefix: "v1" });
    expect(matchRoute("GET", "/v1/models/meta/llama3:free")).toEqual({
      kind: "models",
      model: "meta/llama3:free",
      prefix: "v1",
    });
    expect(matchRoute("GET", "/v1/models/")).toEqual({ kind: "models", model: undefined, prefix: "v1" });
    expect(matchRoute("GET", "/v1/models/gpt-4o/")).toEqual({ kind: "models", model: "gpt-4o", prefix: "v1" });
    expect(matchRoute("GET", "/v1beta/models/gemini-3")).toEqual({
      kind: "models",
      model: "gemini-3",
      prefix: "v1beta",
    });
  });

  it.each([
    "/mj/submit/imagine",
    "/mj-fast/mj/submit/imagine",
    "/suno/fetch",
    "/kling/v1/videos/text2video",
    "/v1/video/generations",
    "/v1/videos",
    "/v1/videos/v1/content",
  ])("%s is a task", (path) => {
    expect(matchRoute("POST", path)).toEqual({ kind: "task", errors: "openai" });
  });

  it("reads calls about stored responses", () => {
    expect(matchRoute("GET", "/v1/responses/resp_1/input_items")).toMatchObject({
      kind: "stored",
      id: "resp_1",
      rest: "/input_items",
    });
    expect(matchRoute("DELETE", "/v1/responses/resp_1")).toMatchObject({ kind: "stored", method: "DELETE", rest: "" });
    expect(matchRoute("GET", "/v1/responses/resp_1/cancel")).toMatchObject({ kind: "wrong-method", allow: "POST" });
  });

  it("distinguishes a wrong method from an unknown path", () => {
    expect(matchRoute("GET", "/v1/chat/completions")).toEqual({
      kind: "wrong-method",
      allow: "POST",
      errors: "openai",
    });
    expect(matchRoute("PUT", "/v1/messages")).toEqual({ kind: "wrong-method", allow: "POST", errors: "anthropic" });
    expect(matchRoute("POST", "/v1/chat/completions/")).toEqual({ kind: "unknown", errors: "openai" });
    expect(matchRoute("POST", "//v1/chat/completions")).toMatchObject({ kind: "unknown" });
  });

  it.each([
    "/v1beta/files:register",
    "/v1/assistants",
    "/v1/edits",
    "/v1/realtime/calls",
    "/v1/conversations/conv_1/items",
    "/v1/chat/completions/chatcmpl-1",
  ])("%s is known and not implemented", (path) => {
    expect(matchRoute("POST", path).kind).toBe("unimplemented");
  });

  it.each([
    "/v1/uploads",
    "/v1/uploads/upload_1/parts",
    "/v1/uploads/upload_1/complete",
    "/v1/files",
    "/v1/files/file-1",
    "/v1/files/file-1/content",
    "/upload/v1/files",
    "/upload/v1beta/files",
    "/v1beta/files/abc",
    "/v1beta/files/abc:download",
    "/download/v1beta/files/abc:download",
  ])("%s is a call about files", (path) => {
    expect(matchRoute("POST", path).kind).toBe("object");
    expect(isRelayPath(path)).toBe(true);
  });

  it("names the alternative, in the caller's envelope", () => {
    expect(matchRoute("POST", "/v1beta/files:register")).toMatchObject({
      errors: "gemini",
      message: expect.stringContaining("send files inside of the request") as string,
    });
  });

  it.each(["/v1/cachedContents", "/v1beta/cachedContents", "/v1beta/cachedContents/abc"])(
    "%s is a call about caches, with errors in Google's envelope",
    (path) => {
      expect(matchRoute("POST", path)).toEqual({ kind: "cache", errors: "gemini" });
      expect(isRelayPath(path)).toBe(true);
    },
  );

  it("finds Google's batches below both versions, and models whose names contain a colon", () => {
    const batch = { kind: "batch", errors: "gemini" };
    for (const path of ["/v1beta/batches/x:cancel", "/v1beta/batches", "/v1/models/gemini-3:batchGenerateContent"])
      expect(matchRoute("POST", path)).toEqual(batch);
    expect(matchRoute("POST", "/v1beta/tunedModels/x:asyncBatchEmbedContent")).toEqual(batch);
    expect(matchRoute("POST", "/v1/batches/x:cancel").kind).toBe("batch");
    expect(matchRoute("GET", "/v1beta/models/x:batchGenerateContent").kind).toBe("models");
  });

  it("finds batches, and those of messages below the path of messages", () => {
    expect(matchRoute("POST", "/v1/batches/batch_1/cancel")).toEqual({ kind: "batch", errors: "openai" });
    const batch = { kind: "batch", errors: "anthropic" };
    for (const rest of ["", "/msgbatch_1", "/msgbatch_1/cancel", "/msgbatch_1/results"])
      expect(matchRoute("GET", `/v1/messages/batches${rest}`)).toEqual(batch);
  });

  it("leaves other paths to the management API and the console", () => {
    expect(["/api/status", "/", "/channel", "/v10/x", "/v1beta2", "/upload", "/upload/x"].filter(isRelayPath)).toEqual(
      [],
    );
    expect(
      [
        "/v1",
        "/v1/x",
        "/v1beta/models",
        "/pg/chat/completions",
        "/mj/x",
        "/mj-fast/mj/x",
        "/dashboard/billing/usage",
      ].filter(isRelayPath),
    ).toHaveLength(7);
  });
});
