import type { ObjectCall, ObjectDeps } from "../objects/object-call.ts";
import type { LongMoney } from "../relay/reservation/deposit-reservation.ts";
import type { ResponseOwners } from "../relay/stateful/owners.ts";
import type { FindFiles } from "../relay/tenancy/stored-files.ts";
import type { SnapshotStore } from "../snapshot/types.ts";

/** How long containers are known here; the vendor ends an idle one much earlier. */
export const KNOWN_SECONDS = 30 * 86_400;

/** Everything that the routes of containers need from the program. */
export interface ContainerDeps extends Omit<ObjectDeps, "snapshots">, LongMoney {
  readonly snapshots: SnapshotStore;
  /** Knows the accounts of the containers that answers named. */
  readonly owners: Pick<ResponseOwners, "find" | "forget">;
  readonly findFiles: FindFiles;
  /** The containers that answers named, as `createMintedContainers` returns them. */
  readonly minted: {
    forget(id: string, userId: number): void;
    flush(): Promise<void>;
  };
}

/** A call of a route of containers. */
export interface ContainerCall extends ObjectCall {
  /** Milliseconds of the monotonic clock. */
  readonly startedAt: number;
}
