/** Messages about what clients leave at providers: files, caches and batches. */
export const STORED_MESSAGES = {
  channel_has_batches: {
    status: 409,
    text: "{count} batches are running or unsettled at {channels}. Wait until they are settled, or delete with force: then their provider is asked to cancel them, and a person abandons them.",
  },
  channel_key_in_use: {
    status: 409,
    text: "Key {key} opens the account of {files} files or caches and {batches} running or unsettled batches. Bind them to another key of this account, wait, or remove the key with force: then their provider is asked to cancel the batches, and the files are lost.",
  },
  batch_not_found: { status: 200, text: "Batch does not exist." },
  batch_not_ready: { status: 409, text: "The batch is {phase}, and this needs one that is {needed}." },
  batch_not_cancelled: { status: 200, text: "The provider did not cancel the batch: {reason}" },
  batch_account_lost: {
    status: 409,
    text: "The channel or the key of the batch no longer exists, so its results cannot be read. Abandon the batch to return its deposit.",
  },
  batch_results_unreadable: { status: 200, text: "The results of the batch cannot be read: {reason}" },
  batch_item_not_found: { status: 200, text: "The results of the batch have no request {custom_id}." },
  stored_file_not_found: { status: 200, text: "File does not exist." },
  stored_cache_not_found: { status: 200, text: "Cache does not exist, or has ended." },
  stored_cache_not_deleted: { status: 200, text: "The provider did not delete the cache: {reason}" },
  stored_file_not_deleted: { status: 200, text: "The provider did not delete the file: {reason}" },
  account_mark_unknown: { status: 404, text: "No key of the channel has the mark {mark}." },
} as const;
