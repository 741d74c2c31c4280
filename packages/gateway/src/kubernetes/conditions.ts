/** The state of a resource in the form of its status. */

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
  /** A sentence; never empty, which some API servers refuse. */
  readonly message: string;
}

export interface Findings {
  readonly synced: Verdict;
  /** Undefined for a document without references. */
  readonly secrets?: Verdict | undefined;
  /** Undefined where no key is to be written into a Secret. */
  readonly written?: Verdict | undefined;
  /** Undefined where it was not compared. */
  readonly drifted?: Verdict | undefined;
  /** Undefined = as it was. */
  readonly resourceId?: number | undefined;
}

/** The status that says so. A condition changes its time only with its status. */
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

/** False when writing the status would change nothing. */
export function isNewStatus(before: unknown, after: Status): boolean {
  return JSON.stringify(readStatus(before)) !== JSON.stringify(readStatus(after));
}

/** A condition in the status of a resource; undefined when it is not set or unreadable. */
export function findCondition(status: unknown, type: ConditionType): Condition | undefined {
  return readStatus(status).conditions.find((one) => one.type === type);
}

function buildReadyVerdict({ synced, secrets, written, drifted }: Findings): Verdict {
  const fault = [synced, secrets, written].find((verdict) => verdict !== undefined && verdict.status !== "True");
  if (fault) return { ...fault, status: fault.status === "Unknown" ? "Unknown" : "False" };
  if (drifted?.status === "True") return { ...drifted, status: "False" };
  return { status: "True", reason: "Ready", message: synced.message };
}

/** In the order of members that `buildStatus` writes, so that both can be compared as text. */
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
