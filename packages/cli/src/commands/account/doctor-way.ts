import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { CliError, readErrorCode, EXIT } from "../../core/exit.ts";
import { isLoopback } from "../../session/config.ts";
import { lost } from "../../session/lost.ts";
import { finding, ok, warning, type Finding } from "./finding.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** A certificate that expires within this many days should have been renewed. */
const CERTIFICATE_DAYS = 14;
const DAY_MS = 86_400_000;
const CONNECT_MS = 10_000;

export function addressFinding(server: string): Finding {
  const url = new URL(server);
  const isOpen = url.protocol === "http:" && !isLoopback(url);
  const verdict = isOpen ? warning(`${server}: the token travels unencrypted`, "use https") : ok(server);
  return { check: "address", ...verdict };
}

/** Checks the DNS name; undefined if the address has none. */
export async function nameFinding(server: string): Promise<Finding | undefined> {
  const host = new URL(server).hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) > 0) return undefined;
  return finding("name", async () => {
    try {
      const found = await lookup(host, { all: true });
      return ok(`${host} is ${found.map(({ address }) => address).join(", ")}`);
    } catch (cause) {
      throw new CliError(
        `${host} has no address (${readErrorCode(cause)})`,
        EXIT.unreachable,
        "check the name, and the name servers of this machine",
      );
    }
  });
}

/** Checks the certificate; undefined for plain http. */
export async function certificateFinding(server: string): Promise<Finding | undefined> {
  if (!server.startsWith("https:")) return undefined;
  return finding("certificate", async () => {
    const socket = await connected(server);
    const { valid_to: end, issuer } = socket.getPeerCertificate();
    const protocol = socket.getProtocol() ?? "TLS";
    socket.destroy();
    const days = Math.floor((Date.parse(end) - Date.now()) / DAY_MS);
    const [signer] = [issuer.O ?? issuer.CN ?? "an authority without a name"].flat();
    const message = `${protocol}, signed by ${signer}, ends in ${days} days (${new Date(end).toISOString().slice(0, 10)})`;
    return days < CERTIFICATE_DAYS ? warning(message, "renew it on the server") : ok(message);
  });
}

function connected(server: string): Promise<TLSSocket> {
  const url = new URL(server);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const name = isIP(host) > 0 ? {} : { servername: host };
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(url.port || 443), ...name });
    socket.setTimeout(CONNECT_MS, () => socket.destroy(lost(server, CONNECT_MS, undefined)));
    socket.once("error", (cause) => reject(lost(server, undefined, cause)));
    socket.once("secureConnect", () => resolve(socket));
  });
}

/** Returns the proxy variable that applies to the address, and its value. */
function findProxy(server: string, env: Environment): readonly [string, string] | undefined {
  const names = server.startsWith("https:") ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy", "HTTP_PROXY"];
  for (const name of names) if (env[name]) return [name, env[name]];
  return undefined;
}

/** Whether Node.js sends calls through a proxy. */
export function isBehindProxy(server: string, env: Environment): boolean {
  return findProxy(server, env) !== undefined && env["NODE_USE_ENV_PROXY"] === "1" && !isExcepted(server, env);
}

function isExcepted(server: string, env: Environment): boolean {
  const { hostname } = new URL(server);
  const names = (env["no_proxy"] || env["NO_PROXY"] || "").split(",").map((one) => one.trim().replace(/^\*?\./, ""));
  return names.some((one) => one === "*" || (one !== "" && (hostname === one || hostname.endsWith(`.${one}`))));
}

export function proxyFinding(server: string, env: Environment, isReached: boolean): Finding {
  const check = "proxy";
  const [name, address = ""] = findProxy(server, env) ?? [];
  if (name === undefined) return { check, ...ok("no variable names one") };
  // Never print its user and password.
  const host = URL.parse(address)?.host ?? "something that is not an address";
  if (isBehindProxy(server, env)) {
    const message = `calls go through ${host} (${name})`;
    return { check, ...(isReached ? ok(message) : warning(message, `see that it runs, or unset ${name}`)) };
  }
  const message = `calls go past ${host} (${name})`;
  if (isReached || isExcepted(server, env)) return { check, ...ok(message) };
  return { check, ...warning(message, "set NODE_USE_ENV_PROXY=1 if it is the only way") };
}
