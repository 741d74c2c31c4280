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

/** A MariaDB server with the user fairway / fairway, who may create databases. */
export function startMariadb(settings: MariadbSettings = {}): Promise<Service> {
  const account = unprivileged("mysql");
  const speed = settings.isDurable ? [] : FAST;
  const install = findProgram("mariadb-install-db", "mariadb-server");
  return startServer({
    name: "mariadb",
    command: findProgram("mariadbd", "mariadb-server"),
    account,
    async prepare(folder) {
      const data = join(folder, "data");
      if (settings.tls) await installCertificates(settings.tls, folder, account);
      await writeFile(join(folder, "first.sql"), ACCOUNT, { mode: 0o644 });
      await run(
        install,
        [
          ...SHARED,
          ...FAST,
          `--datadir=${data}`,
          `--tmpdir=${folder}`,
          "--auth-root-authentication-method=normal",
          "--skip-test-db",
        ],
        account,
        folder,
      );
    },
    args: (folder, port) => [
      ...SHARED,
      ...speed,
      ...LEAN,
      ...WIDE,
      ...(settings.isLarge ? LARGE : []),
      ...(settings.tls ? tlsArgs(folder) : []),
      `--datadir=${join(folder, "data")}`,
      // A starting server cleans up its folder for temporary tables, including other servers' tables.
      `--tmpdir=${folder}`,
      `--port=${port}`,
      "--bind-address=127.0.0.1",
      `--socket=${join(folder, "sock")}`,
      `--pid-file=${join(folder, "pid")}`,
      `--init-file=${join(folder, "first.sql")}`,
    ],
    ready: "ready for connections",
    url: (port) => `mysql://fairway:fairway@127.0.0.1:${port}/`,
    stopSignal: "SIGKILL",
  });
}

function tlsArgs(folder: string): readonly string[] {
  const { ca, cert, key } = certificatesIn(folder);
  return [`--ssl-cert=${cert}`, `--ssl-key=${key}`, `--ssl-ca=${ca}`, "--require-secure-transport=on"];
}
