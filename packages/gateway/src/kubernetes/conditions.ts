/** Represents the state of a resource as its status. */

export interface Condition {
  readonly type: ConditionType;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
  readonly lastTransitionTime: string;
}

export type ConditionType = "Ready" | "Synced" | "SecretsResolved" | "SecretWritten" | "Drifted";

export interface Status {
  readonly observedGeneration: number;
  readonly resourceId?: number;
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
  readonly synced: Verdict;
  /** Undefined for a document without references. */
  readonly secrets?: Verdict | undefined;
  /** Undefined if no key is to be written to a Secret. */
  readonly written?: Verdict | undefined;
  /** Undefined if it was not compared. */
  readonly drifted?: Verdict | undefined;
  /** Undefined = unchanged. */
  readonly resourceId?: number | undefined;
}

/** Returns the status for the findings. The time of a condition changes only together with its status. */
export function buildStatus(before: unknown, findings: Findings, generation: number, now: string): Status {
  const old = readStatus(before);
  const verdicts: readonly (readonly [ConditionType, Verdict | undefined])[] = [
    ["Ready", buildReadyVerdict(findings)],
    ["Synced", findings.synced],
    ["SecretsResolved", findings.secrets],
    ["SecretWritten", findings.written],
    ["Drifted", findings.drifted],
  ];
  const conditions = verdicts.flatMap(([type, verdict]): Condition[] => {
    const known = old.conditions.find((one) => one.type === type);
    if (!verdict) return [];
    const since = known?.status === verdict.status ? known.lastTransitionTime : now;
    return [{ type, ...verdict, observedGeneration: generation, lastTransitionTime: since }];
  });
  const id = findings.resourceId ?? old.resourceId;
  return { observedGeneration: generation, ...(id !== undefined && id > 0 && { resourceId: id }), conditions };
}

/** Returns false if writing the status would change nothing. */
export function isNewStatus(before: unknown, after: Status): boolean {
  return JSON.stringify(readStatus(before)) !== JSON.stringify(readStatus(after));
}

/** Returns a condition in the status of a resource; undefined if it is not set or unreadable. */
export function findCondition(status: unknown, type: ConditionType): Condition | undefined {
  return readStatus(status).conditions.find((one) => one.type === type);
}

function buildReadyVerdict({ synced, secrets, written, drifted }: Findings): Verdict {
  const fault = [synced, secrets, written].find((verdict) => verdict !== undefined && verdict.status !== "True");
  if (fault) return { ...fault, status: fault.status === "Unknown" ? "Unknown" : "False" };
  if (drifted?.status === "True") return { ...drifted, status: "False" };
  return { status: "True", reason: "Ready", message: synced.message };
}

/** Reads a status with its members in the order of `buildStatus`, so that both can be compared as text. */
function readStatus(status: unknown): Status {
  const given = (status ?? {}) as Partial<Status>;
  return {
    observedGeneration: given.observedGeneration ?? 0,
    ...(given.resourceId !== undefined && { resourceId: given.resourceId }),
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
