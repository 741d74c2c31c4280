import { createDatabaseElector } from "../../src/jobs/leader.ts";
import { connect } from "../../src/kubernetes/client/api.ts";
import { KubernetesLease } from "../../src/kubernetes/lease.ts";
import { createSchedule } from "../../src/jobs/schedule.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { quietLog } from "../kit/support.ts";

/**
 * A replica with one job: on `go` it books one row with its name, in a transaction that confirms its term. Says
 * `running` when a run has begun, and `booked` or `refused` when it has ended. Arguments: database URL, name, lease in
 * milliseconds, and for a Lease of Kubernetes a kubeconfig and a namespace.
 */
const [url = "", name = "", lease = "", kubeconfig, namespace = ""] = process.argv.slice(2);
const database = openDatabase({ url, log: quietLog });
const clock = { now: () => Date.now() };
const leaseMs = Number(lease);
const permit = kubeconfig
  ? new KubernetesLease({ api: await connect(kubeconfig), namespace, name: "fairway", holder: name, clock, leaseMs })
  : undefined;
const elector = createDatabaseElector({
  ...(permit && { permit }),
  database: database.raw,
  holder: name,
  clock,
  log: quietLog,
  metrics: { leaderChanged: () => {} },
  leaseMs,
  renewMs: leaseMs / 7.5,
});
const schedule = createSchedule({
  elector,
  raw: database.raw,
  clock,
  log: quietLog,
  metrics: { jobSucceeded: () => {} },
  jobs: [{ name: "book", everyMs: 20, isLeaderOnly: true, run: book }],
});

async function book(): Promise<void> {
  const go = new Promise<void>((resolve) => process.once("message", () => resolve()));
  process.send?.("running");
  await go;
  try {
    await database.raw.transaction(async (tx) => {
      await elector.confirm(tx);
      const insert =
        "insert into audit_log (user_id, username, action, target, ip, created_at) values (0, ?, 'book', '', '', 0)";
      await tx.run(insert, [name]);
    });
    process.send?.("booked");
  } catch (error) {
    process.send?.("refused");
    throw error;
  }
}

await elector.start();
await schedule.start();
