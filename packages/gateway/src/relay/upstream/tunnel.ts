import { Agent, request as httpRequest, type ClientRequestArgs } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { Duplex } from "node:stream";
import { connect as tlsConnect } from "node:tls";
import { AppError } from "../../lib/app-error.ts";

type Done = (error: Error | null, socket: Duplex) => void;

export interface TunnelOptions {
  readonly isSecure: boolean;
  readonly timeoutMs: number;
  /** Resolves the proxy's name. */
  readonly lookup?: LookupFunction | undefined;
  /** Runs before each connection; a rejection refuses it. */
  readonly check?: (() => Promise<void>) | undefined;
}

/**
 * Opens each connection through an HTTP proxy with `CONNECT`; for WebSockets, whose upgrade a proxy would not forward.
 */
export class TunnelAgent extends Agent {
  /** Node reads it before it requests a connection. */
  readonly protocol: string;
  readonly #proxy: URL;
  readonly #timeoutMs: number;
  readonly #isSecure: boolean;
  readonly #lookup: LookupFunction | undefined;
  readonly #check: TunnelOptions["check"];

  /** Throws for other kinds of proxies. */
  constructor(proxy: string, { isSecure, timeoutMs, lookup, check }: TunnelOptions) {
    super({ keepAlive: false });
    this.protocol = isSecure ? "https:" : "http:";
    this.#proxy = new URL(proxy);
    if (!/^https?:$/.test(this.#proxy.protocol))
      throw new AppError("upstream_connect_failed", { cause: new Error("WebSockets go through HTTP proxies only") });
    this.#timeoutMs = timeoutMs;
    this.#isSecure = isSecure;
    this.#lookup = lookup;
    this.#check = check;
  }

  override createConnection(options: ClientRequestArgs, callback?: Done): undefined {
    const done = (error: Error | null, socket?: Duplex) => callback?.(error, socket as Duplex);
    void this.#openChecked(options, done);
    return undefined;
  }

  async #openChecked(options: ClientRequestArgs, done: (error: Error | null, socket?: Duplex) => void): Promise<void> {
    try {
      await this.#check?.();
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    this.#open(options, done);
  }

  #open(options: ClientRequestArgs, done: (error: Error | null, socket?: Duplex) => void): void {
    const host = String(options.host ?? "");
    const target = `${isIP(host) === 6 ? `[${host}]` : host}:${options.port ?? (this.#isSecure ? 443 : 80)}`;
    const call = (this.#proxy.protocol === "https:" ? httpsRequest : httpRequest)({
      host: this.#proxy.hostname.replace(/^\[|\]$/g, ""),
      port: this.#proxy.port,
      method: "CONNECT",
      path: target,
      headers: { host: target, ...buildProxyHeaders(this.#proxy) },
      timeout: this.#timeoutMs,
      agent: false,
      ...(this.#lookup && { lookup: this.#lookup }),
    });
    call.once("connect", (answer, socket, head) => {
      if (answer.statusCode !== 200) {
        socket.destroy();
        return done(new Error(`the proxy answered with status ${answer.statusCode}`));
      }
      if (head.length > 0) socket.unshift(head);
      if (!this.#isSecure) return done(null, socket);
      const secured = tlsConnect({ socket, host, ...(isIP(host) === 0 ? { servername: host } : {}) });
      secured.once("error", done).once("secureConnect", () => {
        secured.off("error", done);
        done(null, secured);
      });
    });
    call.once("timeout", () => call.destroy(new Error("the proxy did not answer in time")));
    call.once("error", done);
    call.end();
  }
}

function buildProxyHeaders({ username, password }: URL): Record<string, string> {
  if (username === "") return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(pair).toString("base64")}` };
}
