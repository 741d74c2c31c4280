import { describe, expect, test } from "vitest";
import { decide } from "./decide.ts";
import { ANNOTATION, FINALIZER, type Resource } from "./resources.ts";

const resource = (metadata: object = {}, spec: object = {}, kind: Resource["kind"] = "Channel"): Resource => ({
  kind,
  namespace: "ai",
  name: "main",
  object: { metadata: { name: "main", generation: 1, ...metadata }, spec: { type: "openai", ...spec } },
});
const RULES = { hasFinalizers: true, tokenOwners: { ai: ["ann"] } };
const decideReason = (one: Resource) => {
  const decision = decide(one, RULES);
  return decision.act === "refuse" ? decision.reason : decision.act;
};

describe("what to do about a resource", () => {
  test("applies it, with the finalizer first", () => {
    expect(decide(resource(), RULES)).toMatchObject({ act: "apply", needsFinalizer: true, isForced: false });
    expect(decide(resource({ finalizers: [FINALIZER] }), RULES)).toMatchObject({ needsFinalizer: false });
    expect(decide(resource(), { ...RULES, hasFinalizers: false })).toMatchObject({ needsFinalizer: false });
  });

  test("deletes one with a deletion time while it has the finalizer", () => {
    const deletionTimestamp = "2030-01-01T00:00:00Z";
    expect(decide(resource({ deletionTimestamp, finalizers: [FINALIZER] }), RULES).act).toBe("delete");
    expect(decide(resource({ deletionTimestamp, finalizers: ["other"] }), RULES).act).toBe("nothing");
  });

  test("leaves a paused one alone, but not its deletion", () => {
    const annotations = { [ANNOTATION.reconcile]: "paused" };
    expect(decide(resource({ annotations }), RULES).act).toBe("pause");
    const deletion = { annotations, deletionTimestamp: "2030-01-01T00:00:00Z", finalizers: [FINALIZER] };
    expect(decide(resource(deletion), RULES).act).toBe("delete");
  });

  test("takes over from another manager only with the annotation", () => {
    expect(decide(resource({ annotations: { [ANNOTATION.adopt]: "true" } }), RULES)).toMatchObject({ isForced: true });
  });

  test("refuses a token whose key the namespace may not obtain, and takes one whose key is not written", () => {
    const token = (username: string, rest: object) => ({
      ...resource({}, {}, "Token"),
      object: { metadata: { name: "main" }, spec: { owner: { username }, ...rest } },
    });
    const written = { writeSecretTo: { name: "key" } };
    expect(decide(token("root", written), RULES)).toMatchObject({ act: "refuse", cause: "Forbidden" });
    expect(decide({ ...token("ann", written), namespace: "other" }, RULES)).toMatchObject({ act: "refuse" });
    expect(decide({ ...token("ann", written), namespace: "constructor" }, RULES)).toMatchObject({ act: "refuse" });
    expect(decide(token("ANN", written), RULES)).toMatchObject({ act: "apply" });
    expect(decide(token("root", {}), RULES)).toMatchObject({ act: "apply" });
    expect(decide(token("root", written), { ...RULES, tokenOwners: { ai: ["*"] } })).toMatchObject({ act: "apply" });
  });

  test("tells teams from users of the same name when it judges whose key may be obtained", () => {
    const token = (owner: object) => ({
      ...resource({}, {}, "Token"),
      object: { metadata: { name: "main" }, spec: { owner, writeSecretTo: { name: "key" } } },
    });
    const may = (owner: object, ...names: readonly string[]) =>
      decide(token(owner), { ...RULES, tokenOwners: { ai: names } }).act === "apply";
    const [team, user] = [{ team: "research" }, { username: "research" }];
    expect([may(team, "team:research"), may(team, "team:*"), may(user, "research"), may(user, "*")]).toEqual(
      Array.from({ length: 4 }, () => true),
    );
    expect([may(team, "research"), may(team, "*"), may(team, "team:other"), may(team)]).toEqual(
      Array.from({ length: 4 }, () => false),
    );
    expect([may(user, "team:research"), may(user, "team:*"), may({ username: "team:research" }, "team:*")]).toEqual(
      Array.from({ length: 3 }, () => false),
    );
    expect(may({ username: "team:research" }, "team:research")).toBe(false);
    for (const owner of [{}, { ...team, ...user }, { team: "My Team" }])
      expect(decide(token(owner), RULES)).toMatchObject({ act: "refuse", cause: "Invalid" });
  });

  test.each([
    [{ key: "sk-in-git" }, "spec.key is not for clusters"],
    [{ credentialsFrom: { env: "OPENAI" } }, "files and variables of the gateway are not for clusters"],
    [{ credentialsFrom: { file: "openai/key" } }, "files and variables of the gateway are not for clusters"],
    [{ priority: -1000 }, "spec.priority"],
    [{ colour: "red" }, "spec"],
  ])("refuses %j with a reason that repeats no secret", (spec, reason) => {
    expect(decideReason(resource({}, spec))).toContain(reason);
    expect(decideReason(resource({}, spec))).not.toContain("sk-in-git");
  });
});
