import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { installMariadb, MARIADB } from "./mariadb.ts";
import { runSql } from "../sql.ts";
import { freePort, run, startServer, type Service } from "./process.ts";

const PROVIDERS = [
  "/usr/lib/galera/libgalera_smm.so",
  "/usr/lib/libgalera_smm.so",
  "/usr/lib64/galera/libgalera_smm.so",
];
const NODE_ARGS = [
  "--binlog-format=ROW",
  "--innodb-autoinc-lock-mode=2",
  "--innodb-flush-log-at-trx-commit=2",
  "--default-storage-engine=InnoDB",
  "--wsrep-on=ON",
  "--wsrep-cluster-name=fairway",
  "--wsrep-sst-method=rsync",
];

const NOTHING = "SELECT 1;\n";

/** A Galera cluster of MariaDB servers. Nodes begin as copies of one folder, so none transfers a whole state. */
export async function startGalera(count = 3): Promise<readonly Service[]> {
  const nodes: Service[] = [];
  try {
    const groupPort = await freePort();
    const first = await startNode({ groupPort, join: "", prepare: installMariadb });
    nodes.push(first);
    // A clean stop writes the position in the history of the cluster, which the copies share.
    await first.kill("SIGTERM");
    const data = join(first.folder, "data");
    const copies: string[] = [];
    for (let node = 2; node <= count; node += 1) {
      const copy = join(first.folder, `copy-${node}`);
      await run("cp", ["-a", data, copy], undefined, first.folder);
      copies.push(copy);
    }
    // Any statement at the start would put the first node ahead of the copies.
    await writeFile(join(first.folder, "first.sql"), NOTHING);
    await first.restart();
    for (const copy of copies) {
      const prepare = async (folder: string) => {
        await writeFile(join(folder, "first.sql"), NOTHING, { mode: 0o644 });
        await run("mv", [copy, join(folder, "data")], undefined, folder);
      };
      nodes.push(await startNode({ groupPort: await freePort(), join: `127.0.0.1:${groupPort}`, prepare }));
    }
    for (const node of nodes) await untilSynced(node, count);
    return nodes;
  } catch (error) {
    for (const node of nodes) await node.stop();
    throw error;
  }
}

const SYNC_LIMIT_MS = 60_000;

/** Waits until a node sees all others and takes statements. */
async function untilSynced({ url }: Service, count: number): Promise<void> {
  const limit = performance.now() + SYNC_LIMIT_MS;
  for (;;) {
    const values = await readState(url).catch((error: unknown) => [String(error)]);
    if (values.includes(String(count)) && values.includes("Synced")) return;
    if (performance.now() > limit) throw new Error(`a node of Galera is not in sync: ${values.join(", ")}`);
    await sleep(100);
  }
}

const STATE =
  "select variable_value as value from information_schema.global_status where variable_name in ('wsrep_cluster_size', 'wsrep_local_state_comment')";

async function readState(url: string): Promise<string[]> {
  return (await runSql(url, STATE)).map((row) => String(row["value"]));
}

interface Node {
  readonly groupPort: number;
  /** The address of a node to join; "" begins a cluster. */
  readonly join: string;
  readonly prepare: (folder: string) => Promise<void>;
}

async function startNode({ groupPort, join: peer, prepare }: Node): Promise<Service> {
  const statePort = await freePort();
  const provider = PROVIDERS.find((path) => existsSync(path));
  if (provider === undefined) throw new Error("Galera is missing: install the Debian package galera-4");
  const options = {
    base_host: "127.0.0.1",
    base_port: groupPort,
    "gmcast.listen_addr": `tcp://127.0.0.1:${groupPort}`,
    "ist.recv_addr": `127.0.0.1:${statePort}`,
    "gcache.size": "16M",
  };
  const text = Object.entries(options).map(([name, value]) => `${name}=${value}`);
  return startServer({
    name: "galera",
    command: MARIADB.findServer(),
    account: MARIADB.account(),
    prepare,
    args: (folder, port) => [
      ...MARIADB.buildArgs(folder, port),
      ...NODE_ARGS,
      `--wsrep-provider=${provider}`,
      `--wsrep-provider-options=${text.join(";")}`,
      `--wsrep-node-address=127.0.0.1:${groupPort}`,
      `--wsrep-cluster-address=gcomm://${peer}`,
      ...(peer === "" ? ["--wsrep-new-cluster"] : []),
    ],
    ready: MARIADB.ready,
    url: MARIADB.url,
    stopSignal: "SIGKILL",
  });
}
