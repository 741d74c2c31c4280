import type { IncomingMessage, ServerResponse } from "node:http";
import type { Authenticator, Caller } from "../identity/authentication/caller.ts";
import type { BodyMemory } from "../limits/body-memory.ts";
import type { ObjectDialect } from "../providers/core/types.ts";
import type { CallLimit } from "../relay/admission/call-limit.ts";
import type { RunningRequests } from "../relay/reservation/running.ts";
import type { SelectionDeps } from "../relay/selection/types.ts";
import type { Vault } from "../storage/secrets/secrets.ts";
import type { PrepareFile } from "./file-content.ts";
import type { LibraryDeps, ObjectLibrary } from "./library.ts";
import type { SpoolRoom } from "./spool-room.ts";

/** Everything that the routes of files need from the program. */
export interface ObjectDeps extends LibraryDeps {
  readonly library: ObjectLibrary;
  readonly authenticator: Authenticator;
  readonly calls: CallLimit;
  readonly running: Pick<RunningRequests, "add" | "remove">;
  readonly selection: SelectionDeps;
  readonly vault: Pick<Vault, "seal" | "open">;
  readonly room: SpoolRoom;
  readonly memory: BodyMemory;
  readonly maxFileBytes: number;
  /** Public address that the operator set, without a trailing slash; undefined if none is set. */
  readonly publicUrl: () => string | undefined;
  /** Reads and rewrites a file of requests before it is sent, by the purpose of the upload. */
  readonly prepare: PrepareFile;
  readonly uploaded: (sample: UploadSample) => void;
}

export interface UploadSample {
  readonly dialect: ObjectDialect;
  readonly way: "stream" | "spool";
  readonly bytes: number;
}

/** A call of a route of files. */
export interface ObjectCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly dialect: ObjectDialect;
  readonly requestId: string;
  readonly caller: Caller;
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
}

/** A client that sends nothing for this long while its upload is read has given up. */
export const IDLE_MS = 60_000;

/**
 * Returns the address under which this client reaches the gateway; undefined if nothing reliable says so. A `Host`
 * header is no proof: its sender would choose where another program sends its key.
 */
export function findPublicUrl(
  { request: { socket } }: Pick<ObjectCall, "request">,
  { publicUrl }: ObjectDeps,
): string | undefined {
  const known = publicUrl();
  if (known !== undefined) return known;
  const isLoopback = /^(?:::ffff:)?127\.|^::1$/.test(socket.remoteAddress ?? "");
  return isLoopback ? `http://127.0.0.1:${socket.localPort}` : undefined;
}

export function sendJson(response: ServerResponse, value: unknown): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
  response.end(body);
}
