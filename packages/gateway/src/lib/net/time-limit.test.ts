import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isTimeLimit } from "./time-limit.ts";

const silent = createServer(() => undefined);
let url: string;

beforeAll(async () => {
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
});

afterAll(() => void silent.close());

async function fail(options: Parameters<typeof request>[1]): Promise<unknown> {
  return request(url, options).then(
    () => expect.unreachable("nothing answers"),
    (error: unknown) => error,
  );
}

test("the limit of the client and that of the signal are both a time limit", async () => {
  expect(isTimeLimit(await fail({ headersTimeout: 1, signal: AbortSignal.timeout(10_000) }))).toBe(true);
  expect(isTimeLimit(await fail({ headersTimeout: 10_000, signal: AbortSignal.timeout(1) }))).toBe(true);
});

test("an aborted call and a closed port are none", async () => {
  expect(isTimeLimit(await fail({ signal: AbortSignal.abort() }))).toBe(false);
  const closed = await request("http://127.0.0.1:9/").catch((error: unknown) => error);
  expect(isTimeLimit(closed)).toBe(false);
  expect(isTimeLimit("late")).toBe(false);
});
