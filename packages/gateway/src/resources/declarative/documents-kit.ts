import type { DeclarativeChange } from "@fairway/wire";
import type { ApiCaller } from "../../../test/kit/api-caller.ts";

/** Documents as tests write them, and their two calls. */

const apiVersion = "fairway.dev/v1alpha1";

export const channelDocument = (name: string, spec: object = {}) => ({
  apiVersion,
  kind: "Channel",
  metadata: { name },
  spec: { type: "openai", models: ["gpt-4o"], key: "sk-canary", ...spec },
});

export const optionDocument = (name: string, values: object, spec: object = {}) => ({
  apiVersion,
  kind: "OptionSet",
  metadata: { name },
  spec: { values, ...spec },
});

export const tokenDocument = (name: string, spec: object = {}) => ({
  apiVersion,
  kind: "Token",
  metadata: { name },
  spec: { owner: { username: "ann" }, ...spec },
});

export const userDocument = (name: string, spec: object = {}) => ({
  apiVersion,
  kind: "User",
  metadata: { name },
  spec,
});

export const budgetDocument = (name: string, spec: object = {}) => ({
  apiVersion,
  kind: "Budget",
  metadata: { name },
  spec: { scope: "user", subject: "ann", period: "month", limit: 1000, ...spec },
});

export function documentCalls(root: ApiCaller) {
  const send = (path: string, documents: unknown[], more: object) =>
    root.post(path, { manager: "file:test", documents, ...more });
  return {
    tryApply: (documents: unknown[], more: object = {}) => send("/api/declarative/apply", documents, more),
    plan: (documents: unknown[], more: object = {}) =>
      root.data<DeclarativeChange[]>(send("/api/declarative/plan", documents, more)),
    apply: (documents: unknown[], more: object = {}) =>
      root.data<DeclarativeChange[]>(send("/api/declarative/apply", documents, more)),
  };
}

export const listActions = (changes: DeclarativeChange[]) => changes.map(({ name, action }) => `${name}: ${action}`);
