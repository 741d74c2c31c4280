import { KubeError } from "./client/api.ts";

const FORBIDDEN = 403;

/** The remedy if the service account lacks a permission. */
export const GRANT =
  "grant the service account the verb: gitops.enabled of the chart makes the Role, and gitops.secretNames limits the Secrets that it names";

/** True if the service account lacks a permission. */
export function isForbidden(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === FORBIDDEN;
}
