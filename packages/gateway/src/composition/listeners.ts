import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { StartError } from "./storage.ts";

/**
 * Returns the address of a listener once it accepts connections. Throws a StartError that names the variable to change.
 */
export async function listening(variable: string, host: string, port: Promise<number>): Promise<string> {
  try {
    return `http://${host.includes(":") ? `[${host}]` : host}:${await port}`;
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    if (code === "EADDRINUSE")
      throw new StartError(`the port of ${variable} is in use: stop what uses it, or choose another`, { cause });
    if (code === "EACCES")
      throw new StartError(`this account may not use the port of ${variable}: choose one above 1023`, { cause });
    const hostVariable = variable.replace("PORT", "HOST");
    throw new StartError(
      `${hostVariable} is "${host}", which cannot be listened on (${code}): give an address of this machine, for example 127.0.0.1`,
      { cause },
    );
  }
}

/** Resolves with the port; rejects if it is in use. Port 0 selects a free one. */
export function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

/** Closes all connections, including those of running requests. */
export function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
