import { createDatabase } from "@fairway/testkit/databases";
import { createServer, get, type IncomingMessage } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { insertLogs } from "../../../test/kit/log-rows.ts";
import { openStoreKit } from "../../../test/kit/store-kit.ts";
import { createLog } from "../../observability/log.ts";
import { openEventStream } from "../event-stream.ts";
import { EVERYTHING } from "./filter.ts";
import { createLogStore } from "./store.ts";
import { createLogTail } from "./tail.ts";
import { adminView } from "./view.ts";

test("a row that is written as soon as the stream is open is shown, however slow the database was", async () => {
  const kit = await openStoreKit(await createDatabase("sqlite"));
  const store = createLogStore({ ...kit, sums: kit.database });
  const slow = Promise.withResolvers<void>();
  const newestId = async () => {
    await slow.promise;
    return store.newestId();
  };
  const tail = createLogTail(
    { ...store, newestId },
    createLog({ level: "error", format: "json", out: process.stderr }),
  );
  const server = createServer((_request, response) => {
    const view = (rows: Parameters<typeof adminView>[0][]) => Promise.resolve(rows.map((row) => adminView(row, "")));
    void tail.follow(() => openEventStream(response), EVERYTHING, view);
    setTimeout(slow.resolve, 300);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  await tail.start();
  const [incoming] = (await once(get(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), "response")) as [
    IncomingMessage,
  ];
  await insertLogs(kit.database, [{ content: "at once" }]);
  let text = "";
  for await (const chunk of incoming) if ((text += String(chunk)).includes("at once")) break;
  expect(text).toContain('"content":"at once"');
  await tail.stop();
  server.close();
  await kit.database.close();
});
