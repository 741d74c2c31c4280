import type { ObjectCall, ObjectDeps } from "../objects/object-call.ts";
import type { LongMoney } from "../relay/reservation/deposit-reservation.ts";
import type { ResponseOwners } from "../relay/stateful/owners.ts";
import type { FindFiles } from "../relay/tenancy/stored-files.ts";
import type { SnapshotStore } from "../snapshot/types.ts";
import type { MintedContainers } from "./minted.ts";

/** How long containers are known here; the vendor ends an idle one much earlier. */
export const KNOWN_SECONDS = 30 * 86_400;

/** Everything that the routes of containers need from the program. */
export interface ContainerDeps extends Omit<ObjectDeps, "snapshots">, LongMoney {
  readonly snapshots: SnapshotStore;
  /** Knows the accounts of the containers that answers named. */
  readonly owners: Pick<ResponseOwners, "find" | "forget">;
  readonly findFiles: FindFiles;
  readonly minted: Pick<MintedContainers, "forget" | "flush">;
}

/** A call of a route of containers. */
export interface ContainerCall extends ObjectCall {
  /** Milliseconds of the monotonic clock. */
  readonly startedAt: number;
}
