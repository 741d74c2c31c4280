import { expect, test } from "vitest";
import { listServices, returnFrom } from "./services.ts";

const sign_in = [
  { slug: "oidc", name: "OpenID Connect", kind: "oidc" as const },
  { slug: "acme", name: "Acme", kind: "oidc" as const },
];

test("identity providers of companies are services behind the others", () => {
  const labels = listServices({ sign_in }).map(({ label }) => label);
  expect(labels).toEqual(["GitHub", "LINUX DO", "OpenID Connect", "Acme"]);
  expect(listServices({})).toHaveLength(3);
});

test("a provider that the status names may send people back, any other name may not", () => {
  expect(returnFrom("acme", { sign_in })).toMatchObject({ label: "Acme" });
  expect(returnFrom("other", { sign_in })).toBeUndefined();
  expect(returnFrom("acme", {})).toBeUndefined();
});
