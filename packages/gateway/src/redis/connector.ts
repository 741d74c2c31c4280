import { Socket } from "node:net";
import { AbstractConnector, type RedisOptions } from "ioredis";

const DISCONNECT_MS = 1_000;

/** Opens a socket to the server that is currently the right one. */
export interface SocketSource {
  /** Throws an Error whose message is for the operator. */
  connect(): Promise<{ readonly socket: Socket }>;
  /** Returns why a server of this role is the wrong one; undefined if it is not. */
  findRoleRefusal(role: string): string | undefined;
}

/** Returns a connector that makes the client library request the address for every connection. */
export function connectorTo(source: SocketSource): NonNullable<RedisOptions["Connector"]> {
  return class extends AbstractConnector {
    #report: (error: Error) => void = () => {};

    constructor() {
      super(DISCONNECT_MS);
    }

    /** Never rejects, because the library would not retry then: a closed socket has the same effect as a broken one. */
    async connect(emit: (type: string, error: Error) => void): Promise<Socket> {
      this.#report = (error) => emit("error", error);
      this.connecting = true;
      delete this.firstError;
      try {
        const { socket } = await source.connect();
        this.stream = socket;
        socket.once("error", (error) => (this.firstError = error));
        if (!this.connecting) socket.destroy();
        return socket;
      } catch (error) {
        if (this.connecting) this.firstError = error as Error;
        return new Socket().destroy();
      }
    }

    override check(info: { readonly role?: string }): boolean {
      const refusal = info.role === undefined ? undefined : source.findRoleRefusal(info.role);
      if (refusal !== undefined) this.#report(new Error(refusal));
      return refusal === undefined;
    }
  };
}
