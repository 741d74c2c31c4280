import type { ServerResponse } from "node:http";
import { AppError } from "../lib/app-error.ts";
import { keepRunning, type RunningRequest } from "../relay/reservation/running.ts";
import type { ObjectDeps } from "./object-call.ts";

/** Does the work of a call; a draining process waits for uploads and downloads, and ends those that last too long. */
export function whileRunning(
  { response }: { readonly response: ServerResponse },
  { running }: Pick<ObjectDeps, "running">,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const abort = new AbortController();
  response.once("close", () => abort.abort(new AppError("client_closed_request")));
  const handle: RunningRequest = {
    isStream: true,
    renew: () => Promise.resolve(),
    stop: (error) => abort.abort(error),
  };
  return keepRunning(running, handle, () => work(abort.signal));
}
