import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { createDatabase } from "@fairway/testkit/databases";
import { expect, test } from "vitest";
import { insertLogs } from "../../../test/kit/log-rows.ts";
import { openStoreKit } from "../../../test/kit/store-kit.ts";
import { exportLogs } from "./export.ts";
import { EVERYTHING } from "./filter.ts";
import { createLogStore } from "./store.ts";
import { adminView, type StoredLog } from "./view.ts";

test("an export reads no further than its client, and ends when the client leaves", async () => {
  const kit = await openStoreKit(await createDatabase("sqlite"));
  const rows = Array.from({ length: 12_000 }, (_, at) => ({ content: "x".repeat(4_000), created_at: 1_000 + at }));
  await insertLogs(kit.database, rows);
  const store = createLogStore({ ...kit, sums: kit.database });
  let read = 0;
  let ended: Promise<void> | undefined;
  const view = (some: StoredLog[]) => {
    read += some.length;
    return Promise.resolve(some.map((row) => adminView(row, "")));
  };
  const server = createServer((_request, response) => {
    ended = exportLogs(response, { store, query: EVERYTHING, format: "ndjson", view });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  // The client reads only the first bytes, so the server can send no more than the sockets buffer.
  await once(client, "readable");
  await settled(() => read);
  expect(read).toBeGreaterThanOrEqual(1_000);
  expect(read).toBeLessThan(6_000);
  const before = read;
  client.destroy();
  await ended;
  expect(read).toBeLessThanOrEqual(before + 1_000);
  server.close();
  await kit.database.close();
});

/** Waits until a number stops changing. */
async function settled(value: () => number): Promise<void> {
  for (let last = -1; last !== value();) {
    last = value();
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}
