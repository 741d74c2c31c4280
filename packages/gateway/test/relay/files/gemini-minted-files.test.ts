import { beforeAll, beforeEach, expect, it } from "vitest";
import { useTenants } from "../../kit/tenants.ts";

const tenants = useTenants();
const MODEL = "gemini-3.5-flash";
let calls: string[] = [];
let serial = 0;
let file = "";
let address = "";

beforeAll(async () => {
  // A channel that would be chosen first for an upload, and is not the one that wrote the file.
  await tenants.gateway.channel("other-model", { type: 24, key: "g-other", priority: 9 });
  await tenants.gateway.channel(MODEL, { type: 24, key: "g-owner" });
});

beforeEach(() => {
  calls = [];
  file = `abc-${++serial}`;
  address = `https://generativelanguage.googleapis.com/v1beta/files/${file}`;
  const { upstream } = tenants.gateway;
  const parts = [{ fileData: { mimeType: "image/png", fileUri: address } }, { text: "done" }];
  const answer = {
    candidates: [{ index: 0, content: { role: "model", parts }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 5, totalTokenCount: 10 },
  };
  upstream.script(":generateContent", () => ({ body: answer }));
  upstream.script(":streamGenerateContent", () => ({
    body: `data: ${JSON.stringify(answer)}\n\n`,
    headers: { "content-type": "text/event-stream" },
  }));
  const name = `files/${file}`;
  for (const [path, body] of [
    [`/v1beta/${name}`, { name, mimeType: "image/png", sizeBytes: "4", uri: address, state: "ACTIVE" }],
    [`/v1beta/${name}:download`, "PLOT"],
  ] as const)
    upstream.script(path, ({ headers, method }) => {
      calls.push(`${method} ${path} ${String(headers["x-goog-api-key"])}`);
      return { body: method === "DELETE" ? {} : body };
    });
});

const call = (key: string, method: string, path: string, body?: object) =>
  fetch(`${tenants.gateway.url}/v1beta/${path}`, {
    method,
    headers: { "x-goog-api-key": key, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });

async function ask(key: string, verb: string, parts: readonly object[] = [{ text: "plot" }]) {
  const body = { contents: [{ role: "user", parts }], tools: [{ codeExecution: {} }] };
  const answer = await call(key, "POST", `models/${MODEL}:${verb}`, body);
  await answer.text();
  return answer.status;
}

it.each(["generateContent", "streamGenerateContent?alt=sse", "streamGenerateContent"])(
  "a file that %s names is read, named and deleted by its user, at the account that wrote it",
  async (verb) => {
    const { mine, theirs } = tenants;
    expect((await call(mine, "GET", `files/${file}`)).status).toBe(404);
    expect(await ask(mine, verb)).toBe(200);
    await expect.poll(async () => (await call(mine, "GET", `files/${file}`)).status).toBe(200);
    expect(await (await call(mine, "GET", `files/${file}`)).json()).toMatchObject({
      name: `files/${file}`,
      mimeType: "image/png",
      sizeBytes: "4",
    });
    expect(await (await call(mine, "GET", `files/${file}:download?alt=media`)).text()).toBe("PLOT");
    expect(new Set(calls)).toEqual(
      new Set([`GET /v1beta/files/${file} g-owner`, `GET /v1beta/files/${file}:download g-owner`]),
    );
    const named = [{ fileData: { mimeType: "image/png", fileUri: address } }, { text: "again" }];
    expect(await ask(mine, verb, named)).toBe(200);
    expect(JSON.stringify(tenants.gateway.upstream.requests.at(-1)?.json)).toContain(address);
    for (const path of [`files/${file}`, `files/${file}:download`])
      expect((await call(theirs, "GET", path)).status).toBe(404);
    expect(await ask(theirs, verb, named)).toBe(404);
    expect((await call(mine, "DELETE", `files/${file}`)).status).toBe(200);
    expect(calls.at(-1)).toBe(`DELETE /v1beta/files/${file} g-owner`);
  },
);
