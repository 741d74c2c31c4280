import { seconds } from "../lib/clock.ts";
import { markKey } from "../snapshot/key-marks.ts";
import type { OpenAccount } from "./accounts.ts";
import { ORPHAN_AFTER_MS } from "./orphans.ts";
import type { BatchProtocol } from "./protocols/protocol.ts";
import type { CallTags } from "../relay/request/request.ts";
import type { BatchCall, BatchDeps, BatchRow } from "./types.ts";

interface NewBatch {
  readonly call: BatchCall;
  readonly protocol: BatchProtocol;
  readonly account: OpenAccount;
  readonly group: string;
  /** Absent = the path of the vendor's batches. */
  readonly endpoint?: string | undefined;
  /** What the batch is for. */
  readonly tags: CallTags | undefined;
}

/** Returns the row of a batch that is about to be created, without its items. */
export function buildNewRow(
  { call, protocol, account, group, endpoint, tags }: NewBatch,
  { clock, hashKey }: Pick<BatchDeps, "clock" | "hashKey">,
): BatchRow {
  return {
    ...EMPTY_ROW,
    id: protocol.createId(clock.now()),
    dialect: protocol.id,
    user_id: call.caller.userId,
    token_id: call.caller.tokenId,
    group,
    channel_id: account.channel.id,
    key_mark: markKey(account.key, hashKey),
    request_id: call.requestId,
    endpoint: endpoint ?? account.support.path,
    tags: tags?.text ?? "",
    end_user: tags?.endUser ?? "",
    phase: "creating",
    created_at: seconds(clock),
    next_poll_at: clock.now() + ORPHAN_AFTER_MS,
  };
}

const EMPTY_ROW = {
  upstream_id: "",
  models: "{}",
  input_file_id: "",
  output_file_id: "",
  error_file_id: "",
  wire: "{}",
  total: 0,
  succeeded: 0,
  failed: 0,
  expired: 0,
  cancelled: 0,
  deposit: 0,
  charged: 0,
  saved: 0,
  terms: "{}",
  metadata: "{}",
  idempotency_key: null,
  body_hash: "",
  error: "",
  expires_at: 0,
  ended_at: 0,
  settled_at: 0,
  deleted_at: 0,
  polled_at: 0,
  polls: 0,
  failures: 0,
  revision: 1,
} as const;
