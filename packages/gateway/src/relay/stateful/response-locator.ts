import { AppError } from "../../lib/app-error.ts";
import type { StoredResponse, ResponseStore } from "./response-store.ts";
import type { ResponseOwner, ResponseOwners } from "./owners.ts";

export interface ResponseLocatorDeps {
  readonly responseStore: Pick<ResponseStore, "find">;
  readonly owners: Pick<ResponseOwners, "find">;
}

/** In this gateway's store, or at an upstream's account. */
export type ResponseLocation =
  | { readonly stored: StoredResponse; readonly owner?: undefined }
  | { readonly owner: ResponseOwner; readonly stored?: undefined };

/**
 * Throws `response_not_found` for an unknown response or another user's, `responses_unavailable` if the store fails.
 */
export async function locateResponse(
  id: string,
  userId: number,
  { responseStore, owners }: ResponseLocatorDeps,
): Promise<ResponseLocation> {
  const found = await responseStore.find(id, userId).catch((error: unknown) => AppError.from(error));
  if (found && !(found instanceof AppError)) return { stored: found };
  const owner = await owners.find(id, userId);
  if (owner) return { owner };
  throw found ?? notFound(id);
}

/** Returns a 404 `response_not_found`; the same for an unknown id and for another user's. */
export function notFound(id: string): AppError {
  return new AppError("response_not_found", { values: { id: id.slice(0, 100) } });
}
