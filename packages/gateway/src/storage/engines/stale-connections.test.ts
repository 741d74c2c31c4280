import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { trackStaleConnections } from "./stale-connections.ts";

const GRACE_MS = 100;

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

  const later = () => pause(GRACE_MS * 2);

  test("are broken off when others are answered and they are not", async () => {
    const staleConnections = trackStaleConnections(GRACE_MS);
    const [silent, answered, returned, younger] = [await open(), await open(), await open(), await open()];
    for (const connection of [silent, answered, returned]) staleConnections.taken(connection);
    staleConnections.missed();
    await later();
    expect(silent.destroyed).toBe(false);
    staleConnections.answered();
    staleConnections.taken(younger);
    answered.write("late");
    staleConnections.returned(returned);
    await later();
    const broken = [silent, answered, returned, younger].map(({ destroyed }) => destroyed);
    expect(broken).toEqual([true, false, false, false]);
  });

  test("are not tracked while every limited statement is answered", async () => {
    const staleConnections = trackStaleConnections(GRACE_MS);
    const slow = await open();
    staleConnections.taken(slow);
    staleConnections.answered();
    await later();
    expect(slow.destroyed).toBe(false);
  });
});
