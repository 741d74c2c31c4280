import type { IncomingMessage, ServerResponse } from "node:http";
import type { Selectable } from "kysely";
import type { Authenticator, Caller } from "../identity/authentication/caller.ts";
import type { HashKey } from "../snapshot/key-marks.ts";
import type { ChooseDeps } from "../objects/choose-account.ts";
import type { ObjectLibrary } from "../objects/library.ts";
import type { CallAccount } from "../objects/upstream.ts";
import type { Logger } from "../observability/log.ts";
import type { CheckWords } from "../relay/admission/blocked-words.ts";
import type { CallLimit } from "../relay/admission/call-limit.ts";
import type { BodyLimits } from "../relay/body/read-body.ts";
import type { Guardrail } from "../relay/policies/guardrail/guardrail.ts";
import type { LongMoney } from "../relay/reservation/deposit-reservation.ts";
import type { RunningRequests } from "../relay/reservation/running.ts";
import type { TenancyDeps } from "../relay/tenancy/keep-to-tenant.ts";
import type { SnapshotStore } from "../snapshot/types.ts";
import type { Database } from "../storage/database.ts";
import type { UpstreamCacheTable } from "../storage/tables/schema-caches.ts";

export type CacheRow = Selectable<UpstreamCacheTable>;

/** What finds caches at their accounts and closes them. */
export interface StoredCacheDeps extends LongMoney {
  readonly database: Database;
  readonly snapshots: SnapshotStore;
  readonly log: Logger;
  readonly call: CallAccount;
  readonly hashKey: HashKey;
}

/** Everything that the routes of caches need from the program. */
export interface CacheDeps extends StoredCacheDeps {
  readonly authenticator: Authenticator;
  readonly calls: CallLimit;
  readonly running: Pick<RunningRequests, "add" | "remove">;
  readonly selection: ChooseDeps;
  readonly checkWords: CheckWords;
  readonly guardrail: Guardrail;
  readonly tenancy: TenancyDeps;
  readonly bodyLimits: BodyLimits;
  readonly library: Pick<ObjectLibrary, "viewAs">;
}

/** One authenticated call of a route of caches. */
export interface CacheCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: URLSearchParams;
  readonly requestId: string;
  readonly caller: Caller;
  /** Milliseconds of the monotonic clock. */
  readonly startedAt: number;
}
