import { AppError } from "../../lib/app-error.ts";
import type { KeptResponse, KeptResponses } from "./response-store.ts";
import type { ResponseOwner, ResponseOwners } from "./owners.ts";

export interface Whereabouts {
  readonly kept: Pick<KeptResponses, "find">;
  readonly owners: Pick<ResponseOwners, "find">;
}

/** Here, or at an upstream's account. */
export type Place =
  | { readonly kept: KeptResponse; readonly owner?: undefined }
  | { readonly owner: ResponseOwner; readonly kept?: undefined };

/** Throws `response_not_found` for what is unknown or somebody else's, `responses_unavailable` when nobody can tell. */
export async function whereIs(id: string, userId: number, { kept, owners }: Whereabouts): Promise<Place> {
  const found = await kept.find(id, userId).catch((error: unknown) => AppError.from(error));
  if (found && !(found instanceof AppError)) return { kept: found };
  const owner = await owners.find(id, userId);
  if (owner) return { owner };
  throw found ?? notFound(id);
}

export function notFound(id: string): AppError {
  return new AppError("response_not_found", { values: { id: id.slice(0, 100) } });
}
