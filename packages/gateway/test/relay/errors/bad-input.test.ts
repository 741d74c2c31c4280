import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { chat, readError, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();

describe("bad input", () => {
  const raw = (path: string, body: string | Buffer, headers: Record<string, string> = {}) =>
    new Promise<{ status: number; text: string; headers: NodeJS.Dict<string | string[]> }>((resolve, reject) => {
      const sent = httpRequest(
        new URL(path, relay.gateway.url),
        { method: "POST", headers: { authorization: `Bearer ${relay.key}`, ...headers } },
        (answer) => {
          const parts: Buffer[] = [];
          answer.on("data", (part: Buffer) => parts.push(part));
          answer.on("end", () =>
            resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString(), headers: answer.headers }),
          );
        },
      );
      sent.on("error", reject);
      sent.end(body);
    });

  it.each([
    ['{"model":', 400, "invalid_json"],
    ["[]", 400, "invalid_json"],
    ["", 400, "invalid_json"],
    ['{"messages":[{"role":"user","content":"hi"}]}', 400, "model_required"],
    ['{"model":"m\\u0000","messages":[{"role":"user","content":"hi"}]}', 400, "invalid_model"],
    ['{"model":5,"messages":[{"role":"user","content":"hi"}]}', 400, undefined],
    ['{"model":"quiet"}', 400, "invalid_request"],
    ['{"model":"quiet","messages":"hi"}', 400, "invalid_request"],
    ['{"model":"quiet","messages":[{"role":"user","content":"hi"}],"max_tokens":-1}', 400, "invalid_max_tokens"],
    ['{"model":"unknown-model","messages":[{"role":"user","content":"hi"}]}', 404, "model_not_found"],
  ])("%s returns %i", async (body, status, code) => {
    await relay.gateway.channel("quiet");
    const response = await relay.gateway.post("/v1/chat/completions", body, relay.key);
    expect(response.status).toBe(status);
    const error = await readError(response);
    expect(error.type).toBe("invalid_request_error");
    expect(error.message).toMatch(/request id: \w+/);
    if (code !== undefined) expect(error.code).toBe(code);
    expect(relay.gateway.upstream.requests).toHaveLength(0);
  });

  it.each([
    [{}, 401, "missing_api_key"],
    [{ authorization: "Bearer sk-nope" }, 401, "invalid_api_key"],
    [{ authorization: `Bearer sk-${"a".repeat(48)}` }, 401, "invalid_api_key"],
    [{ authorization: "Basic abc" }, 401, "invalid_api_key"],
  ])("key %j returns %i", async (headers, status, code) => {
    const response = await fetch(`${relay.gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: headers as Record<string, string>,
      body: "{}",
    });
    expect(response.status).toBe(status);
    expect((await readError(response)).code).toBe(code);
  });

  it("refuses an expired, an exhausted and a disabled key, each with its own code", async () => {
    const expired = await relay.gateway.token({ expired_time: 1 });
    expect((await readError(await relay.gateway.post("/v1/chat/completions", chat("quiet"), expired))).code).toBe(
      "token_expired",
    );
    const empty = await relay.gateway.token({ unlimited_quota: false, remain_quota: 0 });
    const response = await relay.gateway.post("/v1/chat/completions", chat("quiet"), empty);
    expect(response.status).toBe(401);
    expect(await readError(response)).toMatchObject({ code: "token_quota_exhausted", type: "insufficient_quota" });
  });

  it("refuses a call that the key's quota cannot cover, naming need and rest", async () => {
    await relay.gateway.channel("gpt-4o");
    const poor = await relay.gateway.token({ unlimited_quota: false, remain_quota: 10 });
    const response = await relay.gateway.post("/v1/chat/completions", chat("gpt-4o", { max_tokens: 4000 }), poor);
    expect(response.status).toBe(403);
    const error = await readError(response);
    expect(error.code).toBe("insufficient_token_quota");
    expect(error.message).toContain("$0.000020");
    expect(response.headers.get("x-should-retry")).toBe("false");
  });

  it("returns errors for unknown paths, wrong methods and missing features in the caller's envelope", async () => {
    expect(await readError(await relay.gateway.post("/v1/unheard/of", {}, relay.key))).toMatchObject({
      code: "unknown_url",
      type: "invalid_request_error",
    });
    const wrong = await fetch(`${relay.gateway.url}/v1/chat/completions`);
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "POST"]);
    expect((await relay.gateway.post("/v1/vector_stores", {}, relay.key)).status).toBe(501);
    expect((await fetch(`${relay.gateway.url}/v1/files`, { method: "POST" })).status).toBe(401);
    const anthropic = await relay.gateway.post("/v1/messages/batches", {}, relay.key);
    expect(await anthropic.json()).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
  });

  it.each(["/v1/audio/transcriptions", "/v1/files"])(
    "reports a wrong key on %s while the form is still sent",
    async (path) => {
      const form = (bytes: number) => {
        const data = new FormData();
        data.set("file", new Blob([new Uint8Array(bytes)]), "a.wav");
        return data;
      };
      for (let turn = 0; turn < 12; turn++) {
        const sent = { method: "POST", headers: { authorization: "Bearer sk-nope" }, body: form(turn * 200_000) };
        const answer = await fetch(relay.gateway.url + path, sent);
        expect([answer.status, (await readError(answer)).code]).toEqual([401, "invalid_api_key"]);
      }
    },
  );

  it("closes a connection whose client keeps sending after its answer", { timeout: 20_000 }, async () => {
    const sending = httpRequest(new URL("/v1/files", relay.gateway.url), {
      method: "POST",
      headers: { authorization: "Bearer sk-nope", "transfer-encoding": "chunked" },
    });
    const closed = new Promise<void>((resolve) => sending.once("close", () => resolve()));
    sending.on("error", () => undefined);
    sending.write("x");
    const status = await new Promise<number | undefined>((resolve) =>
      sending.once("response", (answer) => resolve(answer.resume().statusCode)),
    );
    expect(status).toBe(401);
    await closed;
  });

  it("refuses a body over the limit by its declared and by its real length", async () => {
    const declared = await raw("/v1/chat/completions", Buffer.alloc(0), { "content-length": "99999999999" }).catch(
      (error: unknown) => error,
    );
    expect(declared).toMatchObject({ status: 413 });
  });

  it("refuses headers that are too large", async () => {
    const answer = await raw("/v1/chat/completions", "{}", { "x-bomb": "a".repeat(20_000) });
    expect(answer.status).toBe(431);
    expect(JSON.parse(answer.text)).toMatchObject({
      error: { code: "headers_too_large", type: "invalid_request_error" },
    });
  });

  it("refuses a request with two lengths", async () => {
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(relay.gateway.url).port), "127.0.0.1", () => {
        socket.write(
          "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        );
      });
      let text = "";
      socket.on("data", (part) => (text += part.toString()));
      socket.on("close", () => resolve(text));
      socket.on("error", reject);
    });
    expect(answer).toContain("400 Bad Request");
    expect(answer).toContain("malformed_request");
  });

  it("keeps prompts and keys out of the log", async () => {
    await relay.gateway.channel("private-talk");
    await relay.gateway.post(
      "/v1/chat/completions",
      chat("private-talk", { messages: [{ role: "user", content: "canary-prompt" }] }),
      relay.key,
    );
    await relay.gateway.post("/v1/chat/completions", '{"canary-prompt":', relay.key);
    await fetch(`${relay.gateway.url}/v1/models?key=${relay.key}`);
    await relay.gateway.settled();
    for (const secret of ["canary-prompt", relay.key.slice(3)]) expect(relay.gateway.logLines()).not.toContain(secret);
  });
});
