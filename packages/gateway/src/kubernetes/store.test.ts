import { expect, test } from "vitest";
import { ANNOTATION, FINALIZER } from "./resources.ts";
import { ResourceStore } from "./store.ts";

const place = { kind: "Channel", namespace: "ai", name: "main" } as const;
const copy = "kubectl.kubernetes.io/last-applied-configuration";

test("holds of a resource what a reconcile reads, and no copies of it", () => {
  const store = new ResourceStore();
  const read = {
    name: "main",
    namespace: "ai",
    uid: "1",
    resourceVersion: "7",
    generation: 2,
    deletionTimestamp: "2030-01-01T00:00:00Z",
    finalizers: [FINALIZER],
  };
  const annotations = { [ANNOTATION.confirm]: "true" };
  const copies = { annotations: { ...annotations, [copy]: "{}" }, managedFields: [{ manager: "kubectl" }] };
  const [spec, status] = [{ type: "openai", models: ["m"] }, { conditions: [] }];
  expect(store.set(place, { kind: "Channel", metadata: { ...read, ...copies }, spec, status })).toBe(true);
  expect(store.get("Channel/ai/main")?.object).toEqual({ metadata: { ...read, annotations }, spec, status });
});

test("tells a change that matters from one of the status or of other annotations", () => {
  const store = new ResourceStore();
  const object = (metadata: object, status: object = {}) => ({
    metadata: { name: "main", uid: "1", generation: 1, ...metadata },
    spec: { type: "openai", models: ["m"] },
    status,
  });
  expect(store.set(place, object({}))).toBe(true);
  expect(store.set(place, object({ resourceVersion: "2" }, { conditions: [] }))).toBe(false);
  expect(store.get("Channel/ai/main")?.object.status).toEqual({ conditions: [] });
  expect(store.set(place, object({ annotations: { [copy]: "{}" } }))).toBe(false);
  expect(store.set(place, object({ annotations: { [ANNOTATION.reconcile]: "paused" } }))).toBe(true);
  expect(store.set(place, object({ generation: 2 }))).toBe(true);
  expect(store.set(place, undefined)).toBe(true);
  expect(store.set(place, undefined)).toBe(false);
});
