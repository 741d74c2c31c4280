import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Certificates, certificatesIn, installCertificates } from "./certificates.ts";
import { findProgram, run, startServer, unprivileged, type Service } from "./process.ts";

export interface MariadbSettings {
  /** Flushes the log at every commit, as the server does by default; off for tests, whose data is disposable. */
  readonly isDurable?: boolean;
  /** Memory for millions of rows instead of a few thousand. */
  readonly isLarge?: boolean;
  /** Refuses connections without TLS. */
  readonly tls?: Certificates;
}

const SHARED = ["--no-defaults", "--innodb-log-file-size=16M"];
const LARGE = ["--innodb-log-file-size=1G", "--innodb-buffer-pool-size=2G", "--innodb-sort-buffer-size=64M"];
const FAST = ["--innodb-flush-log-at-trx-commit=2", "--innodb-flush-method=nosync", "--innodb-doublewrite=0"];
const LEAN = ["--skip-log-bin", "--performance-schema=off", "--skip-name-resolve", "--innodb-buffer-pool-size=128M"];
const WIDE = ["--max-connections=500", "--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci"];
const ACCOUNT = "CREATE USER IF NOT EXISTS fairway@'%' IDENTIFIED BY 'fairway';\nGRANT ALL ON *.* TO fairway@'%';\n";

/** The program, its account, and its arguments, for servers of other shapes. */
export const MARIADB = {
  findServer: () => findProgram("mariadbd", "mariadb-server"),
  account: () => unprivileged("mysql"),
  buildArgs: (folder: string, port: number): readonly string[] => [
    ...SHARED,
    ...LEAN,
    ...WIDE,
    `--datadir=${join(folder, "data")}`,
    // A starting server cleans up its folder for temporary tables, including other servers' tables.
    `--tmpdir=${folder}`,
    `--port=${port}`,
    "--bind-address=127.0.0.1",
    `--socket=${join(folder, "sock")}`,
    `--pid-file=${join(folder, "pid")}`,
    `--init-file=${join(folder, "first.sql")}`,
  ],
  /** With the colon: Galera says "ready for connections" earlier, and a server that is stopped then never ends. */
  ready: ": ready for connections.",
  url: (port: number) => `mysql://fairway:fairway@127.0.0.1:${port}/`,
} as const;

/** A MariaDB server with the user fairway / fairway, who may create databases. */
export function startMariadb(settings: MariadbSettings = {}): Promise<Service> {
  const account = MARIADB.account();
  const speed = settings.isDurable ? [] : FAST;
  return startServer({
    name: "mariadb",
    command: MARIADB.findServer(),
    account,
    async prepare(folder) {
      if (settings.tls) await installCertificates(settings.tls, folder, account);
      await installMariadb(folder);
    },
    args: (folder, port) => [
      ...MARIADB.buildArgs(folder, port),
      ...speed,
      ...(settings.isLarge ? LARGE : []),
      ...(settings.tls ? tlsArgs(folder) : []),
    ],
    ready: MARIADB.ready,
    url: MARIADB.url,
    stopSignal: "SIGKILL",
  });
}

/** Writes the data of a new server. */
export async function installMariadb(folder: string): Promise<void> {
  await writeFile(join(folder, "first.sql"), ACCOUNT, { mode: 0o644 });
  await run(
    findProgram("mariadb-install-db", "mariadb-server"),
    [
      ...SHARED,
      ...FAST,
      `--datadir=${join(folder, "data")}`,
      `--tmpdir=${folder}`,
      "--auth-root-authentication-method=normal",
      "--skip-test-db",
    ],
    MARIADB.account(),
    folder,
  );
}

function tlsArgs(folder: string): readonly string[] {
  const { ca, cert, key } = certificatesIn(folder);
  return [`--ssl-cert=${cert}`, `--ssl-key=${key}`, `--ssl-ca=${ca}`, "--require-secure-transport=on"];
}
