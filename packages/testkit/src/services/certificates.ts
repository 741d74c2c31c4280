import { execFile } from "node:child_process";
import { chmod, chown, copyFile, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Account } from "./process.ts";

/** Files of a private authority, and of a server with a certificate from it. */
export interface Certificates {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

const openssl = promisify(execFile);
const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/**
 * Creates certificates for servers on the loopback address, and under further names, in a folder of their own; the caller
 * removes it.
 */
export async function createCertificates(days = 2, names: readonly string[] = []): Promise<Certificates> {
  const fresh = [...NEW_KEY, "-days", String(days)];
  const folder = await mkdtemp(join(tmpdir(), "fairway-tls-"));
  await chmod(folder, 0o755);
  const file = (name: string) => join(folder, name);
  const authority = ["-keyout", file("ca.key"), "-out", file("ca.pem"), "-subj", "/CN=fairway test authority"];
  await openssl("openssl", ["req", "-x509", ...fresh, ...authority]);
  const vouched = ["-CA", file("ca.pem"), "-CAkey", file("ca.key"), "-subj", "/CN=localhost"];
  const all = ["DNS:localhost", "IP:127.0.0.1", ...names.map((name) => `DNS:${name}`)].join(",");
  const limits = [`subjectAltName=${all}`, "basicConstraints=critical,CA:FALSE"].flatMap((extension) => [
    "-addext",
    extension,
  ]);
  const server = ["-keyout", file("server.key"), "-out", file("server.pem")];
  await openssl("openssl", ["req", "-x509", ...fresh, ...vouched, ...limits, ...server]);
  return { ca: file("ca.pem"), cert: file("server.pem"), key: file("server.key") };
}

/** Copies them to a place where a server of that account may read them; servers refuse keys that others may read. */
export async function installCertificates(
  { ca, cert, key }: Certificates,
  folder: string,
  account: Account | undefined,
): Promise<Certificates> {
  const installed = certificatesIn(folder);
  for (const [from, to] of [
    [ca, installed.ca],
    [cert, installed.cert],
    [key, installed.key],
  ] as const) {
    await copyFile(from, to);
    await chmod(to, 0o600);
    if (account) await chown(to, account.uid, account.gid);
  }
  return installed;
}

export function certificatesIn(folder: string): Certificates {
  return { ca: join(folder, "ca.pem"), cert: join(folder, "server.pem"), key: join(folder, "server.key") };
}
