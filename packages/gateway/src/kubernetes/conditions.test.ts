import { describe, expect, test } from "vitest";
import { isNewStatus, buildStatus, type Findings } from "./conditions.ts";

const applied: Findings = { synced: { status: "True", reason: "Applied", message: "As it says." }, resourceId: 7 };
const broken: Findings = { synced: { status: "False", reason: "Invalid", message: "Not applied." } };
const [FIRST, LATER] = ["2030-01-01T00:00:00Z", "2030-01-01T00:05:00Z"];

describe("the status of a resource", () => {
  test("names the generation that each condition is about", () => {
    const status = buildStatus(undefined, applied, 3, FIRST);
    expect(status).toMatchObject({ observedGeneration: 3, resourceId: 7 });
    expect(
      status.conditions.map(({ type, status: value, observedGeneration }) => [type, value, observedGeneration]),
    ).toEqual([
      ["Ready", "True", 3],
      ["Accepted", "True", 3],
      ["Programmed", "True", 3],
    ]);
  });

  test("changes the time of a condition with its status alone", () => {
    const first = buildStatus(undefined, applied, 1, FIRST);
    const same = buildStatus(first, { ...applied, synced: { ...applied.synced, message: "Other words." } }, 2, LATER);
    expect(same.conditions.map(({ lastTransitionTime }) => lastTransitionTime)).toEqual([FIRST, FIRST, FIRST]);
    const other = buildStatus(same, broken, 3, LATER);
    expect(other.conditions.map(({ lastTransitionTime }) => lastTransitionTime)).toEqual([LATER, LATER, LATER]);
    expect(other.resourceId).toBe(7);
  });

  test("is not written again when nothing changed, whatever the order of its members", () => {
    const status = buildStatus(undefined, applied, 1, FIRST);
    const reordered = JSON.parse(
      JSON.stringify({
        conditions: status.conditions.map((one) => Object.fromEntries(Object.entries(one).toReversed())),
        state: "Ready",
        resourceId: 7,
        observedGeneration: 1,
      }),
    ) as unknown;
    expect(isNewStatus(reordered, buildStatus(reordered, applied, 1, LATER))).toBe(false);
    expect(isNewStatus(reordered, buildStatus(reordered, applied, 2, LATER))).toBe(true);
  });

  test("is ready only when the document is applied, its Secrets are there and nothing drifted", () => {
    const ready = (more: Partial<Findings>) => buildStatus(undefined, { ...applied, ...more }, 1, FIRST).conditions[0];
    const missing = { status: "False", reason: "SecretNotFound", message: "There is no Secret openai." } as const;
    expect(ready({ secrets: missing })).toMatchObject({ type: "Ready", ...missing });
    const drifted = { status: "True", reason: "FieldsChanged", message: "Differs." } as const;
    expect(ready({ drifted })).toMatchObject({ status: "False", reason: "FieldsChanged" });
    expect(ready({ drifted: { status: "False", reason: "InSync", message: "Same." } })).toMatchObject({
      status: "True",
    });
  });
});
