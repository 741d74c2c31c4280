import { describe, expect, expectTypeOf, it } from "vitest";
import * as z from "zod/mini";
import { channelTest } from "../channels/channels.ts";
import { ApiProblem, createClient, buildUrl, type Fetch } from "./client.ts";
import { endpoint } from "./endpoint.ts";
import { userGet, userList, userUpdate } from "../accounts/users.ts";

interface Sent {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | undefined;
}

function clientAnswering(status: number, body: string, headers: Record<string, string> = {}) {
  const sent: Sent[] = [];
  const fetch: Fetch = (url, init) => {
    sent.push({ url, method: init.method, headers: init.headers, body: init.body });
    const get = (name: string) => headers[name.toLowerCase()] ?? null;
    return Promise.resolve({ status, headers: { get }, text: () => Promise.resolve(body) });
  };
  return { sent, client: createClient({ baseUrl: "http://gw", fetch, headers: () => ({ "New-Api-User": "7" }) }) };
}

async function catchProblem(promise: Promise<unknown>): Promise<ApiProblem> {
  const problem = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (problem instanceof ApiProblem) return problem;
  throw new Error("no problem", { cause: problem });
}

describe("client", () => {
  it("fills path, query and body and reads the envelope", async () => {
    const { client, sent } = clientAnswering(200, '{"success":true,"message":"","data":[],"extra":1}', {
      "x-total-count": "12",
    });
    const answer = await client.call(userList, { query: { p: 2, keyword: "a&b" } });
    expect(answer).toEqual({ data: [], message: "", total: 12, siblings: { extra: 1 } });
    expect(sent[0]).toMatchObject({ url: "http://gw/api/user/?p=2&keyword=a%26b", method: "GET", body: undefined });
    expect(sent[0]?.headers["New-Api-User"]).toBe("7");
    await client.call(userUpdate, { body: { id: 3, quota: 5 } });
    expect(sent[1]).toMatchObject({ method: "PUT", body: '{"id":3,"quota":5}' });
    expect(sent[1]?.headers["Content-Type"]).toBe("application/json");
  });

  it("encodes path parameters and joins lists", () => {
    const probe = endpoint({
      name: "probe",
      method: "GET",
      path: "/api/x/{name}",
      access: "none",
      summary: "",
      params: z.object({ name: z.string() }),
    });
    expect(buildUrl(probe, { name: "a/b" }, { ids: [1, 2], none: undefined })).toBe("/api/x/a%2Fb?ids=1%2C2");
  });

  it("takes an envelope for one also where the server composes it by hand", async () => {
    const call = { params: { id: 1 }, query: {} };
    const { client: fine } = clientAnswering(200, '{"success":true,"message":"","time":0.5}');
    expect((await fine.call(channelTest, call)).siblings).toEqual({ time: 0.5 });
    const { client: failing } = clientAnswering(200, '{"success":false,"message":"Refused.","time":0.5}');
    const problem = await catchProblem(failing.call(channelTest, call));
    expect([problem.message, problem.siblings]).toEqual(["Refused.", { time: 0.5 }]);
  });

  it("throws refusals with code, field and siblings", async () => {
    const { client } = clientAnswering(200, '{"success":false,"message":"No.","code":"U1","field":"id","time":3}');
    const problem = await catchProblem(client.call(userGet, { params: { id: 1 } }));
    expect(problem).toMatchObject({ message: "No.", code: "U1", field: "id", status: 200, siblings: { time: 3 } });
  });

  it("throws error statuses, with and without an envelope", async () => {
    const limited = clientAnswering(429, '{"success":false,"message":"Slow down","code":"G3"}', { "retry-after": "9" });
    expect(await catchProblem(limited.client.call(userList, {}))).toMatchObject({
      status: 429,
      code: "G3",
      retryAfterSeconds: 9,
    });
    const broken = clientAnswering(502, "<html>");
    expect(await catchProblem(broken.client.call(userList, {}))).toMatchObject({
      status: 502,
      code: undefined,
      message: "The server answered with status 502.",
    });
  });

  it("tells a lost connection from an abort", async () => {
    const lost = createClient({ baseUrl: "", fetch: () => Promise.reject(new TypeError("fetch failed")) });
    expect(await catchProblem(lost.call(userList, {}))).toMatchObject({ status: 0 });
    const stop = new AbortController();
    const aborted = createClient({ baseUrl: "", fetch: () => Promise.reject(new Error("aborted")) });
    stop.abort();
    await expect(aborted.call(userList, { signal: stop.signal })).rejects.toThrow("aborted");
  });

  it("is typed by the endpoint", () => {
    const { client } = clientAnswering(200, "{}");
    expectTypeOf(client.call<typeof userGet>)
      .parameter(1)
      .toHaveProperty("params");
    // @ts-expect-error the path parameter is missing
    void client.call(userGet, {}).catch(() => undefined);
  });
});
