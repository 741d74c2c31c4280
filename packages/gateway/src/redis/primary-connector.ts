import { Socket } from "node:net";
import { AbstractConnector, type RedisOptions } from "ioredis";
import type { SentinelAddress } from "../lib/net/redis-address.ts";
import type { Sentinels } from "./sentinels.ts";

const DISCONNECT_MS = 1_000;

/** Makes the client library ask the sentinels for the primary at every connection. */
export function toPrimary(
  sentinels: Sentinels,
  { redis, db, isTls }: SentinelAddress,
): Pick<RedisOptions, "Connector" | "username" | "password" | "db" | "tls"> {
  class PrimaryConnector extends AbstractConnector {
    #report: (error: Error) => void = () => {};

    constructor() {
      super(DISCONNECT_MS);
    }

    /** Never rejects, since the library would not try again: a closed socket does the same as one that broke. */
    async connect(emit: (type: string, error: Error) => void): Promise<Socket> {
      this.#report = (error) => emit("error", error);
      this.connecting = true;
      delete this.firstError;
      try {
        const { socket } = await sentinels.connect();
        this.stream = socket;
        socket.once("error", (error) => (this.firstError = error));
        if (!this.connecting) socket.destroy();
        return socket;
      } catch (error) {
        if (this.connecting) this.firstError = error as Error;
        return new Socket().destroy();
      }
    }

    /** A sentinel that was cut off names a server that is a replica by now. */
    override check(info: { readonly role?: string }): boolean {
      const isPrimary = info.role === undefined || info.role === "master";
      if (!isPrimary) this.#report(new Error("its sentinels name a server that is a read-only replica"));
      return isPrimary;
    }
  }
  return { Connector: PrimaryConnector, ...redis, db, ...(isTls && { tls: {} }) };
}
