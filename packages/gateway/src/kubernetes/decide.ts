import type { DeclarativeDocument } from "@fairway/wire";
import { ANNOTATION, findAnnotation, parseDocument, hasFinalizer, isDeleting, type Resource } from "./resources.ts";
import { findOwnerRefusal, type TokenOwners } from "./token-owners.ts";

/** The next step for a resource. */
export type Decision =
  | { readonly act: "nothing" | "delete" | "pause" }
  | { readonly act: "refuse"; readonly cause: "Invalid" | "Forbidden"; readonly reason: string }
  | {
      readonly act: "apply";
      readonly document: DeclarativeDocument;
      /** True if the resource takes over objects of another manager. */
      readonly isForced: boolean;
      /** True if the finalizer must be added before the first effect, so that no deletion is missed. */
      readonly needsFinalizer: boolean;
    };

export interface DecisionRules {
  readonly hasFinalizers: boolean;
  readonly tokenOwners: TokenOwners;
}

/** Decides from the resource and the settings alone; the planner compares it with the gateway. */
export function decide(resource: Resource, { hasFinalizers, tokenOwners }: DecisionRules): Decision {
  if (isDeleting(resource)) return { act: hasFinalizer(resource) ? "delete" : "nothing" };
  if (findAnnotation(resource, ANNOTATION.reconcile) === "paused") return { act: "pause" };
  const { document, reason } = parseDocument(resource);
  if (!document) return { act: "refuse", cause: "Invalid", reason };
  const refusal = findOwnerRefusal(tokenOwners, resource.namespace, document);
  if (refusal !== undefined) return { act: "refuse", cause: "Forbidden", reason: refusal };
  return {
    act: "apply",
    document,
    isForced: findAnnotation(resource, ANNOTATION.adopt) === "true",
    needsFinalizer: hasFinalizers && !hasFinalizer(resource),
  };
}
