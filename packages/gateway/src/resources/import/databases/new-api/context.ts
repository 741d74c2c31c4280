import type { SourceGateway } from "@fairway/wire";
import type { Ledger } from "../../../../billing/ledger/ledger.ts";
import type { Clock } from "../../../../lib/clock.ts";
import type { Network } from "../../../../lib/net/network.ts";
import type { Database } from "../../../../storage/database.ts";
import type { ForeignDatabase } from "../../../../storage/foreign.ts";
import type { Vault } from "../../../ports.ts";
import type { GroupNames } from "../../groups.ts";
import type { ModelCost } from "../../prices.ts";
import type { Served } from "../../upstream-prices.ts";
import type { ImportReport } from "../../report.ts";

/** What its calls leave open. */
interface ServerSource {
  /** Accounts here that stand for accounts there: the super administrators, of whom each gateway has its own. */
  readonly adopted: ReadonlyMap<number, number>;
}

/** The dependencies of an import. */
export interface ImportContext {
  readonly kind: SourceGateway;
  readonly source: ForeignDatabase;
  /** The source database of `logs`; the same one unless logs have their own. */
  readonly logSource: ForeignDatabase;
  readonly target: Database;
  /** The target database of `logs`; the main database unless logs have their own. */
  readonly logTarget: Database;
  readonly vault: Vault;
  readonly ledger: Pick<Ledger, "changeWith">;
  readonly clock: Clock;
  /** If true, everything is counted but nothing is written. */
  readonly isDry: boolean;
  readonly report: ImportReport;
  readonly groups: GroupNames;
  readonly prices: {
    readonly areChannelsAsked: boolean;
    /** Address of the gateway that is being replaced. */
    readonly former: string | undefined;
    readonly network: Network;
    /** Prices that the gateway publishes, read beforehand. */
    readonly published?: ReadonlyMap<string, ModelCost>;
  };
  /** Set if the source is a running gateway, which shows only a part of its rows. */
  readonly server?: ServerSource;
  /** Called after each batch of rows with the kind of row. */
  readonly progress: (what: string) => void;
  /** Part of the names of imported rows; the same in each run on one source. */
  readonly origin: string;
  /** Ids here, by ids in the source. */
  readonly users: Map<number, number>;
  readonly tokens: Map<number, number>;
  readonly channels: Map<number, number>;
  /** All channels of the source, with their models. */
  readonly served: Served[];
  /** Channels that were created here. */
  readonly routed: number[];
}
