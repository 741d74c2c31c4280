import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { idParams, queryInt, queryText } from "../core/envelope.ts";
import { pageFields } from "../core/paging.ts";

/** A file that a user stores at a provider; its content is not shown. */
export const StoredFile = z.object({
  /** The id in requests; Google's clients write `files/` before it. */
  id: z.string(),
  user_id: z.int(),
  /** The token that uploaded it; 0 = the gateway registered it. */
  token_id: z.int(),
  kind: z.string(),
  /** The protocol of the file: openai, anthropic or gemini. */
  dialect: z.string(),
  /** Id of the channel; 0 for the file's owner. */
  channel_id: z.int(),
  name: z.string(),
  mime: z.string(),
  purpose: z.string(),
  bytes: z.int(),
  /** sending, ready, failed, lost, expired or deleting. */
  state: z.string(),
  created_at: z.int(),
  /** 0 = never. */
  expires_at: z.int(),
});
export type StoredFile = z.output<typeof StoredFile>;

export const StoredFileUsage = z.object({
  files: z.int(),
  bytes: z.int(),
  /** What the user may store; 0 = none. */
  max_files: z.int(),
  max_bytes: z.int(),
});
export type StoredFileUsage = z.output<typeof StoredFileUsage>;

const own = { ...pageFields, token_id: queryInt, dialect: queryText, purpose: queryText, state: queryText };

export const fileList = endpoint({
  name: "fileList",
  method: "GET",
  path: "/api/file/",
  access: "admin",
  summary: "Lists the files that users store at providers, newest first.",
  query: z.object({ ...own, user_id: queryInt, channel_id: queryInt }),
  data: z.array(StoredFile),
});

export const fileListSelf = endpoint({
  name: "fileListSelf",
  method: "GET",
  path: "/api/file/self",
  access: "user",
  summary: "Lists the caller's stored files, newest first.",
  query: z.object(own),
  data: z.array(StoredFile),
});

export const fileUsage = endpoint({
  name: "fileUsage",
  method: "GET",
  path: "/api/file/usage",
  access: "user",
  summary: "Reads how much the caller stores and may store.",
  data: StoredFileUsage,
});

/** What is stored in one account of a channel. */
export const StoredAccount = z.object({
  /** The beginning of the keyed hash of the account's key. */
  mark: z.string(),
  /** The place of the key among those of the channel, from 0; -1 = the channel no longer has it. */
  key_index: z.int(),
  files: z.int(),
  /** Cached prompts that have not ended. */
  caches: z.int(),
  /** Batches that are not settled. */
  batches: z.int(),
  /** Requests that the answering replica serves with the key. */
  running: z.int(),
});
export type StoredAccount = z.output<typeof StoredAccount>;

export const channelObjects = endpoint({
  name: "channelObjects",
  method: "GET",
  path: "/api/channel/{id}/objects",
  access: "admin",
  summary:
    "Lists the accounts of a channel with the files, caches, batches and running requests that they have; also of keys that were removed.",
  params: idParams,
  data: z.array(StoredAccount),
  fails: ["invalid_parameter", "channel_not_found"],
});

export const channelObjectsRebind = endpoint({
  name: "channelObjectsRebind",
  method: "POST",
  path: "/api/channel/{id}/objects/rebind",
  access: "admin",
  summary: "Says that another key of the channel opens the same account: its files and batches are read with that key.",
  params: idParams,
  body: z.strictObject({ from_mark: z.string(), to_mark: z.string() }),
  data: z.object({ files: z.int(), batches: z.int() }),
  fails: ["invalid_parameter", "channel_not_found", "account_mark_unknown"],
});

export const fileDelete = endpoint({
  name: "fileDelete",
  method: "DELETE",
  path: "/api/file/{id}",
  access: "user",
  summary: "Deletes a stored file here and at its provider: an own one, or any as an administrator.",
  params: z.object({ id: z.string() }),
  fails: ["stored_file_not_found", "stored_file_not_deleted"],
});
