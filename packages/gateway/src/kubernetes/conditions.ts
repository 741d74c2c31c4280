/** Represents the state of a resource as its status. */

export interface Condition {
  readonly type: ConditionType;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
  readonly lastTransitionTime: string;
}

export type ConditionType =
  | "Ready"
  | "Accepted"
  | "Programmed"
  | "SecretsResolved"
  | "SecretWritten"
  | "GroupsResolved"
  | "Drifted";

export interface Status {
  readonly observedGeneration: number;
  /** The gateway that has the resource. */
  readonly gateway?: string;
  readonly resourceId?: number;
  /** What the gateway does with the resource now, in one word. */
  readonly state?: string;
  readonly conditions: readonly Condition[];
}

/** One finding about a resource. */
export interface Verdict {
  readonly status: Condition["status"];
  readonly reason: string;
  /** A sentence; never empty, because some API servers refuse an empty message. */
  readonly message: string;
}

export interface Findings {
  /** Whether the gateway is as the resource says. */
  readonly synced: Verdict;
  /** Undefined for a document without references. */
  readonly secrets?: Verdict | undefined;
  /** Undefined if no key is to be written to a Secret. */
  readonly written?: Verdict | undefined;
  /** Undefined for a resource that names no groups. */
  readonly groups?: Verdict | undefined;
  /** Undefined if it was not compared. */
  readonly drifted?: Verdict | undefined;
  /** Whether the object takes calls now; undefined for kinds that take none. */
  readonly serving?: Verdict | undefined;
  /** True if this comparison changed the object. */
  readonly isChanged?: boolean;
  /** Undefined = unchanged. */
  readonly gateway?: string | undefined;
  /** Undefined = unchanged. */
  readonly resourceId?: number | undefined;
}

/** Returns the status for the findings. The time of a condition changes only together with its status. */
export function buildStatus(before: unknown, findings: Findings, generation: number, now: string): Status {
  const old = readStatus(before);
  const ready = buildReadyVerdict(findings);
  const verdicts: readonly (readonly [ConditionType, Verdict | undefined])[] = [
    ["Ready", ready],
    ["Accepted", buildAcceptedVerdict(findings)],
    ["Programmed", findings.synced],
    ["SecretsResolved", findings.secrets],
    ["SecretWritten", findings.written],
    ["GroupsResolved", findings.groups],
    ["Drifted", findings.drifted],
  ];
  const conditions = verdicts.flatMap(([type, verdict]): Condition[] => {
    const known = old.conditions.find((one) => one.type === type);
    if (!verdict) return [];
    const since = known?.status === verdict.status ? known.lastTransitionTime : now;
    return [{ type, ...verdict, observedGeneration: generation, lastTransitionTime: since }];
  });
  const id = findings.resourceId ?? old.resourceId;
  const state = findings.serving?.reason ?? ready.reason;
  const gateway = findings.gateway ?? old.gateway;
  return {
    observedGeneration: generation,
    ...(gateway !== undefined && { gateway }),
    ...(id !== undefined && id > 0 && { resourceId: id }),
    state,
    conditions,
  };
}

/** Returns false if writing the status would change nothing. */
export function isNewStatus(before: unknown, after: Status): boolean {
  return JSON.stringify(readStatus(before)) !== JSON.stringify(readStatus(after));
}

/** Returns a condition in the status of a resource; undefined if it is not set or unreadable. */
export function findCondition(status: unknown, type: ConditionType): Condition | undefined {
  return readStatus(status).conditions.find((one) => one.type === type);
}

/** Returns the number of the gateway's row in the status of a resource. */
export function readResourceId(status: unknown): number | undefined {
  return readStatus(status).resourceId;
}

/** Returns the gateway that has the resource; undefined before the first one took it. */
export function readGateway(status: unknown): string | undefined {
  return readStatus(status).gateway;
}

/** Reasons of a document that the gateway does not take. */
const UNACCEPTED: ReadonlySet<string> = new Set(["Invalid", "Conflict", "Forbidden"]);
const ACCEPTED: Verdict = { status: "True", reason: "Accepted", message: "The gateway takes the resource." };

/** Kubernetes' `Accepted`: the resource is valid and ours, which says nothing about its effect. */
function buildAcceptedVerdict({ synced }: Findings): Verdict {
  if (synced.status === "Unknown") return synced;
  return UNACCEPTED.has(synced.reason) ? synced : ACCEPTED;
}

/** Returns whether the resource has its effect now: everything it names is there, and its object takes calls. */
function buildReadyVerdict({ synced, secrets, written, groups, drifted, serving }: Findings): Verdict {
  const fault = [synced, secrets, written, groups].find(
    (verdict) => verdict !== undefined && verdict.status !== "True",
  );
  if (fault) return { ...fault, status: fault.status === "Unknown" ? "Unknown" : "False" };
  if (drifted?.status === "True") return { ...drifted, status: "False" };
  if (serving && serving.status !== "True") return serving;
  return { status: "True", reason: "Ready", message: synced.message };
}

/** Reads a status with its members in the order of `buildStatus`, so that both can be compared as text. */
function readStatus(status: unknown): Status {
  const given = (status ?? {}) as Partial<Status>;
  return {
    observedGeneration: given.observedGeneration ?? 0,
    ...(given.gateway !== undefined && { gateway: given.gateway }),
    ...(given.resourceId !== undefined && { resourceId: given.resourceId }),
    ...(given.state !== undefined && { state: given.state }),
    conditions: (given.conditions ?? []).map((one) => ({
      type: one.type,
      status: one.status,
      reason: one.reason,
      message: one.message,
      observedGeneration: one.observedGeneration,
      lastTransitionTime: one.lastTransitionTime,
    })),
  };
}
