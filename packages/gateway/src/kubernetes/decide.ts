import type { DeclarativeDocument } from "@fairway/wire";
import { ANNOTATION, findAnnotation, parseDocument, hasFinalizer, isDeleting, type Resource } from "./resources.ts";

/** The next step for a resource. */
export type Decision =
  | { readonly act: "nothing" | "delete" | "pause" }
  | { readonly act: "refuse"; readonly reason: string }
  | {
      readonly act: "apply";
      readonly document: DeclarativeDocument;
      /** True if the resource takes over objects of another manager. */
      readonly isForced: boolean;
      /** True if the finalizer must be added before the first effect, so that no deletion is missed. */
      readonly needsFinalizer: boolean;
    };

/** Decides from the resource alone; the planner compares it with the gateway. */
export function decide(resource: Resource, hasFinalizers: boolean): Decision {
  if (isDeleting(resource)) return { act: hasFinalizer(resource) ? "delete" : "nothing" };
  if (findAnnotation(resource, ANNOTATION.reconcile) === "paused") return { act: "pause" };
  const { document, reason } = parseDocument(resource);
  if (!document) return { act: "refuse", reason };
  return {
    act: "apply",
    document,
    isForced: findAnnotation(resource, ANNOTATION.adopt) === "true",
    needsFinalizer: hasFinalizers && !hasFinalizer(resource),
  };
}
