import { KubeError } from "./client/api.ts";

const FORBIDDEN = 403;

/** What to do where the service account lacks a right. */
export const GRANT =
  "grant the service account the verb: gitops.enabled of the chart makes the Role, and gitops.secretNames limits the Secrets that it names";

/** The service account lacks a right. */
export function isForbidden(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === FORBIDDEN;
}
