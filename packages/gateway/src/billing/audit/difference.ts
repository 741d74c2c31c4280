/** Two numbers that should be equal and are not. */
export interface Difference {
  readonly what:
    | "live balance" // Redis against the database
    | "live grant" // the limit of a token in Redis against its row
    | "live reservations" // what an account holds in Redis against its open reservations there
    | "balance" // the database against all ledger rows of a user
    | "reservations" // what an account holds in the database against its open reservations there
    | "ledger sum" // used_quota of a user against its ledger rows
    | "token sum" // used_quota of a token against its ledger rows
    | "channel sum" // the same of a channel
    | "deposits" // what a user's unsettled batches have taken against the deposits in the ledger
    | "requests" // request_count of a user against its settled requests in the ledger
    | "log owners" // user, token or channel of log rows against their ledger rows, by the amount that is elsewhere
    | "log rows" // quota of the log rows of a user on a channel against their ledger rows, if rows are missing
    | "log amounts"; // the same, if rows have another amount
  readonly account: string;
  readonly found: number;
  readonly expected: number;
}
