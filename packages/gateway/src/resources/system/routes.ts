import { FEATURES, ROLE, systemInfo, systemReplicas, systemStepDown } from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Database } from "../../storage/database.ts";
import { askToStepDown } from "../../storage/leases.ts";
import { readRevisions, snapshotRevision } from "../../storage/revisions.ts";
import { listOutgoingWays, type OutgoingDeps } from "./outgoing.ts";
import { listReplicas, type Running } from "./replicas.ts";

export interface SystemDeps extends OutgoingDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly version: string;
  readonly instance: string;
  readonly running: Running;
}

export function systemRoutes(deps: SystemDeps): Route[] {
  const { database, clock, version, instance, running } = deps;
  const started_at = seconds(clock);
  return [
    implement(systemInfo, ({ caller }) => ({
      product: "fairway" as const,
      version,
      database: database.kind,
      instance,
      started_at,
      features: [...FEATURES],
      ...(caller.role >= ROLE.admin && { outgoing: listOutgoingWays(deps) }),
    })),
    implement(systemReplicas, async ({ sibling }) => {
      sibling("revision", snapshotRevision(await readRevisions(database)));
      return listReplicas(database, clock, { instance, running });
    }),
    implement(systemStepDown, async () => {
      const running = (await listReplicas(database, clock)).filter(({ is_lost: isLost }) => !isLost);
      if (running.length < 2) throw new Refusal("only_replica");
      const leader = await askToStepDown(database.raw);
      if (leader === undefined) throw new Refusal("no_leader");
      return { leader, others: running.map((one) => one.instance).filter((one) => one !== leader) };
    }),
  ];
}
