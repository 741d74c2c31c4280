import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Certificates, certificatesIn, installCertificates } from "./certificates.ts";
import { findProgram, run, startServer, unprivileged, type Service } from "./process.ts";

const FOLDERS = ["/usr/lib/postgresql/*/bin"];
const FAST = ["fsync=off", "synchronous_commit=off", "full_page_writes=off"];
const WIDE = ["max_connections=300", "shared_buffers=128MB"];
const LARGE = ["shared_buffers=2GB", "max_wal_size=8GB", "max_locks_per_transaction=256"];

export interface PostgresSettings {
  /** Flushes at every commit, as the server does by default. */
  readonly isDurable?: boolean;
  /** Memory for millions of rows instead of a few thousand. */
  readonly isLarge?: boolean;
  /** Refuses connections without TLS. */
  readonly tls?: Certificates;
  /** A server that this one copies and follows as a standby. */
  readonly follows?: Service;
}

/** Starts a PostgreSQL server with the superuser fairway, who needs no password. */
export function startPostgres(settings: PostgresSettings = {}): Promise<Service> {
  const account = unprivileged("postgres");
  const initdb = findProgram("initdb", "postgresql", FOLDERS);
  const options = [...(settings.isDurable ? [] : FAST), ...WIDE, ...(settings.isLarge ? LARGE : [])];
  return startServer({
    name: "postgres",
    command: findProgram("postgres", "postgresql", FOLDERS),
    account,
    async prepare(folder) {
      const data = join(folder, "data");
      if (settings.follows) {
        const from = ["-h", "127.0.0.1", "-p", String(settings.follows.port), "-U", "fairway"];
        const how = ["-D", data, "-R", "-X", "stream", "-c", "fast", "--no-sync"];
        await run(findProgram("pg_basebackup", "postgresql", FOLDERS), [...from, ...how], account, folder);
        return;
      }
      const how = ["-A", "trust", "-U", "fairway", "--no-sync", "--no-locale", "-E", "UTF8"];
      await run(initdb, ["-D", data, ...how], account, folder);
      if (!settings.tls) return;
      await installCertificates(settings.tls, folder, account);
      await writeFile(join(data, "pg_hba.conf"), "hostssl all all all trust\n");
    },
    args: (folder, port) => [
      `-D${join(folder, "data")}`,
      `-p${port}`,
      "-h127.0.0.1",
      `-k${folder}`,
      ...[...options, ...(settings.tls ? tlsOptions(folder) : [])].flatMap((option) => ["-c", option]),
    ],
    // A standby adds "read-only".
    ready: "database system is ready to accept",
    url: (port) => `postgres://fairway:fairway@127.0.0.1:${port}/postgres`,
    // An immediate shutdown: SIGKILL would leave the server's children and its shared memory running.
    stopSignal: "SIGQUIT",
  });
}

function tlsOptions(folder: string): readonly string[] {
  const { cert, key } = certificatesIn(folder);
  return ["ssl=on", `ssl_cert_file=${cert}`, `ssl_key_file=${key}`];
}
