import type { SourceGateway } from "@fairway/wire";
import type { Ledger } from "../../../billing/ledger/ledger.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Database } from "../../../storage/database.ts";
import type { ForeignDatabase } from "../../../storage/foreign.ts";
import type { Vault } from "../../../storage/secrets/secrets.ts";
import type { GroupNames } from "../../../resources/import/groups.ts";
import type { Served } from "../../../resources/import/upstream-prices.ts";
import type { ImportReport } from "../../../resources/import/report.ts";

/** The dependencies of an import. */
export interface ImportContext {
  readonly kind: SourceGateway;
  readonly source: ForeignDatabase;
  /** Holds `logs` there; the same database unless logs have their own. */
  readonly logSource: ForeignDatabase;
  readonly target: Database;
  /** Holds `logs`; the main database unless logs have their own. */
  readonly logTarget: Database;
  readonly vault: Vault;
  readonly ledger: Pick<Ledger, "changeWith">;
  readonly clock: Clock;
  /** Nothing is written, everything is counted. */
  readonly isDry: boolean;
  readonly report: ImportReport;
  readonly groups: GroupNames;
  readonly prices: {
    readonly areChannelsAsked: boolean;
    /** Address of the gateway that is left. */
    readonly former: string | undefined;
  };
  /** Called after each batch of rows with the kind of row. */
  readonly progress: (what: string) => void;
  /** Names of imported rows hold it; the same in each run on one source. */
  readonly origin: string;
  /** Numbers there to numbers here. */
  readonly users: Map<number, number>;
  readonly tokens: Map<number, number>;
  readonly channels: Map<number, number>;
  /** All channels there, with their models. */
  readonly served: Served[];
  /** Channels that were made here. */
  readonly routed: number[];
}
