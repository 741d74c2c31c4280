import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLeftBehind } from "./stale-connections.ts";

const PATIENCE_MS = 100;

describe("connections that are left behind", () => {
  let server: Server;
  const ends: Socket[] = [];
  beforeAll(async () => {
    server = createServer((socket) => void ends.push(socket.on("data", (text) => socket.write(text)))).listen(0);
    await once(server, "listening");
  });
  afterAll(() => {
    for (const end of ends) end.destroy();
    server.close();
  });

  async function open(): Promise<Socket> {
    const socket = connect((server.address() as AddressInfo).port).on("error", () => {});
    socket.resume();
    await once(socket, "connect");
    return socket;
  }

  const later = () => pause(PATIENCE_MS * 2);

  test("are broken off when others are answered and they are not", async () => {
    const leftBehind = createLeftBehind(PATIENCE_MS);
    const [silent, answered, returned, younger] = [await open(), await open(), await open(), await open()];
    for (const connection of [silent, answered, returned]) leftBehind.taken(connection);
    leftBehind.missed();
    await later();
    expect(silent.destroyed).toBe(false);
    leftBehind.answered();
    leftBehind.taken(younger);
    answered.write("late");
    leftBehind.givenBack(returned);
    await later();
    const broken = [silent, answered, returned, younger].map(({ destroyed }) => destroyed);
    expect(broken).toEqual([true, false, false, false]);
  });

  test("are nobody's as long as every question was answered", async () => {
    const leftBehind = createLeftBehind(PATIENCE_MS);
    const slow = await open();
    leftBehind.taken(slow);
    leftBehind.answered();
    await later();
    expect(slow.destroyed).toBe(false);
  });
});
