import { setTimeout as pause } from "node:timers/promises";
import { systemReplicas, systemStepDown } from "@fairway/wire";
import { openCluster, type KubeOptions } from "./cluster.ts";
import { replicasIn } from "./installation.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { printDone, type Output } from "../../print/output.ts";
import type { Session } from "../../session/session.ts";

/** Two heartbeats, plus some time for a busy database. */
const WAIT_MS = 20_000;
const LOOK_MS = 500;

/** Makes the leader release its lease, and waits for the new leader. */
export async function stepDown(options: KubeOptions, session: Session, output: Output): Promise<void> {
  await replicasIn(await openCluster(options), session);
  const { client } = session;
  const { data: asked } = await client.call(systemStepDown, {});
  const until = performance.now() + WAIT_MS;
  while (performance.now() < until) {
    await pause(LOOK_MS);
    const { data } = await client.call(systemReplicas, {});
    const leader = data.find((one) => one.is_leader && !one.is_lost && one.instance !== asked.leader)?.instance;
    if (leader === undefined) continue;
    const state = { leader, before: asked.leader };
    return printDone(output, state, `${asked.leader} stepped down, and ${leader} leads.`);
  }
  throw new CliError(
    `${asked.leader} was asked to step down, and no other pod has taken over within ${WAIT_MS / 1000} seconds`,
    EXIT.failure,
    "the logs say why: `fairway kube logs`; after half a minute it leads again",
  );
}
