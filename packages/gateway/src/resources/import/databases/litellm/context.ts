import type { TagLimits } from "@fairway/wire";
import type { Ledger } from "../../../../billing/ledger/ledger.ts";
import type { Clock } from "../../../../lib/clock.ts";
import type { Database } from "../../../../storage/database.ts";
import type { ForeignDatabase, ForeignRow } from "../../../../storage/foreign.ts";
import type { Vault } from "../../../ports.ts";
import type { GroupNames } from "../../groups.ts";
import type { ImportReport } from "../../report.ts";

/** A tag there is one word; here it is the value of this key. */
export const TAG_KEY = "tag";

export interface LitellmDatabase {
  readonly source: ForeignDatabase;
  readonly target: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  /** A dry run also writes everything, in a transaction that is rolled back. */
  readonly isDry: boolean;
  /** US dollars that an account without a budget starts with, because a wallet here always has a limit. */
  readonly credit: number;
  readonly report: ImportReport;
  readonly groups: GroupNames;
  /** Called with a kind of row and the number of imported rows. */
  readonly onProgress: (what: string, done: number) => void;
}

export interface DatabaseImport extends Omit<LitellmDatabase, "isDry"> {
  readonly ledger: Pick<Ledger, "changeWith">;
  /** Budgets that several rows share, by id. */
  readonly budgets: ReadonlyMap<string, ForeignRow>;
  /** Models that the channels of this gateway serve. */
  readonly models: readonly string[];
  /** Rows about members of teams, by the id of the team. */
  readonly memberships: ReadonlyMap<string, readonly ForeignRow[]>;
  /** Names of organizations and projects, by id. */
  readonly organizations: ReadonlyMap<string, string>;
  readonly projects: ReadonlyMap<string, string>;
  /** The limits that refuse end users whom the source blocks. */
  readonly blocked: TagLimits;
}
