import type { DeclarativeChange, DeclarativeDocument } from "@fairway/wire";
import type { Findings, Verdict } from "./conditions.ts";
import { GRANT } from "./refusals.ts";
import { listSecretRefs, type SecretRef } from "./resources.ts";
import { READABLE_LABEL, type SecretRefusal } from "./secret-access.ts";

/** The reason why a reference to a Secret has no value; undefined if it has one. */
export type SecretFault = SecretRefusal | "no-secret" | "no-label" | "no-key" | "forbidden";

const FAULTS: Readonly<Record<SecretFault, { readonly reason: string; readonly words: (ref: SecretRef) => string }>> = {
  "no-secret": { reason: "SecretNotFound", words: ({ name }) => `there is no Secret ${name}` },
  "no-label": {
    reason: "SecretNotFound",
    words: ({ name }) =>
      `there is no Secret ${name} with the label ${READABLE_LABEL}: "true", which says that the gateway may read it`,
  },
  "no-key": { reason: "KeyNotFound", words: ({ name, key }) => `Secret ${name} has no key ${key}` },
  forbidden: {
    reason: "SecretForbidden",
    words: ({ name }) => `the gateway may not read Secret ${name}: ${GRANT}`,
  },
  unlisted: {
    reason: "SecretForbidden",
    words: ({ name }) => `the gateway does not read Secret ${name}, because gitops.secretNames does not name it`,
  },
  own: { reason: "SecretForbidden", words: ({ name }) => ownSecret(name) },
};

/** Explains that no resource may use a Secret of the installation, because its author could send the value anywhere. */
export function ownSecret(name: string): string {
  return `Secret ${name} belongs to an installation of the gateway, and no resource reads or writes it: use another Secret`;
}

/** Converts the outcome of a document to conditions. */
export function buildFindings(change: DeclarativeChange, secrets: Verdict | undefined): Findings {
  const { action, message, resource_id: resourceId, override_until: overrideUntil } = change;
  if (action === "conflict") return { synced: refused("Conflict", message), secrets };
  const synced: Verdict = overrideUntil
    ? { status: "True", reason: "Overridden", message: sentence(message) }
    : { status: "True", reason: "Applied", message: "The gateway is as the resource says." };
  return { synced, secrets, drifted: inSync, resourceId, isChanged: action !== "unchanged" };
}

const inSync: Verdict = {
  status: "False",
  reason: "InSync",
  message: "No field differs from the resource.",
};

/** Returns the condition `Drifted` for fields that differ and are not changed back. */
export function buildDriftVerdict(change: DeclarativeChange): Verdict {
  const fields = change.action === "create" ? "the whole object" : change.fields.map(({ field }) => field).join(", ");
  return {
    status: "True",
    reason: "FieldsChanged",
    message: `Differs from the resource and is left alone by the drift policy: ${fields}.`,
  };
}

/** Returns the condition `Programmed` of a resource that was not applied. */
export function refused(reason: "Invalid" | "Conflict" | "Forbidden", why: string): Verdict {
  return { status: "False", reason, message: `Not applied, the last state stays: ${endWithStop(why)}` };
}

export const PAUSED: Verdict = {
  status: "Unknown",
  reason: "Paused",
  message: "Not compared: the annotation fairway.dev/reconcile says paused. Remove it to continue.",
};

export const ALL_PAUSED: Verdict = {
  status: "Unknown",
  reason: "Paused",
  message: "Not compared: the option KubernetesPaused is on. `fairway kube gitops resume` continues.",
};

export const UNAVAILABLE: Verdict = {
  status: "Unknown",
  reason: "GatewayUnavailable",
  message: "Not applied yet: the database of the gateway failed. The last state stays, and this is tried again.",
};

/** Returns the condition `Programmed` of a deletion that waits for a confirmation. */
export function held(kind: string, count: number, total: number): Verdict {
  return {
    status: "False",
    reason: "DeletionHeld",
    message: `Not deleted yet: ${count} of ${total} resources of the kind ${kind} were deleted at once in this namespace. If that is right, annotate them with fairway.dev/confirm-deletion=true. If not, annotate them with fairway.dev/keep=true, and apply them again once the cluster has removed them: what they described stays.`,
  };
}

/** Returns the verdict about Secrets; undefined for a document that refers to none. */
export function secretsVerdict(
  document: DeclarativeDocument,
  findSecretFault: (ref: SecretRef) => SecretFault | undefined,
): Verdict | undefined {
  const refs = listSecretRefs(document);
  if (refs.length === 0) return undefined;
  const faults = refs.flatMap((ref) => {
    const fault = findSecretFault(ref);
    return fault === undefined ? [] : [{ ...ref, fault }];
  });
  const [first] = faults;
  if (!first) return { status: "True", reason: "Resolved", message: "All Secrets and their keys were found." };
  const missing = faults.map(({ fault, ...ref }) => FAULTS[fault].words(ref));
  return {
    status: "False",
    reason: FAULTS[first.fault].reason,
    message: `${sentence(missing.join("; "))} A value that the gateway has stays in use; a new channel stays off until it has a key.`,
  };
}

function sentence(text: string): string {
  const whole = endWithStop(text);
  return `${whole.charAt(0).toUpperCase()}${whole.slice(1)}`;
}

/** Leaves the first letter, which may be that of a field. */
function endWithStop(text: string): string {
  const plain = text.trim();
  return /[.!?]$/.test(plain) ? plain : `${plain}.`;
}
